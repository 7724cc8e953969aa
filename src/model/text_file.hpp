#pragma once

#include <cstddef>
#include <string>
#include <string_view>

// Files as text, its words and numbers: the same for every format that is read.

namespace stiction {

/// Larger files are refused, unread [bytes].
inline constexpr std::size_t kLargestMesh = std::size_t{512} << 20;
inline constexpr std::size_t kLargestXml = std::size_t{64} << 20;

/// Whole file as text; throws std::runtime_error naming the path: it is missing, no regular file,
/// larger than `largest`, or the path holds a zero byte.
std::string read_text_file(const std::string& path, std::size_t largest = kLargestXml);

/// Cuts the next word off `rest`; empty at its end.
std::string_view next_word(std::string_view& rest);
/// The next line with its end, taken from a text that is not empty.
std::string_view next_line(std::string_view& rest);
/// Finite, locale-independent, the whole word.
bool parse_number(std::string_view word, double& value);
bool parse_integer(std::string_view word, long long& value);
[[noreturn]] void fail_at(int line, const std::string& text);
/// Line breaks and other control characters become spaces, which follow one another only once.
std::string one_line(const std::string& text);
/// A word as it is shown in a message: short, printable.
std::string shown(std::string_view word);

}  // namespace stiction
