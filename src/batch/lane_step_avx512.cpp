#include "batch/lane_step_impl.hpp"

namespace stiction {

LaneKernels lane_kernels_avx512();
LaneKernels lane_kernels_avx512() {
  return {8, "x86-64-avx512", lane_step<Pack<8>>, lane_workspace_size<Pack<8>>};
}

}  // namespace stiction
