#include "model/text_file.hpp"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <stdexcept>

namespace stiction {

std::string read_text_file(const std::string& path, std::size_t largest) {
  if (path.find('\0') != std::string::npos) {
    throw std::runtime_error(path.substr(0, path.find('\0')) + ": the path holds a zero byte");
  }
  namespace fs = std::filesystem;
  std::error_code failed;
  const fs::file_status status = fs::status(path, failed);
  if (!fs::exists(status)) throw std::runtime_error(path + ": cannot be opened for reading");
  if (!fs::is_regular_file(status)) {
    throw std::runtime_error(path + ": cannot be read (it is a folder, a pipe or a device)");
  }
  const std::uintmax_t size = fs::file_size(path, failed);
  if (failed || size > largest) {
    throw std::runtime_error(path + ": has " + std::to_string(size) + " bytes, more than the " +
                             std::to_string(largest) + " allowed");
  }
  std::ifstream in(path, std::ios::binary);
  if (!in) throw std::runtime_error(path + ": cannot be opened for reading");
  std::string text(static_cast<std::size_t>(size), '\0');
  in.read(text.data(), static_cast<std::streamsize>(size));
  if (in.gcount() != static_cast<std::streamsize>(size)) {
    throw std::runtime_error(path + ": cannot be read to its end");
  }
  return text;
}

std::string_view next_line(std::string_view& rest) {
  const std::size_t end = std::min(rest.find('\n'), rest.size() - 1);
  const std::string_view line = rest.substr(0, end + 1);
  rest.remove_prefix(end + 1);
  return line;
}

std::string_view next_word(std::string_view& rest) {
  const auto space = [](char c) { return std::isspace(static_cast<unsigned char>(c)) != 0; };
  std::size_t begin = 0;
  while (begin < rest.size() && space(rest[begin])) ++begin;
  std::size_t end = begin;
  while (end < rest.size() && !space(rest[end])) ++end;
  const std::string_view word = rest.substr(begin, end - begin);
  rest.remove_prefix(end);
  return word;
}

bool parse_number(std::string_view word, double& value) {
  if (!word.empty() && word.front() == '+') word.remove_prefix(1);
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value);
  return error == std::errc() && end == word.data() + word.size() && std::isfinite(value);
}

bool parse_integer(std::string_view word, long long& value) {
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value);
  return error == std::errc() && end == word.data() + word.size();
}

void fail_at(int line, const std::string& text) {
  throw std::runtime_error("line " + std::to_string(line) + ": " + text);
}

std::string one_line(const std::string& text) {
  std::string result;
  for (const char c : text) {
    const bool control = static_cast<unsigned char>(c) < 32 || c == 127;
    if (!control) {
      result += c;
    } else if (!result.empty() && result.back() != ' ') {
      result += ' ';
    }
  }
  return result;
}

std::string shown(std::string_view word) {
  std::string text(word.substr(0, 40));
  for (char& c : text) {
    if (c < 32 || c > 126) c = '?';
  }
  return "'" + text + (word.size() > 40 ? "...'" : "'");
}

}  // namespace stiction
