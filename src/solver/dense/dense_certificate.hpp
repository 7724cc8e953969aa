#pragma once

#include "stiction/math/constants.hpp"

#include "solver/dense/dense_problem.hpp"

// Residuals::relative on lanes, see contact/scaled_residuals.hpp: the same rule with its floors of
// rounding, and infinite where the scalar code would have to look at lost digits.

namespace stiction {
inline namespace STICTION_ISA {

template <class Real>
inline Real infinity() {
  return Real(__builtin_inf());
}

/// The largest of the rows so far, and of the violations above rounding.
template <class Real>
struct Largest {
  Real total{0.0}, opposed{0.0}, lambda{0.0}, made{0.0}, energy{0.0}, diagonal{0.0};
  Real primal{0.0}, dual{0.0}, complementarity{0.0};
};

/// What lane i has.
template <class Rows>
inline void add_largest(const Largest<Rows>& rows, int i, Largest<double>& x) {
  x.total += rows.total.v[i];
  x.opposed = max(x.opposed, rows.opposed.v[i]);
  x.lambda = max(x.lambda, rows.lambda.v[i]);
  x.made = max(x.made, rows.made.v[i]);
  x.energy = max(x.energy, rows.energy.v[i]);
  x.diagonal = max(x.diagonal, rows.diagonal.v[i]);
  x.primal = max(x.primal, rows.primal.v[i]);
  x.dual = max(x.dual, rows.dual.v[i]);
  x.complementarity = max(x.complementarity, rows.complementarity.v[i]);
}

/// One row with its diagonal entry; opposed: ConstraintSet::opposed().
template <class Real>
inline void add_row(Real g, Real opposed, Real diagonal, Real l, Real c, Largest<Real>& x) {
  g = abs(g);
  l = abs(l);
  x.total += g + l + abs(c);
  x.opposed = max(x.opposed, opposed);
  x.lambda = max(x.lambda, l);
  x.made = max(x.made, opposed + diagonal * l);
  x.energy = max(x.energy, diagonal * l * l);
}

/// A set's violations p, d, q; l_size and c_size are the sums of its rows as above_rounding() takes
/// them.
template <class Real>
inline void add_violations(
    Real floor, Real diagonal, Real l_size, Real c_size, Real p, Real d, Real q, Largest<Real>& x) {
  const Real zero(0.0);
  const Real least = select(diagonal > zero, floor, zero);
  x.total += p + d + q;
  x.diagonal = max(x.diagonal, diagonal);
  x.dual = max(x.dual, select(d <= least, zero, d));
  const Mask<Real> hidden = least > zero, small = p * diagonal <= least;
  x.primal = max(x.primal, select(hidden & small, zero, p));
  const Mask<Real> rounding = q * diagonal <= least * (l_size * diagonal + c_size);
  x.complementarity = max(x.complementarity, select(hidden & rounding, zero, q));
}

/// The violations as they are, beside those above rounding.
struct LargestOfAll : Largest<double> {
  double all_primal = 0.0, all_dual = 0.0, all_complementarity = 0.0;
};
/// Keeps SetResidual's numbers of a set where they are reported.
template <class Real>
inline void report_violations(Real, Real, Real, Largest<Real>&) {}
inline void report_violations(double p, double d, double q, LargestOfAll& x) {
  x.all_primal = max(x.all_primal, p);
  x.all_dual = max(x.all_dual, d);
  x.all_complementarity = max(x.all_complementarity, q);
}

/// circular::distance from the cone, and from its dual, of a point with tangent t >= 0; `slant` is
/// 1 / sqrt(1 + mu^2).
template <class Real>
inline Real cone_distance(Real mu, Real slant, Real t, Real n) {
  const Real zero(0.0);
  const Mask<Real> apex = (n < zero) & (mu * t <= -n);
  const Real side = select(t <= mu * n, zero, (t - mu * n) * slant);
  return any(apex) ? select(apex, square_root(t * t + n * n), side) : side;
}
template <class Real>
inline Real dual_cone_distance(Real mu, Real slant, Real t, Real n) {
  const Mask<Real> apex = (t <= -(mu * n)) & (n < mu * t);
  const Real side = select(n >= mu * t, Real(0.0), (mu * t - n) * slant);
  return any(apex) ? select(apex, square_root(t * t + n * n), side) : side;
}

template <class Real, class Sizes>
inline void add_cone(Real mu,
                     Real floor,
                     const Real* g,
                     const Real* diagonal,
                     const Real* l,
                     const Real* c,
                     Sizes& x) {
  const Real ct = square_root(c[1] * c[1] + c[2] * c[2]);
  const Real lt = square_root(l[1] * l[1] + l[2] * l[2]);
  const Real n = c[0] + mu * ct, slant = Real(1.0) / square_root(Real(1.0) + mu * mu);
  const Real power = abs(l[1] * c[1] + l[2] * c[2] + l[0] * n);
  for (int r = 0; r < 3; ++r) add_row(g[r], abs(g[r]), diagonal[r], l[r], c[r], x);
  const Real l_size = abs(l[0]) + abs(l[1]) + abs(l[2]) + mu * abs(l[0]);
  const Real c_size = (abs(c[0]) + abs(c[1]) + abs(c[2])) * (Real(1.0) + mu);
  const Real p = cone_distance(mu, slant, lt, l[0]), d = dual_cone_distance(mu, slant, ct, n);
  const Real largest = max(max(diagonal[0], diagonal[1]), diagonal[2]);
  Largest<Real>& judged = x;
  add_violations(floor, largest, l_size, c_size, p, d, power, judged);
  report_violations(p, d, power, x);
}

/// A row of one dimension, judged by the velocity that it misses its law by: row_violation().
template <class Real, class Sizes>
inline void add_scalar(
    Real lower, Real upper, Real arm, Real floor, Real g, Real diagonal, Real l, Real c, Sizes& x) {
  const Real zero(0.0);
  g *= arm;
  c *= arm;
  diagonal *= arm * arm;
  const Real p = max(zero, max(lower - l, l - upper)) / arm;
  const Real room = max(zero, select(c > zero, l - lower, upper - l)) / arm, speed = abs(c);
  const Mask<Real> endless = room >= infinity<Real>();
  l = l / arm;
  const Real push = select(upper > zero, max(zero, -g), zero);
  const Real pull = select(lower < zero, max(zero, g), zero);
  add_row(g, max(push, pull), diagonal, l, c, x);
  const Real missed = select(endless, speed, min(speed, diagonal * room));
  Largest<Real>& judged = x;
  add_violations(floor, diagonal, abs(l), speed, p, missed, zero, judged);
  report_violations(p, select(endless, speed, zero), select(endless, zero, speed * room), x);
}

/// The violations, in parts of L, which is no less than what makes `least_V`, and of velocities V.
template <class Real>
inline Real scaled_residual(const Largest<Real>& x, Real least_V, Real V) {
  const Real zero(0.0), one(1.0);
  const auto ratio = [&](Real a, Real scale) {
    return select(a > zero, a / select(a > zero, scale, one), zero);
  };
  const Mask<Real> stiff = x.diagonal > zero;
  const Real L = max(x.lambda, select(stiff, least_V / select(stiff, x.diagonal, one), zero));
  return max(ratio(x.primal, L), max(ratio(x.dual, V), ratio(ratio(x.complementarity, L), V)));
}

/// Residuals::relative from the largest, of so many rows; `scale`: DenseProblem::scale.
template <class Real>
inline Real relative_residual(const Largest<Real>& x, Real floor, Real scale, int rows) {
  const Real zero(0.0), one(1.0), least_V = max(x.opposed, scale);
  const Real V = select(least_V > zero, least_V, x.made);
  Real relative = scaled_residual(x, least_V, V);
  const Mask<Real> no_g = least_V <= zero, no_lambda = x.lambda <= zero;
  relative = select(no_g & no_lambda, select(x.primal > zero, one, zero), relative);
  const Real enough = max(V, floor) / Real(kSumRounding * rows);
  relative = select(x.diagonal * x.energy > enough * enough, infinity<Real>(), relative);
  return select(x.total * x.total < infinity<Real>(), relative, infinity<Real>());
}

/// Adds the rows of one dimension.
template <class Real, int Cones, class Sizes>
inline void add_scalars(const DenseShape<Real, Cones>& s,
                        const Real* lambda,
                        const Real* c,
                        Sizes& x) {
  const DenseProblem<Real>& p = s.p;
  const int step = s.stride() + 1;
  for (int j = 0; j < s.scalars(); ++j) {
    const int r = 3 * s.cones() + j;
    add_scalar(
        p.lower[j], p.upper[j], p.arm[j], p.floor[0], p.g[r], p.G[r * step], lambda[r], c[r], x);
  }
}
template <int Cones>
inline void add_scalars(const DenseShape<double, Cones>& s,
                        const double* lambda,
                        const double* c,
                        Largest<double>& x) {
  using Rows = RowGroup<double>;
  const DenseProblem<double>& p = s.p;
  const int step = s.stride() + 1;
  const Rows floor(p.floor[0]);
  Largest<Rows> rows;
  for (int j = 0; j < s.scalars(); j += group_size<double>) {
    const int r = 3 * s.cones() + j;
    add_scalar(load_rows(p.lower + j),
               load_rows(p.upper + j),
               load_rows(p.arm + j),
               floor,
               load_rows(p.g + r),
               load_rows(p.G + r * step, step),
               load_rows(lambda + r),
               load_rows(c + r),
               rows);
  }
  for (int i = 0; i < group_size<double>; ++i) add_largest(rows, i, x);
}

/// Adds all sets at lambda, with its velocity c.
template <class Real, int Cones, class Sizes>
inline void add_sets(const DenseShape<Real, Cones>& s,
                     const Real* lambda,
                     const Real* c,
                     Sizes& x) {
  const DenseProblem<Real>& p = s.p;
  const int step = s.stride() + 1, cones = s.cones();
  const Real floor = p.floor[0];
  for (int i = 0; i < cones; ++i) {
    const Real* block = p.G + 3 * i * step;
    const Real diagonal[3] = {block[0], block[step], block[2 * step]};
    add_cone(p.mu[i], floor, p.g + 3 * i, diagonal, lambda + 3 * i, c + 3 * i, x);
  }
  add_scalars(s, lambda, c, x);
}

/// Of lambda with its velocity c.
template <class Real, int Cones>
inline Real dense_residual(const DenseShape<Real, Cones>& s, const Real* lambda, const Real* c) {
  Largest<Real> x;
  add_sets(s, lambda, c, x);
  return relative_residual(x, s.p.floor[0], s.p.scale[0], s.rows());
}

}  // namespace STICTION_ISA
}  // namespace stiction
