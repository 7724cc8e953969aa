#pragma once

#include "solver/common/compliance_limit.hpp"
#include "solver/dense/dense_newton.hpp"
#include "solver/dense/dense_sweep.hpp"
#include "solver/dense/least_impulses.hpp"

// The limit of vanishing compliance, which chooses one of several solutions: R = s / D^2, s -> 0, D
// the scaling in which every cone is the unit cone. With s > 0 the solution is, nearly always, the
// only one, so that neither the start nor what ran before chooses it; where impulses alone are not
// unique, the limit has the least of them in the scaling. Small numbers alone do not reach the
// limit: s = 1e-6 from zero ends, within the tolerances, at another solution. It is followed from s
// = 1e-3.

namespace stiction {
inline namespace STICTION_ISA {

/// The residual of p.lambda, whose velocity is left in w.c.
template <class Real, int Cones>
inline Real evaluate(const DenseShape<Real, Cones>& s, DenseWork<Real>& w) {
  compliant_velocity(s, w, s.p.lambda, w.c);
  w.velocity_known = true;
  return dense_residual(s, s.p.lambda, w.c);
}

/// Sweeps and Newton by turns, from p.lambda with p.relative, in the lanes of `at`.
template <class Real, int Cones>
inline void take_turns(
    const DenseShape<Real, Cones>& s, DenseWork<Real>& w, Real goal, int turns, Mask<Real> at) {
  constexpr double kNear = 1e-6;
  const DenseProblem<Real>& p = s.p;
  const int rows = s.rows();
  prepare_sweeps(s, w);
  for (int turn = 0; turn < turns && any(at); ++turn) {
    const Real before = p.relative[0];
    for (int r = 0; r < rows; ++r) w.best[r] = p.lambda[r];
    if (!w.velocity_known) compliant_velocity(s, w, p.lambda, w.c);
    const int sweeps = sweeps_of_turn(turn);
    for (int k = 0; k < sweeps; ++k) dense_sweep(s, w, at, p.lambda, w.c);
    w.num_sweeps += sweeps;
    p.relative[0] = select(at, evaluate(s, w), before);
    w.velocity_known = false;
    const Mask<Real> more = at & (p.relative[0] > goal);
    // Near a hyperstatic solution the large term is slow, the small one at times singular.
    const Mask<Real> slow = p.relative[0] < Real(turn % 2 == 1 ? kNear : 0.0);
    w.proximal = select(slow, Real(kSmallProximal), Real(kLargeProximal));
    if (w.compliance > 0.0) w.proximal = Real(w.compliance);
    if (any(more)) dense_newton(s, w, kDenseSteps, goal, more);
    const Mask<Real> worse = at & (p.relative[0] > before);
    p.relative[0] = select(worse, before, p.relative[0]);
    for (int r = 0; r < rows; ++r) p.lambda[r] = select(worse, w.best[r], p.lambda[r]);
    at = at & (p.relative[0] > goal);
  }
}

/// Newton from p.lambda on the problem with compliance `share`; the lanes of `at` that it brings to
/// what is enough.
template <class Real, int Cones>
inline Mask<Real> solve_compliant(const DenseShape<Real, Cones>& s,
                                  DenseWork<Real>& w,
                                  double share,
                                  const LimitPass& pass,
                                  Mask<Real> at) {
  w.compliance = share;
  w.proximal = Real(pass.proximal);
  s.p.relative[0] = select(at, evaluate(s, w), s.p.relative[0]);
  const Mask<Real> more = at & (s.p.relative[0] > Real(pass.goal));
  if (any(more)) {
    dense_newton(s, w, pass.steps, Real(pass.goal), more);
    w.velocity_known = false;
  }
  return at & (s.p.relative[0] <= Real(pass.enough));
}

/// Newton with less and less compliance, and on the rigid problem from there; the lanes of `at`
/// that this solves.
template <class Real, int Cones>
inline Mask<Real> stiffen(
    const DenseShape<Real, Cones>& s, double goal, DenseWork<Real>& w, int steps, Mask<Real> at) {
  Mask<Real> left = at, solved = at & negated(at);
  for (const double share : kStiffShares) {
    left = solve_compliant(s, w, share, stiff_pass(share, steps), left);
    if (any(left)) left = solve_compliant(s, w, share, last_stiff_pass(share), left);
    if (!any(left)) break;
    const Mask<Real> done = solve_compliant(s, w, 0.0, rigid_pass(share, goal, kRigidSteps), left);
    solved = solved | done;
    left = left & negated(done);
    if (!any(left)) break;
  }
  return solved;
}

/// From zero impulse by a problem whose solution is unique.
template <class Real, int Cones>
inline Mask<Real> follow_compliance(const DenseShape<Real, Cones>& s,
                                    double goal,
                                    DenseWork<Real>& w,
                                    Mask<Real> at) {
  const DenseProblem<Real>& p = s.p;
  for (int r = 0; r < s.rows(); ++r) p.lambda[r] = select(at, Real(0.0), p.lambda[r]);
  w.compliance = kSoftShare;
  p.relative[0] = select(at, evaluate(s, w), p.relative[0]);
  take_turns(s, w, Real(kRoughResidual), kSoftTurns, at);
  w.velocity_known = false;
  at = at & (p.relative[0] <= Real(kRoughResidual));
  return any(at) ? stiffen(s, goal, w, kDenseSteps, at) : at;
}

/// In the lanes of `at` the limit. In those of `solved` p.lambda is a solution found by Newton's
/// last steps: its modes are those of the limit, as a rule. Returns the lanes that have no solution
/// yet, p.lambda as it was.
template <class Real, int Cones>
inline Mask<Real> find_limit(const DenseShape<Real, Cones>& s,
                             double goal,
                             DenseWork<Real>& w,
                             Mask<Real> at,
                             Mask<Real> solved) {
  const DenseProblem<Real>& p = s.p;
  if (any(solved)) at = at & negated(take_least(s, Real(goal), w, solved));
  if (!any(at)) return at;
  solved = solved & at;
  const int rows = s.rows();
  const Real relative = p.relative[0];
  for (int r = 0; r < rows; ++r) w.first[r] = p.lambda[r];
  const Mask<Real> near = any(solved) ? stiffen(s, goal, w, kStepsNear, solved) : solved;
  Mask<Real> lost = at & negated(near);
  if (any(lost)) lost = lost & negated(follow_compliance(s, goal, w, lost));
  w.compliance = 0.0;
  w.velocity_known = false;
  p.relative[0] = select(lost, relative, p.relative[0]);
  for (int r = 0; r < rows; ++r) p.lambda[r] = select(lost, w.first[r], p.lambda[r]);
  return lost & negated(solved);
}

}  // namespace STICTION_ISA
}  // namespace stiction
