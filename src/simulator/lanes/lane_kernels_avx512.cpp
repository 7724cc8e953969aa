#include "simulator/lanes/lane_chunk.hpp"

namespace stiction {

LaneKernel lane_kernel_avx512();
LaneKernel lane_kernel_avx512() { return lane_kernel<Pack<8>>("x86-64-avx512"); }
LaneKernel lane_kernel_of_one_avx512();
LaneKernel lane_kernel_of_one_avx512() { return lane_kernel<double>("x86-64-avx512"); }

}  // namespace stiction
