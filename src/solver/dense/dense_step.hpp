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

/// The tangential rows of a contact that slides become its linearised law (slide_rows() of
/// newton_system.cpp): c at the modes, moved after the held rows took their places. The rows of
/// contact i begin at row `at` of the matrix, [n x stride].
template <class Real>
inline void slide_rows(
    int n, int stride, int at, int i, const DenseWork<Real>& w, const Real* lambda) {
  const Real rho(kRhoOfLanes), one(1.0), zero(0.0);
  const int o = 3 * i;
  const Mask<Real> slides = w.slides[i] > zero;
  Real l[3], p[3], known[3];
  for (int r = 0; r < 3; ++r) {
    const Real step = rho * w.D[o + r];
    l[r] = lambda[o + r] * w.inverse_D[o + r];
    p[r] = l[r] - step * w.c[o + r];
    known[r] = step * (w.moved[o + r] - w.c[o + r]);
  }
  const Real t = select(slides, square_root(p[1] * p[1] + p[2] * p[2]), one), inverse = one / t;
  const Real ratio = p[0] * inverse, d1 = p[1] * inverse, d2 = p[2] * inverse;
  const Real q11 = ratio * d2 * d2, q22 = ratio * d1 * d1, q12 = -ratio * d1 * d2;
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
  const Real r1 = -(l[1] - p[0] * d1) - (s1 + d1 * known[0]);
  const Real r2 = -(l[2] - p[0] * d2) - (s2 + d2 * known[0]);
  w.rhs[at + 1] = select(slides, r1, w.rhs[at + 1]);
  w.rhs[at + 2] = select(slides, r2, w.rhs[at + 2]);
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
inline double newton_step_of_moving(const DenseProblem<double>& p, DenseWork<double>& w) {
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
    eliminate<0>(n, stride, w.matrix, w.rhs);
  else
    eliminate_symmetric(n, stride, w.matrix, w.rhs);
  for (int r = 0; r < p.rows(); ++r) w.step[r] = 0.0;
  for (int a = 0; a < n; ++a) w.step[moving[a]] = D[a] * w.rhs[a];
  return largest_diagonal(n, stride, w.matrix);
}

/// w.step from the modes at w.l; returns the largest inverse pivot of its system.
template <class Real, int Cones>
inline Real newton_step(const DenseShape<Real, Cones>& s, DenseWork<Real>& w) {
  const DenseProblem<Real>& p = s.p;
  const int rows = s.rows(), stride = s.stride();
  if constexpr (lane_width<Real> == 1) {
    if (is_never_packed(rows)) return newton_step_of_moving(p, w);
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
  eliminate<(Cones > 0 ? 3 * Cones : 0)>(rows, stride, w.matrix, w.rhs);
  for (int r = 0; r < rows; ++r) w.step[r] = w.moving[r] * w.rhs[r];
  return largest_diagonal(rows, stride, w.matrix);
}

}  // namespace STICTION_ISA
}  // namespace stiction
