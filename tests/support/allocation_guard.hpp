#pragma once

#include <cstdlib>
#include <new>

// Counts heap allocations of this program: global operator new and, through it, the containers;
// Eigen's own calls go through malloc, which is wrapped too. Include in one file of a test program.

namespace stiction::test {
inline long& allocation_count() {
  static long count = 0;
  return count;
}
}  // namespace stiction::test

extern "C" void* __libc_malloc(std::size_t);
extern "C" void* malloc(std::size_t size) {
  ++stiction::test::allocation_count();
  return __libc_malloc(size);
}
