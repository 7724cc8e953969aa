#pragma once

#include "common.hpp"

#include <string>

namespace stiction::python {

/// A str, bytes or os.PathLike. StictionError if it holds a zero byte: the system would read the
/// path only up to there.
inline std::string path_from(const bp::object& path) {
  const std::string text = bp::extract<std::string>(bp::import("os").attr("fspath")(path));
  const std::size_t zero = text.find('\0');
  if (zero == std::string::npos) return text;
  std::string shown;
  for (const char c : text) shown += c == '\0' ? std::string("\\0") : std::string(1, c);
  raise_stiction_error((shown + ": the path holds a zero byte").c_str());
}

}  // namespace stiction::python
