#pragma once

#include <charconv>
#include <string>

namespace stiction {

/// Shortest text that reads back as x, for messages; std::to_string shows -1e-9 as -0.000000.
inline std::string number_text(double x) {
  char text[32];
  return std::string(text, std::to_chars(text, text + sizeof text, x).ptr);
}

}  // namespace stiction
