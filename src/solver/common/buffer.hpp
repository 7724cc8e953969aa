#pragma once

#include <cstddef>
#include <vector>

namespace stiction {

/// An array of an algorithm's workspace: it grows, never shrinks, is not cleared, and reads like a
/// pointer to its first entry.
template <class T>
class Buffer {
 public:
  /// Room for so many entries.
  void grow(std::size_t size) {
    if (values_.size() < size) values_.resize(size);
  }
  T* data() const { return values_.data(); }
  operator T*() const { return data(); }
  std::size_t size() const { return values_.size(); }

 private:
  mutable std::vector<T> values_;
};

template <class... T>
void grow(std::size_t size, Buffer<T>&... buffers) {
  (buffers.grow(size), ...);
}

}  // namespace stiction
