#include "model/xml_encoding.hpp"

#include "model/utf8.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <cstdint>
#include <cstdio>

namespace stiction {
namespace {

/// Windows-1252 from 0x80 on, where it is not ISO-8859-1; 0: not assigned.
constexpr std::array<std::uint16_t, 32> kWindows = {
    0x20AC, 0,      0x201A, 0x0192, 0x201E, 0x2026, 0x2020, 0x2021, 0x02C6, 0x2030, 0x0160,
    0x2039, 0x0152, 0,      0x017D, 0,      0,      0x2018, 0x2019, 0x201C, 0x201D, 0x2022,
    0x2013, 0x2014, 0x02DC, 0x2122, 0x0161, 0x203A, 0x0153, 0,      0x017E, 0x0178};

int line_of(const std::string& text, std::size_t at) {
  return 1 + static_cast<int>(std::count(text.begin(), text.begin() + static_cast<long>(at), '\n'));
}

[[noreturn]] void fail(const std::string& text, std::size_t at, const std::string& declared) {
  char byte[8];
  std::snprintf(byte, sizeof byte, "0x%02X", static_cast<unsigned char>(text[at]));
  throw EncodingError{line_of(text, at),
                      std::string("byte ") + byte + " is not " + declared +
                          "; declare the file's encoding in its first line, for instance "
                          "<?xml version=\"1.0\" encoding=\"ISO-8859-1\"?>"};
}

/// encoding="..." of the prolog in lower case; empty if there is none.
std::string declared_encoding(const std::string& text) {
  if (!text.starts_with("<?xml")) return "";
  const std::string prolog = text.substr(0, std::min(text.find("?>"), std::size_t{400}));
  const std::size_t key = prolog.find("encoding");
  const std::size_t open = key == std::string::npos ? key : prolog.find_first_of("'\"", key);
  if (open == std::string::npos) return "";
  const std::size_t close = prolog.find(prolog[open], open + 1);
  std::string name = prolog.substr(open + 1, close - open - 1);
  std::transform(name.begin(), name.end(), name.begin(), [](unsigned char c) {
    return static_cast<char>(std::tolower(c));
  });
  return name;
}

void append(std::string& out, unsigned code) {
  if (code < 0x80) {
    out += static_cast<char>(code);
  } else if (code < 0x800) {
    out += {static_cast<char>(0xC0 | code >> 6), static_cast<char>(0x80 | (code & 0x3F))};
  } else {
    out += {static_cast<char>(0xE0 | code >> 12),
            static_cast<char>(0x80 | (code >> 6 & 0x3F)),
            static_cast<char>(0x80 | (code & 0x3F))};
  }
}

}  // namespace

std::string to_utf8(const std::string& text) {
  const std::string name = declared_encoding(text);
  if (name.empty() || name == "utf-8" || name == "utf8") {
    const std::size_t end = utf8_end(text);
    if (end < text.size()) fail(text, end, "UTF-8");
    return text;
  }
  const bool windows = name == "windows-1252" || name == "cp1252";
  const bool ascii = name == "us-ascii" || name == "ascii";
  if (!windows && !ascii && name != "iso-8859-1" && name != "latin1" && name != "latin-1") {
    std::string printable = name.substr(0, 40);
    for (char& c : printable) {
      if (c < 32 || c > 126) c = '?';
    }
    throw EncodingError{1,
                        "encoding '" + printable +
                            "' is not read: UTF-8, US-ASCII, ISO-8859-1 and Windows-1252 are"};
  }
  std::string out;
  out.reserve(text.size());
  for (std::size_t i = 0; i < text.size(); ++i) {
    unsigned code = static_cast<unsigned char>(text[i]);
    if (ascii && code >= 0x80) fail(text, i, "US-ASCII");
    if (windows && code >= 0x80 && code < 0xA0) {
      code = kWindows[code - 0x80];
      if (code == 0) fail(text, i, "Windows-1252");
    }
    append(out, code);
  }
  return out;
}

}  // namespace stiction
