#include "stiction/math/setting.hpp"

#include "math/number_text.hpp"

#include <string_view>

namespace stiction {
namespace {

/// Whether `name` is `pattern`, in which one * stands for any letters.
bool matches(std::string_view pattern, std::string_view name) {
  const std::size_t star = pattern.find('*');
  if (star == std::string_view::npos) return pattern == name;
  const std::string_view head = pattern.substr(0, star), tail = pattern.substr(star + 1);
  return name.size() >= head.size() + tail.size() && name.starts_with(head) && name.ends_with(tail);
}

}  // namespace

std::string setting_text(bool value) { return value ? "True" : "False"; }
std::string setting_text(int value) { return std::to_string(value); }
std::string setting_text(double value) { return number_text(value); }
std::string setting_text(const std::string& value) { return '"' + value + '"'; }

bool reads(const char* readers, const std::string& name) {
  std::string_view rest = readers;
  if (rest.empty()) return true;
  while (!rest.empty()) {
    const std::size_t end = std::min(rest.find(' '), rest.size());
    if (matches(rest.substr(0, end), name)) return true;
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  return false;
}

}  // namespace stiction
