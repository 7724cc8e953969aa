#pragma once

#include "solver/dense/dense_limit.hpp"

namespace stiction {
inline namespace STICTION_ISA {

/// The lanes of `at` in which no contact carries that w.first, the start, leaves open: the branch
/// of the last step may go on.
template <class Real, int Cones>
inline Mask<Real> goes_on(const DenseShape<Real, Cones>& s,
                          const DenseWork<Real>& w,
                          Mask<Real> at) {
  const Real zero(0.0);
  for (int r = 0; r < 3 * s.cones(); r += 3)
    at = at & negated((w.first[r] <= zero) & (s.p.lambda[r] > zero));
  return at;
}

/// Sweeps and Newton from the last impulses, in the lanes of `at`; those in which that leads to the
/// limit: no contact begins to carry, which velocities of an impact would decide, and what
/// vanishing compliance chooses of the impulses keeps the sets. The others are as they were.
template <class Real, int Cones>
inline Mask<Real> continue_branch(const DenseShape<Real, Cones>& s,
                                  Real goal,
                                  DenseWork<Real>& w,
                                  Mask<Real> at) {
  const DenseProblem<Real>& p = s.p;
  const int rows = s.rows();
  const Real relative = p.relative[0];
  for (int r = 0; r < rows; ++r) w.first[r] = p.lambda[r];
  if (!w.velocity_known) dense_velocity(s, p.lambda, w.c);
  prepare_sweeps(s, w);
  for (int k = 0; k < kWarmSweeps; ++k) dense_sweep(s, w, at, p.lambda, w.c);
  w.num_sweeps += kWarmSweeps;
  Mask<Real> done = goes_on(s, w, at);
  if (any(done)) {
    p.relative[0] = evaluate(s, w);
    w.settled = select(done, Real(0.0), w.settled);
    w.proximal = Real(kLargeProximal);
    const Mask<Real> more = done & (p.relative[0] > goal);
    if (any(more)) dense_newton(s, w, kWarmSteps, goal, more);
    done = goes_on(s, w, done & (p.relative[0] <= goal));
  }
  if (any(done)) done = take_least(s, goal, w, done);
  p.relative[0] = select(done, p.relative[0], relative);
  for (int r = 0; r < rows; ++r) p.lambda[r] = select(done, p.lambda[r], w.first[r]);
  w.velocity_known = false;
  return done;
}

/// What Newton from the start leaves. Apart, and for any number of cones at once: few steps come
/// here, and the others are faster in a small function.
template <class Real>
[[gnu::noinline, gnu::cold]] inline void solve_anew(const DenseProblem<Real>& p,
                                                    double tolerance,
                                                    DenseWork<Real>& w,
                                                    Mask<Real> at,
                                                    Mask<Real> solved,
                                                    Mask<Real> begun) {
  const DenseShape<Real, -1> s{p};
  // Lanes that are solved come first: the matrix of their last step says what they are.
  if (any(solved)) find_limit(s, tolerance, w, solved, solved);
  at = at & negated(solved);
  // On many rows the sweeps cost more than they save: Talos under noise 8 %.
  if (!is_never_packed(s.rows()) && any(at & begun))
    at = at & negated(continue_branch(s, Real(tolerance), w, at & begun));
  if (!any(at)) return;
  at = find_limit(s, tolerance, w, at, at & negated(at));
  if (any(at)) take_turns(s, w, Real(tolerance), kDenseTurns, at);
}

/// The course of ncp-newton on few rows: the start as it is, Newton from a good one, a turn from
/// any; what that leaves, or solves where the solution is not alone, is the limit of vanishing
/// compliance.
/// p.relative says what was reached; what is above the tolerance is for others.
template <class Real, int Cones>
inline void dense_solve(const DenseShape<Real, Cones>& s, double tolerance, DenseWork<Real>& w) {
  constexpr double kClose = 2e-2, kSame = 1e-2, kHidden = 1e-8;
  const DenseProblem<Real>& p = s.p;
  const int rows = s.rows();
  const Real goal(tolerance), zero(0.0);
  const Mask<Real> valid = p.valid[0] > zero;
  w.proximal = Real(kLargeProximal);
  w.factored_proximal = zero;
  w.compliance = 0.0;
  w.weakest = zero;
  Largest<Real> start;
  dense_velocity(s, p.lambda, w.c);
  add_sets(s, p.lambda, w.c, start);
  w.velocity_known = true;
  p.relative[0] = relative_residual(start, p.floor[0], p.scale[0], rows);
  // A blow has passed: the velocities that the start makes are so much larger than those asked for
  // that the rounding of their sum hides the solution.
  const Mask<Real> drowned =
      valid & (Real(kSumRounding) * start.made > Real(kHidden) * max(start.opposed, p.scale[0]));
  if (any(drowned)) {
    for (int r = 0; r < rows; ++r) p.lambda[r] = select(drowned, zero, p.lambda[r]);
    p.relative[0] = evaluate(s, w);
  }
  Mask<Real> same = p.relative[0] <= Real(kSame * tolerance);
  Mask<Real> at = valid & negated(same);
  same = same & valid & (p.relative[0] > Real(1e-3 * kSame * tolerance));
  if (any(same)) {  // what is left dies out in a sweep, or would add up from step to step
    prepare_sweeps(s, w);
    for (int r = 0; r < rows; ++r) w.best[r] = p.lambda[r];
    dense_sweep(s, w, same, p.lambda, w.c);
    ++w.num_sweeps;
    const Real relative = evaluate(s, w);
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
  const Mask<Real> solved = p.relative[0] <= goal;
  Mask<Real> alone = solved & (w.weakest <= Real(1.0 / kWeakPivot));
  if (any(alone & warm)) alone = alone & negated(has_unpressed(s, w, alone & warm));
  at = at & negated(alone);
  if (any(at)) solve_anew(p, tolerance, w, at, at & solved, negated(warm) & (size > zero));
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
