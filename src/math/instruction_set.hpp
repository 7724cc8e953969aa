#pragma once

namespace stiction {

/// Kernels on packs are compiled once for each.
enum class InstructionSet { kBaseline, kAvx2, kAvx512 };

/// The widest that the processor has, or less if the environment's STICTION_MAX_ISA is baseline,
/// avx2 or avx512. Throws std::invalid_argument if it is something else.
InstructionSet widest_instruction_set();

}  // namespace stiction
