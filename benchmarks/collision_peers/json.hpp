#pragma once

#include <cmath>
#include <cstdio>
#include <string>

// Just enough JSON to write: values are joined as text.

namespace stiction::bench {

inline std::string number(double x) {
  if (!std::isfinite(x)) return "null";
  char text[32];
  std::snprintf(text, sizeof(text), "%.6g", x);
  return text;
}

/// {"key": value, ...}; `value` is JSON already.
class Object {
 public:
  Object& add(const std::string& key, const std::string& value) {
    text_ += (text_.empty() ? "\"" : ", \"") + key + "\": " + value;
    return *this;
  }
  Object& add(const std::string& key, double value) { return add(key, number(value)); }
  std::string text() const { return "{" + text_ + "}"; }

 private:
  std::string text_;
};

class Array {
 public:
  void add(const std::string& value) { text_ += (text_.empty() ? "" : ",\n  ") + value; }
  std::string text() const { return "[" + text_ + "]"; }

 private:
  std::string text_;
};

}  // namespace stiction::bench
