#pragma once

#include "solver/dense/dense_outcome.hpp"
#include "solver/dense/dense_solve.hpp"

// Included once per instruction set; see math/lanes.hpp.

namespace stiction {
inline namespace STICTION_ISA {

inline DenseOutcome solve_one(int cones, int scalars, double tolerance, double* memory) {
  Arena<double> arena{memory};
  const DenseProblem<double> p = take_dense_problem(cones, scalars, arena);
  DenseWork<double> work = take_dense_work(cones, scalars, arena);
  dense_solve(p, tolerance, work);
  return dense_outcome(p, tolerance, work);
}

}  // namespace STICTION_ISA
}  // namespace stiction
