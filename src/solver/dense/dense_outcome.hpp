#pragma once

#include "solver/dense/dense_certificate.hpp"
#include "solver/dense/dense_solver.hpp"

namespace stiction {
inline namespace STICTION_ISA {

/// Of one problem after dense_solve(); leaves w.c as the velocity of p.lambda where the tolerance
/// is reached. Where it is not, only the residual that was reached is told.
inline DenseOutcome dense_outcome(const DenseProblem<double>& p,
                                  double tolerance,
                                  const DenseWork<double>& w) {
  DenseOutcome out{};
  out.relative = p.relative[0];
  out.sweeps = w.num_sweeps;
  out.steps = w.num_steps;
  if (!(out.relative <= tolerance)) return out;
  const DenseShape<double, -1> s{p};
  if (!w.velocity_known) dense_velocity(s, p.lambda, w.c);
  LargestOfAll x;
  add_sets(s, p.lambda, w.c, x);
  const Largest<double>& largest = x;
  out.primal = x.all_primal;
  out.dual = x.all_dual;
  out.complementarity = x.all_complementarity;
  out.relative = relative_residual(largest, p.floor[0], p.scale[0], s.rows());
  const double V = max(x.opposed, p.scale[0]);
  out.backward = out.relative < infinity<double>() ? scaled_residual(largest, V, max(V, x.made))
                                                   : out.relative;
  return out;
}

}  // namespace STICTION_ISA
}  // namespace stiction
