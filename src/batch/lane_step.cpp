#include "batch/lane_step.hpp"

#include "batch/lane_step_impl.hpp"

namespace stiction {

// Defined in the files compiled for their instruction set; null where the compiler lacks it.
LaneKernels lane_kernels_avx2();
LaneKernels lane_kernels_avx512();

const std::vector<LaneKernels>& lane_kernels() {
  static const std::vector<LaneKernels> kernels = [] {
    std::vector<LaneKernels> k;
    k.push_back({1, "x86-64", lane_step<double>, lane_workspace_size<double>});
    k.push_back({2, "x86-64", lane_step<Pack<2>>, lane_workspace_size<Pack<2>>});
    if (__builtin_cpu_supports("avx2")) k.push_back(lane_kernels_avx2());
    if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl") &&
        __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512bw")) {
      k.push_back(lane_kernels_avx512());
    }
    return k;
  }();
  return kernels;
}

}  // namespace stiction
