#pragma once

#include "solver/dense/dense_newton.hpp"
#include "solver/dense/dense_sweep.hpp"

namespace stiction {
inline namespace STICTION_ISA {

/// The course of ncp-newton on few rows: the start as it is, Newton from a good one, then sweeps
/// and Newton by turns. p.relative says what was reached; what is above the tolerance is for
/// others.
template <class Real, int Cones>
inline void dense_solve(const DenseShape<Real, Cones>& s, double tolerance, DenseWork<Real>& w) {
  constexpr double kClose = 2e-2, kSame = 1e-2, kHidden = 1e-8, kNear = 1e-6;
  const DenseProblem<Real>& p = s.p;
  const int rows = s.rows();
  const Real goal(tolerance), zero(0.0);
  const auto evaluate = [&] {
    dense_velocity(s, p.lambda, w.c);
    w.velocity_known = true;
    return dense_residual(s, p.lambda, w.c);
  };
  const Mask<Real> valid = p.valid[0] > zero;
  w.proximal = Real(kLargeProximal);
  Largest<Real> start;
  dense_velocity(s, p.lambda, w.c);
  add_sets(s, p.lambda, w.c, start);
  w.velocity_known = true;
  p.relative[0] = relative_residual(start, p.floor[0], p.scale[0], rows);
  // A blow has passed: the velocities that the start makes are so much larger than those asked for
  // that the rounding of their sum hides the solution.
  const Mask<Real> drowned =
      valid & (Real(kSumRounding) * start.made > Real(kHidden) * max(start.g, p.scale[0]));
  if (any(drowned)) {
    for (int r = 0; r < rows; ++r) p.lambda[r] = select(drowned, zero, p.lambda[r]);
    p.relative[0] = evaluate();
  }
  Mask<Real> same = p.relative[0] <= Real(kSame * tolerance);
  Mask<Real> at = valid & negated(same);
  same = same & valid & (p.relative[0] > Real(1e-3 * kSame * tolerance));
  bool ready = false;
  if (any(same)) {  // what is left dies out in a sweep, or would add up from step to step
    prepare_sweeps(s, w);
    ready = true;
    for (int r = 0; r < rows; ++r) w.best[r] = p.lambda[r];
    dense_sweep(s, w, same, p.lambda, w.c);
    ++w.num_sweeps;
    const Real relative = evaluate();
    const Mask<Real> worse = same & (relative > goal);
    p.relative[0] = select(same & negated(worse), relative, p.relative[0]);
    for (int r = 0; r < rows; ++r) p.lambda[r] = select(worse, w.best[r], p.lambda[r]);
    w.velocity_known = !any(worse);
    if (any(at)) dense_velocity(s, p.lambda, w.c);
  }
  if (!any(at)) return;
  dense_scales(s, w);
  Real size(0.0);
  for (int r = 0; r < rows; ++r) size += abs(p.lambda[r]);
  const Mask<Real> warm = at & (size > zero) & (p.relative[0] <= Real(kClose));
  if (any(warm)) dense_newton(s, w, kDenseSteps, min(goal, Real(0.5) * p.relative[0]), warm);
  w.velocity_known = w.velocity_known && !any(warm);
  at = at & (p.relative[0] > goal);
  for (int turn = 0; turn < kDenseTurns && any(at); ++turn) {
    if (!ready) prepare_sweeps(s, w);
    ready = true;
    const Real before = p.relative[0];
    for (int r = 0; r < rows; ++r) w.best[r] = p.lambda[r];
    if (!w.velocity_known) dense_velocity(s, p.lambda, w.c);
    const int sweeps = sweeps_of_turn(turn);
    for (int k = 0; k < sweeps; ++k) dense_sweep(s, w, at, p.lambda, w.c);
    w.num_sweeps += sweeps;
    p.relative[0] = select(at, evaluate(), before);
    w.velocity_known = false;
    const Mask<Real> more = at & (p.relative[0] > goal);
    // Near a hyperstatic solution the large term is slow, the small one at times singular.
    const Mask<Real> slow = p.relative[0] < Real(turn % 2 == 1 ? kNear : 0.0);
    w.proximal = select(slow, Real(kSmallProximal), Real(kLargeProximal));
    if (any(more)) dense_newton(s, w, kDenseSteps, goal, more);
    const Mask<Real> worse = at & (p.relative[0] > before);
    p.relative[0] = select(worse, before, p.relative[0]);
    for (int r = 0; r < rows; ++r) p.lambda[r] = select(worse, w.best[r], p.lambda[r]);
    at = at & (p.relative[0] > goal);
  }
}

template <class Real>
inline void dense_solve(const DenseProblem<Real>& p, double tolerance, DenseWork<Real>& w) {
  w.num_sweeps = w.num_steps = 0;
  switch (p.scalars == 0 ? p.cones : -1) {
    case 1:
      return dense_solve(DenseShape<Real, 1>{p}, tolerance, w);
    case 2:
      return dense_solve(DenseShape<Real, 2>{p}, tolerance, w);
    case 3:
      return dense_solve(DenseShape<Real, 3>{p}, tolerance, w);
    case 4:
      return dense_solve(DenseShape<Real, 4>{p}, tolerance, w);
    default:
      return dense_solve(DenseShape<Real, -1>{p}, tolerance, w);
  }
}

}  // namespace STICTION_ISA
}  // namespace stiction
