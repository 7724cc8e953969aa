#pragma once

#include "solver/dense/dense_residuals.hpp"
#include "solver/dense/dense_solve.hpp"
#include "solver/dense/dense_solver.hpp"

// Included once per instruction set; see math/lanes.hpp.

namespace stiction {
inline namespace STICTION_ISA {

inline DenseOutcome solve_one(int cones, int scalars, double tolerance, double* memory) {
  Arena<double> arena{memory};
  const DenseProblem<double> p = take_dense_problem(cones, scalars, arena);
  DenseWork<double> work = take_dense_work(cones, scalars, arena);
  dense_solve(p, tolerance, work);
  const double reached = p.relative[0];
  if (!(reached <= tolerance))
    return {0.0, 0.0, 0.0, reached, 0.0, work.num_sweeps, work.num_steps};
  if (!work.velocity_known) dense_velocity(DenseShape<double, -1>{p}, p.lambda, work.c);
  const DenseResiduals r = dense_residuals(p, work.c);
  return {
      r.primal, r.dual, r.complementarity, r.relative, r.backward, work.num_sweeps, work.num_steps};
}

}  // namespace STICTION_ISA
}  // namespace stiction
