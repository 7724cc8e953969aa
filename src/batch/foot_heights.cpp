#include "batch/foot_heights.hpp"

#include "batch/foot_heights_impl.hpp"
#include "math/instruction_set.hpp"

namespace stiction {

// Defined in the files compiled for their instruction set.
FootHeights foot_heights_avx2();
FootHeights foot_heights_avx512();

FootHeights foot_heights() {
  const InstructionSet widest = widest_instruction_set();
  if (widest >= InstructionSet::kAvx512) return foot_heights_avx512();
  if (widest >= InstructionSet::kAvx2) return foot_heights_avx2();
  return foot_heights_of<Pack<2>>;
}

}  // namespace stiction
