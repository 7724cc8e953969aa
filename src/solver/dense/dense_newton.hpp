#pragma once

#include "solver/dense/dense_certificate.hpp"
#include "solver/dense/dense_step.hpp"

// Newton on the modes of solver/ncp_newton/mode_newton.cpp in lanes: the same scaling, map, system
// and line search. A lane that does not take part, or is done, is computed and not written.

namespace stiction {
inline namespace STICTION_ISA {

/// kLarge and kSmall of ncp_newton.hpp.
inline constexpr double kLargeProximal = 1e-6, kSmallProximal = 1e-9;

/// lambda = D l in which every cone is the unit cone.
template <class Real, int Cones>
inline void dense_scales(const DenseShape<Real, Cones>& s, const DenseWork<Real>& w) {
  Real* D = w.D;
  const DenseProblem<Real>& p = s.p;
  const int rows = s.rows(), cones = s.cones(), stride = s.stride();
  const Real zero(0.0), one(1.0);
  Real largest(0.0);
  for (int r = 0; r < rows; ++r) largest = max(largest, p.G[r * (stride + 1)]);
  const Real least = Real(1e-14) * select(largest > zero, largest, one);
  for (int i = 0; i < cones; ++i) {
    const Real* b = p.G + 3 * i * (stride + 1);
    const Real mu = select(p.mu[i] > zero, p.mu[i], one);
    const Real trace = (b[stride + 1] + b[2 * stride + 2]) + b[0] / (mu * mu);
    const Real d = square_root(Real(3.0) / max(trace, least));
    D[3 * i] = d / mu;
    D[3 * i + 1] = D[3 * i + 2] = d;
  }
  using Rows = RowGroup<Real>;
  for (int r = 3 * cones; r < rows; r += group_size<Real>) {
    const Rows diagonal = load_rows(p.G + r * (stride + 1), stride + 1);
    store_rows(Rows(1.0) / square_root(max(diagonal, Rows(least))), D + r);
  }
  for (int r = 0; r < rows; ++r) w.inverse_D[r] = one / D[r];
  for (int r = rows; r < stride; ++r)
    w.moving[r] = w.factored[r] = zero;  // loaded, by wide loads, but not used
}

/// Modes at impulses l with velocity c: what moves and what slides. Rows that are held take the
/// place where they are. Returns the squared merit of the cone.
template <class Real>
inline Real classify_cone(Real mu,
                          const Real* D,
                          const Real* inverse,
                          const Real* c,
                          Real* lambda,
                          Real* moving,
                          Real* slides) {
  const Real zero(0.0), one(1.0), rho(kRhoOfLanes);
  Real l[3], y[3];
  for (int r = 0; r < 3; ++r) {
    l[r] = lambda[r] * inverse[r];
    y[r] = rho * D[r] * c[r];
  }
  const Real pn = l[0] - y[0], p1 = l[1] - y[1], p2 = l[2] - y[2];
  const Real t = square_root(p1 * p1 + p2 * p2);
  const Mask<Real> open = pn <= zero, smooth = mu <= zero, sticks = t <= pn;
  const Mask<Real> held = open | smooth;
  const Real k = pn / select(t > zero, t, one);
  const Real f1 = select(sticks, y[1], l[1] - k * p1), f2 = select(sticks, y[2], l[2] - k * p2);
  const Real tangential = select(smooth, zero, f1 * f1 + f2 * f2);
  const Real merit =
      select(open, l[0] * l[0] + (l[1] * l[1] + l[2] * l[2]), tangential + y[0] * y[0]);
  lambda[0] = select(open, zero, lambda[0]);
  moving[0] = select(open, zero, D[0]);
  for (int r = 1; r < 3; ++r) {
    lambda[r] = select(held, zero, lambda[r]);
    moving[r] = select(held, zero, D[r]);
  }
  slides[0] = select(held | sticks, zero, one);
  return merit;
}

template <class Real>
inline Real classify_scalar(
    Real lower, Real upper, Real D, Real inverse, Real c, Real& lambda, Real& moving) {
  const Real p = lambda - Real(kRhoOfLanes) * D * D * c;
  const Real target = min(upper, max(lower, p));
  const Real f = (lambda - target) * inverse;
  const Mask<Real> held = (p <= lower) | (p >= upper);
  lambda = select(held, target, lambda);
  moving = select(held, Real(0.0), D);
  return f * f;
}

template <class Real, int Cones>
inline Real classify(const DenseShape<Real, Cones>& s,
                     const DenseWork<Real>& w,
                     const Real* c,
                     Real* lambda) {
  const DenseProblem<Real>& p = s.p;
  Real merit(0.0);
  for (int i = 0; i < s.cones(); ++i) {
    const int o = 3 * i;
    merit += classify_cone(
        p.mu[i], w.D + o, w.inverse_D + o, c + o, lambda + o, w.moving + o, w.slides + i);
  }
  for (int j = 0; j < s.scalars(); j += group_size<Real>) {
    const int r = 3 * s.cones() + j;
    RowGroup<Real> l = load_rows(lambda + r), moving;
    const RowGroup<Real> of_rows = classify_scalar(load_rows(p.lower + j),
                                                   load_rows(p.upper + j),
                                                   load_rows(w.D + r),
                                                   load_rows(w.inverse_D + r),
                                                   load_rows(c + r),
                                                   l,
                                                   moving);
    merit = add_rows(merit, of_rows);
    store_rows(l, lambda + r);
    store_rows(moving, w.moving + r);
  }
  return square_root(merit);
}

/// w.l <- w.l + alpha w.step, with the first alpha of 1, 1/2, ..., 1/256 whose merit falls below
/// `limit`, or the last, in the lanes of `at`; leaves w.c there, and w.l in w.held as its modes
/// hold it. Returns the merit.
template <class Real, int Cones>
inline Real line_search(const DenseShape<Real, Cones>& s,
                        const DenseWork<Real>& w,
                        Real limit,
                        Mask<Real> at) {
  const int rows = s.rows();
  const Mask<Real> out = negated(at);
  Real alpha(1.0), merit(0.0);
  for (int halving = 0;; ++halving) {
    for (int r = 0; r < rows; ++r)
      w.trial[r] = w.held[r] = select(at, w.l[r] + alpha * w.step[r], w.l[r]);
    compliant_velocity(s, w, w.trial, w.c);
    merit = classify(s, w, w.c, w.held);
    const Mask<Real> done = out | (merit <= (Real(1.0) - Real(1e-4) * alpha) * limit);
    if (all(done) || halving == 8) break;
    alpha = select(done, alpha, Real(0.5) * alpha);
  }
  for (int r = 0; r < rows; ++r) w.l[r] = w.trial[r];
  return merit;
}

/// Whether the triangle in w.matrix is that of the modes at w.l, of a symmetric matrix: `slid` is 1
/// where a contact slid in it. Of a large world the modes of cones count.
template <class Real, int Cones>
inline Mask<Real> is_factored(const DenseShape<Real, Cones>& s,
                              const DenseWork<Real>& w,
                              Real slid) {
  Mask<Real> same = slid <= Real(0.0);
  const int compared = is_large_world<Real>(s.rows()) ? 3 * s.cones() : s.rows();
  for (int r = 0; r < compared; ++r)
    same = same & (w.moving[r] <= w.factored[r]) & (w.moving[r] >= w.factored[r]);
  for (int i = 0; i < s.cones(); ++i) same = same & (w.slides[i] <= Real(0.0));
  return same;
}

/// w.step = D (f K^-1 C)^times l, l = lambda scaled, with the matrix K of w.matrix and the part C
/// that velocities have in its equations: 1 but where contacts slide. There the modes are those of
/// p.lambda, whose velocity is w.c.
template <class Real, int Cones>
inline void apply_factored(const DenseShape<Real, Cones>& s,
                           const DenseWork<Real>& w,
                           Real f,
                           int times,
                           const Real* lambda) {
  const int rows = s.rows();
  const Real zero(0.0);
  int n = 0, row[kMostPaddedRows];
  const bool reduced = is_large_world<Real>(rows);
  for (int r = 0; r < rows; ++r) {
    w.step[r] = zero;
    if (reduced && !any(w.factored[r] > zero)) continue;
    w.rhs[n] = select(w.factored[r] > zero, lambda[r] * w.inverse_D[r], zero);
    row[n++] = r;
  }
  for (int k = 0; k < times; ++k) {
    for (int a = 0; a < n; ++a) w.rhs[a] *= f;
    if (w.has_lower) {
      for (int a = 0; a < n && row[a] < 3 * s.cones(); ++a)
        if (row[a] % 3 == 0) slide_velocity(row[a] / 3, w, s.p.lambda, w.rhs + a);
      solve_again(n, reduced ? dense_stride<Real>(n) : s.stride(), w.lower, w.matrix, w.rhs);
      continue;
    }
    if constexpr (lane_width<Real> == 1) {
      if (reduced) {
        solve_again_wide(n, dense_stride<Real>(n), w.matrix, w.rhs);
        continue;
      }
    }
    solve_again(n, s.stride(), w.matrix, w.rhs);
  }
  for (int a = 0; a < n; ++a) w.step[row[a]] = w.factored[row[a]] * w.rhs[a];
}

/// What holds its set: cones keep their normal impulse.
template <class Real, int Cones>
inline void project(const DenseShape<Real, Cones>& s, const Real* from, Real* lambda) {
  const DenseProblem<Real>& p = s.p;
  const Real zero(0.0), one(1.0);
  for (int i = 0; i < s.cones(); ++i) {
    const Real* l = from + 3 * i;
    const Real t = square_root(l[1] * l[1] + l[2] * l[2]), radius = p.mu[i] * l[0];
    const Mask<Real> loaded = l[0] > zero, outside = t > radius;
    const Real k = select(outside, radius / select(t > zero, t, one), one);
    lambda[3 * i] = select(loaded, l[0], zero);
    for (int r = 1; r < 3; ++r)
      lambda[3 * i + r] = select(loaded, select(outside, l[r] * k, l[r]), zero);
  }
  for (int j = 0; j < s.scalars(); j += group_size<Real>) {
    const int r = 3 * s.cones() + j;
    const RowGroup<Real> least = max(load_rows(p.lower + j), load_rows(from + r));
    store_rows(min(load_rows(p.upper + j), least), lambda + r);
  }
}

/// Whether a and b are the same numbers in every lane.
template <class Real>
inline bool are_equal(int rows, const Real* a, const Real* b) {
  Mask<Real> equal = Real(0.0) <= Real(0.0);
  for (int r = 0; r < rows; ++r) equal = equal & (a[r] <= b[r]) & (a[r] >= b[r]);
  return all(equal);
}

/// w.moved = (G + R) lambda + g, where w.c is that of `known`.
template <class Real, int Cones>
inline void velocity_near(const DenseShape<Real, Cones>& s,
                          const DenseWork<Real>& w,
                          const Real* known,
                          const Real* lambda) {
  if (!are_equal(s.rows(), lambda, known)) return compliant_velocity(s, w, lambda, w.moved);
  for (int r = 0; r < s.rows(); ++r) w.moved[r] = w.c[r];
}

/// The largest impulse in the scaling.
template <class Real, int Cones>
inline Real largest_scaled(const DenseShape<Real, Cones>& s,
                           const DenseWork<Real>& w,
                           const Real* lambda) {
  Real largest(0.0);
  for (int r = 0; r < s.rows(); ++r) largest = max(largest, abs(lambda[r] * w.inverse_D[r]));
  return largest;
}

/// Scalar rows that are on a bound, and that little presses off it, stay there in a large world's
/// first step: what holds them at rest, a brake beside a limit, does so again.
template <class Real, int Cones>
inline void stay_on_bounds(const DenseShape<Real, Cones>& s, const DenseWork<Real>& w) {
  constexpr double kLittle = 1e-5;  // of the largest impulse, in the scaling
  if constexpr (lane_width<Real> == 1) {
    const int first = 3 * s.cones();
    const double largest = largest_scaled(s, w, w.held);
    for (int r = first; r < s.rows(); ++r) {
      const bool bound = w.held[r] <= s.p.lower[r - first] || w.held[r] >= s.p.upper[r - first];
      if (bound && abs(w.D[r] * w.c[r]) <= kLittle * largest) w.moving[r] = 0.0;
    }
  }
}

/// At most `steps` steps from p.lambda, whose velocity w.c and residual p.relative are known, in
/// the lanes of `at`; p.lambda and p.relative become the best seen.
template <class Real, int Cones>
inline void dense_newton(const DenseShape<Real, Cones>& s,
                         DenseWork<Real>& w,
                         int steps,
                         Real tolerance,
                         Mask<Real> at) {
  const DenseProblem<Real>& p = s.p;
  const int rows = s.rows();
  constexpr double kWorthALook = 0.1;
  for (int r = 0; r < rows; ++r) w.l[r] = w.held[r] = p.lambda[r];
  Real window[4], merit = classify(s, w, w.c, w.held), looked = merit;
  if (is_large_world<Real>(rows)) stay_on_bounds(s, w);
  for (int k = 0; k < steps && any(at); ++k) {
    window[k % 4] = merit;
    // A lane that is done keeps its matrix, which take_least() reads: that of its last step.
    if (k > 0 && !all(at)) {
      for (int r = 0; r < rows; ++r) w.moving[r] = select(at, w.moving[r], w.factored[r]);
    }
    velocity_near(s, w, w.l, w.held);
    for (int r = 0; r < rows; ++r) w.l[r] = w.held[r];
    const Real weakest = newton_step(s, w);
    w.weakest = select(at, weakest, w.weakest);
    Real slid(0.0);
    for (int i = 0; i < s.cones(); ++i) slid = max(slid, w.slides[i]);
    Real* const moving = w.moving;
    w.moving = w.factored;
    w.factored = moving;
    ++w.num_steps;
    Real limit = window[0];
    for (int j = 1; j <= (k < 3 ? k : 3); ++j) limit = max(limit, window[j]);
    merit = line_search(s, w, limit, at);
    w.settled = select(at, select(is_factored(s, w, slid), Real(1.0), Real(0.0)), w.settled);
    Mask<Real> look = at & (merit <= Real(kWorthALook) * looked);
    if (k + 1 == steps) look = at;
    if (any(look)) {
      looked = select(look, merit, looked);
      project(s, w.l, w.trial);
      velocity_near(s, w, w.l, w.trial);
      const Real relative = dense_residual(s, w.trial, w.moved);
      const Mask<Real> better = look & (relative < p.relative[0]);
      p.relative[0] = select(better, relative, p.relative[0]);
      for (int r = 0; r < rows; ++r) p.lambda[r] = select(better, w.trial[r], p.lambda[r]);
      at = at & (p.relative[0] > tolerance);
    }
  }
}

}  // namespace STICTION_ISA
}  // namespace stiction
