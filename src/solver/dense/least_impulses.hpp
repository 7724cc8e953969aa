#pragma once

#include "solver/dense/dense_newton.hpp"

// The impulses of the limit among those that make the velocity of a solution, in the scaling in
// which every cone is the unit cone. Newton's system at its modes, with compliance e in the place
// of its proximal term, is K = A + e C, C the part of velocities in its equations. A change of l =
// lambda / D that makes no velocity is one with A dl = 0, and P = (e K^-1 C)^2 leaves of l such
// changes alone, but for parts e^2: the limit has none, it is l - P l. Where nothing slides A = D G
// D, C = 1, and l - P l is the least. There Newton's last triangle serves, as a rule.

namespace stiction {
inline namespace STICTION_ISA {

/// Scalar rows of one world that are held on a bound.
struct HeldRows {
  static constexpr int kMost = 4;
  int count = 0, row[kMost];
  double bound[kMost], push[kMost];          ///< push: a of the row, where l changes by P a
  double direction[kMost][kMostPaddedRows];  ///< D P e of each
};

/// push <- what brings lambda to the bounds; false if some of it cannot.
inline bool find_pushes(HeldRows& h, const double* D, const double* lambda) {
  constexpr double kNothing = 1e-8;  // of P, whose entries are up to 1
  constexpr int kMost = HeldRows::kMost;
  double A[kMost][kMost];
  for (int i = 0; i < h.count; ++i) {
    for (int j = 0; j < h.count; ++j) A[i][j] = h.direction[j][h.row[i]] / D[h.row[i]];
    h.push[i] = (h.bound[i] - lambda[h.row[i]]) / D[h.row[i]];
  }
  for (int k = 0; k < h.count; ++k) {
    if (!(A[k][k] > kNothing)) return false;
    for (int i = k + 1; i < h.count; ++i) {
      const double f = A[i][k] / A[k][k];
      for (int j = k; j < h.count; ++j) A[i][j] -= f * A[k][j];
      h.push[i] -= f * h.push[k];
    }
  }
  for (int k = h.count - 1; k >= 0; --k) {
    for (int j = k + 1; j < h.count; ++j) h.push[k] -= A[k][j] * h.push[j];
    h.push[k] /= A[k][k];
  }
  return true;
}

/// Whether what pushes rows to their bounds pushes away from them.
template <int Cones>
inline bool pushes_inwards(const DenseShape<double, Cones>& s, const HeldRows& h) {
  for (int k = 0; k < h.count; ++k) {
    const bool from_below = h.bound[k] <= s.p.lower[h.row[k] - 3 * s.cones()];
    if (from_below ? h.push[k] < 0.0 : h.push[k] > 0.0) return false;
  }
  return true;
}

/// visit(r, lanes) of scalar rows and normals that Newton's last system held on a bound, though
/// nothing presses them there.
template <class Real, int Cones, class Visit>
inline void visit_unpressed(const DenseShape<Real, Cones>& s,
                            const DenseWork<Real>& w,
                            Real largest,
                            Mask<Real> at,
                            const Visit& visit) {
  const Real zero(0.0), little = Real(kUnpressed) * largest;
  const int first = 3 * s.cones();
  for (int r = 0; r < s.rows(); r += r < first ? 3 : 1) {
    const Mask<Real> lanes = at & (w.factored[r] <= zero) & (s.p.G[r * (s.stride() + 1)] > zero) &
                             (abs(w.D[r] * w.c[r]) <= little);
    if (any(lanes)) visit(r, lanes);
  }
}

template <class Real, int Cones>
inline Mask<Real> has_unpressed(const DenseShape<Real, Cones>& s,
                                const DenseWork<Real>& w,
                                Mask<Real> at) {
  Mask<Real> found = at & negated(at);
  visit_unpressed(s, w, largest_scaled(s, w, s.p.lambda), at, [&](int, Mask<Real> lanes) {
    found = found | lanes;
  });
  return found;
}

/// Whether these stay as compliance vanishes: rows i that move then have D c_i = -s l_i, by a
/// motion D K^-1 l, and those that are held must not leave their bounds by it. `moving`: lambda,
/// less what pushes rows of a large world to their bounds.
template <class Real, int Cones>
inline Mask<Real> bounds_attract(const DenseShape<Real, Cones>& s,
                                 const DenseWork<Real>& w,
                                 const Real* lambda,
                                 const Real* moving,
                                 Mask<Real> at) {
  constexpr double kRounding = 1e-9;
  const Real largest = largest_scaled(s, w, lambda), least = Real(kRounding) * largest;
  const int first = 3 * s.cones();
  bool known = false;
  visit_unpressed(s, w, largest, at, [&](int r, Mask<Real> lanes) {
    if (!known) apply_factored(s, w, Real(1.0), 1, moving);
    known = true;
    Real c(0.0);
    for (int k = 0; k < s.rows(); ++k) c -= s.p.G[r * s.stride() + k] * w.step[k];
    c = w.D[r] * c + lambda[r] * w.inverse_D[r];
    Mask<Real> leaves = c < -least;
    if (r >= first) {
      const Mask<Real> on_lower =
          lambda[r] - s.p.lower[r - first] <= s.p.upper[r - first] - lambda[r];
      leaves = (on_lower & leaves) | (negated(on_lower) & (c > least));
    }
    at = at & negated(lanes & leaves);
  });
  return at;
}

/// lambda, the least impulses of a large world, to the least of those that keep the bounds of
/// scalar rows: rows that pass theirs are held there, the worst first, by what makes no velocity
/// (the dual method of Goldfarb and Idnani, 1983). False where these are many, or where one that is
/// held would come off its bound. Leaves w.trial for bounds_attract().
template <int Cones>
inline bool least_in_bounds(const DenseShape<double, Cones>& s,
                            const DenseWork<double>& w,
                            double* lambda) {
  constexpr double kBeyond = 1e-10;  // of the largest impulse, in the scaling
  const DenseProblem<double>& p = s.p;
  const int rows = s.rows();
  const double largest = largest_scaled(s, w, lambda);
  for (int r = 0; r < rows; ++r) w.held[r] = lambda[r];
  HeldRows h;
  for (;;) {
    int worst = -1;
    double most = kBeyond * largest, bound = 0.0;
    for (int r = 3 * s.cones(); r < rows; ++r) {
      const double nearest =
          min(p.upper[r - 3 * s.cones()], max(p.lower[r - 3 * s.cones()], lambda[r]));
      const double beyond = abs(lambda[r] - nearest) * w.inverse_D[r];
      if (!(beyond > most)) continue;
      most = beyond;
      worst = r;
      bound = nearest;
    }
    if (worst < 0) break;
    if (h.count == HeldRows::kMost || !(w.factored[worst] > 0.0)) return false;
    for (int k = 0; k < rows; ++k) w.trial[k] = k == worst ? w.D[worst] : 0.0;
    apply_factored(s, w, w.proximal, 2, w.trial);
    for (int k = 0; k < rows; ++k) h.direction[h.count][k] = w.step[k];
    h.row[h.count] = worst;
    h.bound[h.count++] = bound;
    if (!find_pushes(h, w.D, w.held)) return false;
    for (int r = 0; r < rows; ++r) {
      lambda[r] = w.held[r];
      for (int k = 0; k < h.count; ++k) lambda[r] += h.push[k] * h.direction[k][r];
    }
    for (int k = 0; k < h.count; ++k) lambda[h.row[k]] = h.bound[k];
  }
  for (int r = 0; r < rows; ++r) w.trial[r] = lambda[r];
  for (int k = 0; k < h.count; ++k) w.trial[h.row[k]] -= w.D[h.row[k]] * h.push[k];
  return pushes_inwards(s, h);
}

/// Makes w.matrix that of the modes at p.lambda, whose velocity becomes w.c, with the proximal term
/// e.
template <class Real, int Cones>
inline void factor_solution(const DenseShape<Real, Cones>& s, double e, DenseWork<Real>& w) {
  const DenseProblem<Real>& p = s.p;
  dense_velocity(s, p.lambda, w.c);
  w.velocity_known = true;
  for (int r = 0; r < s.rows(); ++r) w.held[r] = p.lambda[r];
  classify(s, w, w.c, w.held);
  for (int r = 0; r < s.rows(); ++r) w.l[r] = w.held[r];
  velocity_near(s, w, p.lambda, w.l);
  w.proximal = Real(e);
  newton_step(s, w, true);
  Real* const moving = w.moving;
  w.moving = w.factored;
  w.factored = moving;
  ++w.num_steps;
}

/// Lanes in which a contact of the last system slides, though next to nothing makes it: with
/// compliance it may stick.
template <class Real, int Cones>
inline Mask<Real> has_unpressed_slide(const DenseShape<Real, Cones>& s,
                                      const DenseWork<Real>& w,
                                      Mask<Real> at) {
  const Real little = Real(kUnpressed) * largest_scaled(s, w, s.p.lambda);
  Mask<Real> found = at & negated(at);
  for (int i = 0; i < s.cones(); ++i) {
    const Real x = w.D[3 * i + 1] * w.c[3 * i + 1], y = w.D[3 * i + 2] * w.c[3 * i + 2];
    found = found | (at & (w.slides[i] > Real(0.0)) & (x * x + y * y <= little * little));
  }
  return found;
}

/// By the triangle in w.matrix, of the modes at p.lambda with velocity w.c, in the lanes of `at`;
/// those where that keeps the sets. In those of `loose` its parts e^2 alone were too large.
template <class Real, int Cones>
inline Mask<Real> take_least(const DenseShape<Real, Cones>& s,
                             Real goal,
                             DenseWork<Real>& w,
                             Mask<Real> at,
                             Mask<Real>& loose) {
  const DenseProblem<Real>& p = s.p;
  loose = at & negated(at);
  if (w.has_lower) at = at & negated(has_unpressed_slide(s, w, at));
  if (!any(at)) return at;
  apply_factored(s, w, w.proximal, 2, p.lambda);
  for (int r = 0; r < s.rows(); ++r) w.l[r] = p.lambda[r] - w.step[r];
  for (int r = 0; r < s.rows(); ++r) w.trial[r] = w.l[r];
  if constexpr (lane_width<Real> == 1) {
    if (is_large_world<Real>(s.rows()) && !least_in_bounds(s, w, w.l)) return loose;
  }
  at = bounds_attract(s, w, w.l, w.trial, at);
  if (!any(at)) return at;
  project(s, w.l, w.trial);
  dense_velocity(s, w.trial, w.c);
  const Real relative = dense_residual(s, w.trial, w.c);
  loose = at & (relative > goal);
  at = at & (relative <= goal);
  p.relative[0] = select(at, relative, p.relative[0]);
  for (int r = 0; r < s.rows(); ++r) p.lambda[r] = select(at, w.trial[r], p.lambda[r]);
  w.velocity_known = false;
  return at;
}

/// The limit's impulses with the velocity of p.lambda, a solution found by Newton's last steps, if
/// they keep the sets; the lanes of `at` where they do.
template <class Real, int Cones>
inline Mask<Real> take_least(const DenseShape<Real, Cones>& s,
                             Real goal,
                             DenseWork<Real>& w,
                             Mask<Real> at) {
  const Mask<Real> settled = at & (w.settled > Real(0.0)), left = at & negated(settled);
  Mask<Real> done = at & negated(at), loose = done, more = done;
  if (any(settled)) done = take_least(s, goal, w, settled, loose);
  if (any(left)) {
    factor_solution(s, kLargeProximal, w);
    done = done | take_least(s, goal, w, left, more);
    loose = loose | more;
  }
  if (any(loose)) {
    factor_solution(s, kSmallProximal, w);
    done = done | take_least(s, goal, w, loose, more);
  }
  return done;
}

}  // namespace STICTION_ISA
}  // namespace stiction
