#include "simulator/lanes/lane_kernels.hpp"

#include "math/instruction_set.hpp"
#include "simulator/lanes/lane_chunk.hpp"

namespace stiction {

// Defined in the files compiled for their instruction set.
LaneKernel lane_kernel_avx2();
LaneKernel lane_kernel_avx512();
LaneKernel lane_kernel_of_one_avx2();
LaneKernel lane_kernel_of_one_avx512();

const std::vector<LaneKernel>& lane_kernels() {
  static const std::vector<LaneKernel> kernels = [] {
    std::vector<LaneKernel> k;
    const InstructionSet widest = widest_instruction_set();
    k.push_back(widest >= InstructionSet::kAvx512 ? lane_kernel_of_one_avx512()
                : widest >= InstructionSet::kAvx2 ? lane_kernel_of_one_avx2()
                                                  : lane_kernel<double>("x86-64"));
    k.push_back(lane_kernel<Pack<2>>("x86-64"));
    if (widest >= InstructionSet::kAvx2) k.push_back(lane_kernel_avx2());
    if (widest >= InstructionSet::kAvx512) k.push_back(lane_kernel_avx512());
    return k;
  }();
  return kernels;
}

}  // namespace stiction
