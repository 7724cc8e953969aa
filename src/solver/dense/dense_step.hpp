#pragma once

#include "solver/dense/dense_lu.hpp"
#include "solver/dense/dense_problem.hpp"

// The system of a step of Newton on modes: D G D + e of the rows that move, the linearised law of
// contacts that slide.

namespace stiction {
inline namespace STICTION_ISA {

inline constexpr double kRhoOfLanes = 3.0;  // kRho of newton_system.hpp

/// Whether many rows of one world, which least_in_bounds() handles.
template <class Real>
inline bool is_large_world(int rows) {
  return lane_width<Real> == 1 && is_never_packed(rows);
}

/// The law of a contact that slides, linearised (slide_rows() of newton_system.cpp): at p = l - rho
/// c, scaled, of the direction d and Q = (p_N / t) (1 - d d^T).
template <class Real>
struct SlidingLaw {
  Real l[3], p[3], ratio, d1, d2, q11, q12, q22;
};
template <class Real>
inline SlidingLaw<Real> sliding_law(int i,
                                    Mask<Real> slides,
                                    const DenseWork<Real>& w,
                                    const Real* lambda) {
  const Real rho(kRhoOfLanes), one(1.0);
  const int o = 3 * i;
  SlidingLaw<Real> x;
  for (int r = 0; r < 3; ++r) {
    x.l[r] = lambda[o + r] * w.inverse_D[o + r];
    x.p[r] = x.l[r] - rho * w.D[o + r] * w.c[o + r];
  }
  const Real t = select(slides, square_root(x.p[1] * x.p[1] + x.p[2] * x.p[2]), one),
             inverse = one / t;
  x.ratio = x.p[0] * inverse;
  x.d1 = x.p[1] * inverse;
  x.d2 = x.p[2] * inverse;
  x.q11 = x.ratio * x.d2 * x.d2;
  x.q22 = x.ratio * x.d1 * x.d1;
  x.q12 = -x.ratio * x.d1 * x.d2;
  return x;
}

/// The tangential rows of a contact that slides become its linearised law: c at the modes, moved
/// after the held rows took their places. The rows of contact i begin at row `at` of the matrix, [n
/// x stride].
template <class Real>
inline void slide_rows(
    int n, int stride, int at, int i, const DenseWork<Real>& w, const Real* lambda) {
  const Real rho(kRhoOfLanes), one(1.0), zero(0.0);
  const int o = 3 * i;
  const Mask<Real> slides = w.slides[i] > zero;
  const SlidingLaw<Real> law = sliding_law(i, slides, w, lambda);
  const Real d1 = law.d1, d2 = law.d2, q11 = law.q11, q12 = law.q12, q22 = law.q22;
  Real known[3];
  for (int r = 0; r < 3; ++r) {
    const Real step = rho * w.D[o + r];
    known[r] = step * (w.moved[o + r] - w.c[o + r]);
  }
  const Real* normal = w.matrix + at * stride;
  Real *x = w.matrix + (at + 1) * stride, *y = x + stride;
#pragma GCC ivdep
  for (int j = 0; j < n; ++j) {
    const Real a = x[j], b = y[j], m = rho * normal[j];
    x[j] = select(slides, rho * (q11 * a + q12 * b) + d1 * m, a);
    y[j] = select(slides, rho * (q12 * a + q22 * b) + d2 * m, b);
  }
  x[at] = select(slides, x[at] - d1, x[at]);
  y[at] = select(slides, y[at] - d2, y[at]);
  x[at + 1] = select(slides, x[at + 1] + (one - q11), x[at + 1]);
  x[at + 2] = select(slides, x[at + 2] - q12, x[at + 2]);
  y[at + 1] = select(slides, y[at + 1] - q12, y[at + 1]);
  y[at + 2] = select(slides, y[at + 2] + (one - q22), y[at + 2]);
  const Real s1 = q11 * known[1] + q12 * known[2], s2 = q12 * known[1] + q22 * known[2];
  const Real r1 = -(law.l[1] - law.p[0] * d1) - (s1 + d1 * known[0]);
  const Real r2 = -(law.l[2] - law.p[0] * d2) - (s2 + d2 * known[0]);
  w.rhs[at + 1] = select(slides, r1, w.rhs[at + 1]);
  w.rhs[at + 2] = select(slides, r2, w.rhs[at + 2]);
}

/// What velocities x of its rows, scaled, are in the equations of slide_rows().
template <class Real>
inline void slide_velocity(int i, const DenseWork<Real>& w, const Real* lambda, Real* x) {
  const Real rho(kRhoOfLanes);
  const Mask<Real> slides = w.slides[i] > Real(0.0);
  if (!any(slides)) return;
  const SlidingLaw<Real> law = sliding_law(i, slides, w, lambda);
  const Real x1 = rho * (law.q11 * x[1] + law.q12 * x[2] + law.d1 * x[0]),
             x2 = rho * (law.q12 * x[1] + law.q22 * x[2] + law.d2 * x[0]);
  x[1] = select(slides, x1, x[1]);
  x[2] = select(slides, x2, x[2]);
}

/// The largest entry of the diagonal of a matrix: of a triangle, its largest inverse pivot.
template <class Real>
inline Real largest_diagonal(int n, int stride, const Real* matrix) {
  Real largest(0.0);
  for (int k = 0; k < n; ++k) largest = max(largest, abs(matrix[k * (stride + 1)]));
  return largest;
}

/// The step of one world of many rows: the system has those alone that move. The triangle of the
/// last one serves again where nothing slides and the same rows move.
inline double newton_step_of_moving(const DenseProblem<double>& p,
                                    DenseWork<double>& w,
                                    bool keeps_lower) {
  int moving[kMostPaddedRows], slides[kMaxDenseRows / 3], n = 0, num_slides = 0;
  double D[kMostPaddedRows];
  bool factored = w.factored_proximal == w.proximal;
  for (int r = 0; r < p.rows(); ++r) {
    factored = factored && w.moving[r] == w.factored[r];
    if (!(w.moving[r] > 0.0)) continue;
    if (r < 3 * p.cones && r % 3 == 0 && w.slides[r / 3] > 0.0) slides[num_slides++] = n;
    D[n] = w.moving[r];
    moving[n++] = r;
  }
  factored = factored && num_slides == 0;
  w.factored_proximal = num_slides == 0 ? w.proximal : 0.0;
  const int stride = dense_stride<double>(n);
  for (int a = 0; a < n && factored; ++a) w.rhs[a] = -(D[a] * w.moved[moving[a]]);
  for (int a = 0; a < n && !factored; ++a) {
    const double d = D[a];
    const double* G = p.G + moving[a] * p.stride();
    double* row = w.matrix + a * stride;
    const int from = num_slides > 0 ? 0 : a / kWide * kWide;
    if (n == p.rows()) {
      for (int b = from; b < stride; b += kWide)
        wide(row + b) = (wide(w.moving + b) * d) * wide(G + b);
    } else {
      for (int b = from; b < n; ++b) row[b] = d * D[b] * G[moving[b]];
      for (int b = n; b < stride; ++b) row[b] = 0.0;
    }
    row[a] += w.proximal;
    w.rhs[a] = -(d * w.moved[moving[a]]);
  }
  for (int k = 0; k < num_slides; ++k)
    slide_rows(n, stride, slides[k], moving[slides[k]] / 3, w, w.l);
  if (factored)
    solve_again_wide(n, stride, w.matrix, w.rhs);
  else if (num_slides > 0)
    eliminate<0>(n, stride, w.matrix, w.rhs, keeps_lower ? w.lower : nullptr);
  else
    eliminate_symmetric(n, stride, w.matrix, w.rhs);
  w.has_lower = keeps_lower && num_slides > 0;
  for (int r = 0; r < p.rows(); ++r) w.step[r] = 0.0;
  for (int a = 0; a < n; ++a) w.step[moving[a]] = D[a] * w.rhs[a];
  return largest_diagonal(n, stride, w.matrix);
}

/// w.step from the modes at w.l; returns the largest inverse pivot of its system. `keeps_lower`:
/// w.lower serves apply_factored() where contacts slide.
template <class Real, int Cones>
inline Real newton_step(const DenseShape<Real, Cones>& s,
                        DenseWork<Real>& w,
                        bool keeps_lower = false) {
  const DenseProblem<Real>& p = s.p;
  const int rows = s.rows(), stride = s.stride();
  if constexpr (lane_width<Real> == 1) {
    if (is_never_packed(rows)) return newton_step_of_moving(p, w, keeps_lower);
  }
  const Real zero(0.0), one(1.0);
  for (int r = 0; r < rows; ++r) {
    Real* row = w.matrix + r * stride;
    const Real* G = p.G + r * stride;
    const Real d = w.moving[r];
    if constexpr (lane_width<Real> == 1) {
      for (int k = 0; k < stride; k += kWide)
        wide(row + k) = (wide(w.moving + k) * d) * wide(G + k);
    } else {
      for (int k = 0; k < rows; ++k) row[k] = d * w.moving[k] * G[k];
    }
    row[r] += select(d > zero, w.proximal, one);
    w.rhs[r] = -(d * w.moved[r]);
  }
  for (int i = 0; i < s.cones(); ++i) {
    const Mask<Real> slides = w.slides[i] > zero;
    if (any(slides)) slide_rows(rows, stride, 3 * i, i, w, w.l);
  }
  w.has_lower = keeps_lower;
  if (keeps_lower)
    eliminate<0>(rows, stride, w.matrix, w.rhs, w.lower);
  else
    eliminate<(Cones > 0 ? 3 * Cones : 0)>(rows, stride, w.matrix, w.rhs);
  for (int r = 0; r < rows; ++r) w.step[r] = w.moving[r] * w.rhs[r];
  return largest_diagonal(rows, stride, w.matrix);
}

}  // namespace STICTION_ISA
}  // namespace stiction
