#pragma once

#include <string>

namespace stiction {

/// The text of an XML file as UTF-8. Its prolog may declare UTF-8 (the default), US-ASCII,
/// ISO-8859-1 or Windows-1252. Throws EncodingError: another encoding, or bytes that are not what
/// is declared.
std::string to_utf8(const std::string& text);

struct EncodingError {
  int line;
  std::string text;
};

}  // namespace stiction
