#include "allocation_guard.hpp"

#include <cstddef>

namespace stiction::test {

long& allocation_count() {
  static long count = 0;
  return count;
}

}  // namespace stiction::test

extern "C" void* __libc_malloc(std::size_t);
extern "C" void* malloc(std::size_t size) {
  ++stiction::test::allocation_count();
  return __libc_malloc(size);
}
