#pragma once

#include <cstddef>
#include <string>

namespace stiction {

/// Length of the well-formed UTF-8 sequence at `at` (no overlong forms, no surrogates); 0: none.
inline std::size_t utf8_sequence(const std::string& text, std::size_t at) {
  const auto byte = [&](std::size_t i) {
    return at + i < text.size() ? static_cast<unsigned char>(text[at + i]) : 0u;
  };
  const auto continues = [&](std::size_t i) { return (byte(i) & 0xC0u) == 0x80u; };
  const unsigned first = byte(0), second = byte(1);
  if (first < 0x80) return 1;
  if (first >= 0xC2 && first <= 0xDF) return continues(1) ? 2 : 0;
  if (first >= 0xE0 && first <= 0xEF) {
    const bool overlong = first == 0xE0 && second < 0xA0,
               surrogate = first == 0xED && second > 0x9F;
    return !overlong && !surrogate && continues(1) && continues(2) ? 3 : 0;
  }
  if (first >= 0xF0 && first <= 0xF4) {
    const bool overlong = first == 0xF0 && second < 0x90, above = first == 0xF4 && second > 0x8F;
    return !overlong && !above && continues(1) && continues(2) && continues(3) ? 4 : 0;
  }
  return 0;
}

/// Place of the first byte that is not UTF-8; the length of the text: none.
inline std::size_t utf8_end(const std::string& text) {
  std::size_t at = 0;
  while (at < text.size()) {
    const std::size_t length = utf8_sequence(text, at);
    if (length == 0) break;
    at += length;
  }
  return at;
}

}  // namespace stiction
