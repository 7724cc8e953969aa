#include "batch/lane_step_impl.hpp"

namespace stiction {

LaneKernels lane_kernels_avx2();
LaneKernels lane_kernels_avx2() {
  return {4, "x86-64-avx2", lane_step<Pack<4>>, lane_workspace_size<Pack<4>>};
}

}  // namespace stiction
