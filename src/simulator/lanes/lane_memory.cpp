#include "simulator/lanes/lane_memory.hpp"

#include <cstring>
#include <new>

namespace stiction {

LaneMemory::LaneMemory(std::size_t doubles) {
  constexpr std::size_t kAlign = 64;
  const std::size_t bytes = (doubles * sizeof(double) + kAlign) / kAlign * kAlign;
  void* memory = std::aligned_alloc(kAlign, bytes);
  if (memory == nullptr) throw std::bad_alloc();
  std::memset(memory, 0, bytes);
  data_.reset(static_cast<double*>(memory));
}

}  // namespace stiction
