#include "math/instruction_set.hpp"
#include "solver/dense/dense_solver_impl.hpp"

namespace stiction {

// Defined in the files compiled for their instruction set.
DenseSolver dense_solver_avx2();
DenseSolver dense_solver_avx512();

DenseSolver dense_solver() {
  static const DenseSolver widest = [] {
    const InstructionSet most = widest_instruction_set();
    if (most >= InstructionSet::kAvx512) return dense_solver_avx512();
    if (most >= InstructionSet::kAvx2) return dense_solver_avx2();
    return DenseSolver{solve_one};
  }();
  return widest;
}

}  // namespace stiction
