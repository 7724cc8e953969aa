#include "simulator/lanes/lane_chunk.hpp"

namespace stiction {

LaneKernel lane_kernel_avx2();
LaneKernel lane_kernel_avx2() { return lane_kernel<Pack<4>>("x86-64-avx2"); }
LaneKernel lane_kernel_of_one_avx2();
LaneKernel lane_kernel_of_one_avx2() { return lane_kernel<double>("x86-64-avx2"); }

}  // namespace stiction
