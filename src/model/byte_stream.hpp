#pragma once

#include "model/utf8.hpp"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstring>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

// Numbers and text as bytes, for saved states and scenes: little endian, one after the other
// without alignment. A count, of 64 bits, stands before the entries of a list and the bytes of a
// text.

namespace stiction {

static_assert(std::endian::native == std::endian::little, "the formats are little endian");

/// FNV-1a, 64 bit.
inline std::uint64_t checksum(const char* data, std::size_t size) {
  std::uint64_t hash = 0xcbf29ce484222325u;
  for (std::size_t i = 0; i < size; ++i) {
    hash = (hash ^ static_cast<unsigned char>(data[i])) * 0x100000001b3u;
  }
  return hash;
}

/// Numbers, and structs of doubles alone: placements, inertias, materials.
template <class T>
concept Storable =
    std::is_arithmetic_v<T> || (std::is_class_v<T> && std::is_trivially_copyable_v<T> &&
                                sizeof(T) % sizeof(double) == 0 && alignof(T) == alignof(double));

class ByteWriter {
 public:
  template <Storable T>
  void put(const T& value) {
    put(&value, 1);
  }
  template <Storable T>
  void put(const T* values, std::size_t count) {
    out.append(reinterpret_cast<const char*>(values), count * sizeof(T));
  }
  void put_count(std::size_t n) { put(static_cast<std::uint64_t>(n)); }
  /// Numbers with their count before them.
  template <class Vector>
  void put_list(const Vector& v) {
    put_count(static_cast<std::size_t>(v.size()));
    put(v.data(), static_cast<std::size_t>(v.size()));
  }
  /// Throws std::invalid_argument naming `field` unless it is UTF-8, which every reader can show.
  void put_text(const std::string& text, const std::string& field) {
    const std::size_t end = utf8_end(text);
    if (end < text.size())
      throw std::invalid_argument(field + ": byte " + std::to_string(end) + " is not UTF-8");
    put_list(text);
  }
  std::string out;
};

class ByteReader {
 public:
  /// Errors, std::invalid_argument, begin with `what`.
  ByteReader(const char* data, std::size_t size, std::string what)
      : what(std::move(what)), at_(data), end_(data + size) {}
  template <Storable T>
  void get(T& value) {
    get(&value, 1);
  }
  template <Storable T>
  void get(T* values, std::size_t count) {
    if (left() / sizeof(T) < count) fail("truncated");
    if (count > 0) std::memcpy(static_cast<void*>(values), at_, count * sizeof(T));
    at_ += count * sizeof(T);
  }
  /// A number of things of at least `least` bytes each: bounded by what is left.
  std::size_t count(std::size_t least) {
    std::uint64_t n = 0;
    get(n);
    if (n > left() / least) fail("truncated");
    return static_cast<std::size_t>(n);
  }
  template <class Vector>
  void get_list(Vector& v) {
    v.resize(count(sizeof(*v.data())));
    get(v.data(), static_cast<std::size_t>(v.size()));
  }
  std::string text(const char* field) {
    std::string text;
    get_list(text);
    const std::size_t end = utf8_end(text);
    if (end < text.size()) refuse(field, "byte " + std::to_string(end) + " is not UTF-8");
    return text;
  }
  /// An int in [lowest, end).
  int index(const char* field, int lowest, std::size_t end) {
    std::int32_t i = 0;
    get(i);
    if (i < lowest || i >= static_cast<std::int64_t>(end)) {
      refuse(field,
             std::to_string(i) + " must be in [" + std::to_string(lowest) + ", " +
                 std::to_string(end) + ")");
    }
    return i;
  }
  bool flag(const char* field) {
    std::uint8_t x = 0;
    get(x);
    if (x > 1) refuse(field, std::to_string(x) + " must be 0 or 1");
    return x == 1;
  }
  /// Which of these texts it is.
  int choice(const char* field, const std::vector<std::string>& texts) {
    const std::string given = text(field);
    const auto it = std::find(texts.begin(), texts.end(), given);
    if (it == texts.end()) {
      std::string all;
      for (const std::string& t : texts) all += (all.empty() ? "" : ", ") + t;
      refuse(field, "there is only: " + all);
    }
    return static_cast<int>(it - texts.begin());
  }
  bool finished() const { return at_ == end_; }
  [[noreturn]] void fail(const std::string& why) const {
    throw std::invalid_argument(what + ": " + why);
  }
  [[noreturn]] void refuse(const char* field, const std::string& why) const {
    throw std::invalid_argument(what + "." + field + ": " + why);
  }

  std::string what;  ///< "saved state", "geometries[3]"

 private:
  std::size_t left() const { return static_cast<std::size_t>(end_ - at_); }
  const char *at_, *end_;
};

}  // namespace stiction
