#pragma once

#include "solver/dense/dense_newton.hpp"

// Of the impulses that make the velocity of a solution the least ones, in the scaling in which
// every cone is the unit cone, by the triangle of Newton's last system K = D G D + e, D of the rows
// that move: P = (e K^-1)^2 leaves of l = lambda / D what makes no velocity, but for parts e^2.

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

/// Whether rows that Newton's last system held on a bound, though nothing presses them there, stay
/// as compliance vanishes: rows i that move then have D c_i = -s l_i, by a motion D K^-1 (l - a),
/// and those that are held must not leave their bounds by it.
template <int Cones>
inline bool bounds_attract(const DenseShape<double, Cones>& s,
                           const DenseWork<double>& w,
                           const HeldRows& h,
                           double largest,
                           const double* lambda) {
  constexpr double kUnpressed = 1e-7, kRounding = 1e-9;
  const DenseProblem<double>& p = s.p;
  const int rows = s.rows(), stride = s.stride();
  bool known = false;
  for (int r = 3 * s.cones(); r < rows; ++r) {
    const double D = w.D[r], own = p.G[r * (stride + 1)];
    if (w.factored[r] > 0.0 || !(own > 0.0) || abs(D * w.c[r]) > kUnpressed * largest) continue;
    if (!known) {
      for (int k = 0; k < rows; ++k) w.trial[k] = lambda[k];
      for (int k = 0; k < h.count; ++k) w.trial[h.row[k]] -= w.D[h.row[k]] * h.push[k];
      apply_factored(s, w, 1.0, 1, w.trial);
      known = true;
    }
    double c = 0.0;
    for (int k = 0; k < rows; ++k) c -= p.G[r * stride + k] * w.step[k];
    const double below = lambda[r] - p.lower[r - 3 * s.cones()],
                 above = p.upper[r - 3 * s.cones()] - lambda[r];
    if (below <= above ? D * c < -kRounding * largest : D * c > kRounding * largest) return false;
  }
  return true;
}

/// lambda, the least impulses of a large world, to the least of those that keep the bounds of
/// scalar rows: rows that pass theirs are held there, the worst first, by what makes no velocity
/// (the dual method of Goldfarb and Idnani, 1983). False where these are many, or where one that is
/// held would come off its bound.
template <int Cones>
inline bool least_in_bounds(const DenseShape<double, Cones>& s,
                            const DenseWork<double>& w,
                            double* lambda) {
  constexpr double kBeyond = 1e-10;  // of the largest impulse, in the scaling
  const DenseProblem<double>& p = s.p;
  const int rows = s.rows();
  double largest = 0.0;
  for (int r = 0; r < rows; ++r) {
    w.held[r] = lambda[r];
    largest = max(largest, abs(lambda[r] * w.inverse_D[r]));
  }
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
  return pushes_inwards(s, h) && bounds_attract(s, w, h, largest, lambda);
}

/// The least impulses with the velocity of p.lambda, a solution found by Newton's last steps, if
/// they keep the cones; the lanes of `at` where they do.
template <class Real, int Cones>
inline Mask<Real> take_least(const DenseShape<Real, Cones>& s,
                             Real goal,
                             DenseWork<Real>& w,
                             Mask<Real> at) {
  const DenseProblem<Real>& p = s.p;
  at = at & (w.settled > Real(0.0));
  if (!any(at)) return at;
  apply_factored(s, w, w.proximal, 2, p.lambda);
  for (int r = 0; r < s.rows(); ++r) w.l[r] = p.lambda[r] - w.step[r];
  if constexpr (lane_width<Real> == 1) {
    if (is_large_world<Real>(s.rows()) && !least_in_bounds(s, w, w.l)) return negated(at);
  }
  project(s, w.l, w.trial);
  dense_velocity(s, w.trial, w.c);
  const Real relative = dense_residual(s, w.trial, w.c);
  at = at & (relative <= goal);
  p.relative[0] = select(at, relative, p.relative[0]);
  for (int r = 0; r < s.rows(); ++r) p.lambda[r] = select(at, w.trial[r], p.lambda[r]);
  w.velocity_known = false;
  return at;
}

}  // namespace STICTION_ISA
}  // namespace stiction
