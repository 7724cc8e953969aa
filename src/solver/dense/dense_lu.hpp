#pragma once

#include "solver/dense/wide_rows.hpp"

namespace stiction {
inline namespace STICTION_ISA {

/// Row i of A and entry i of b less l times row k; columns up to k of row i are lost.
template <class Real>
inline void subtract_row(int n, int stride, int i, int k, Real l, Real* A, Real* b) {
  const Real* pivot = A + k * stride;
  Real* row = A + i * stride;
  if constexpr (lane_width<Real> == 1) {
    subtract_wide(k + 1, stride, l, pivot, row);
  } else {
#pragma GCC unroll 12
    for (int j = k + 1; j < n; ++j) row[j] -= l * pivot[j];
  }
  b[i] -= l * b[k];
}

/// Row i less its parts of the four pivot rows at `first`: the numbers of four eliminations one
/// after the other, each entry read and written once.
template <class Real>
inline void subtract_four(
    int n, int stride, int i, int first, const Real (&l)[4], Real* A, Real* b) {
  const Real* p[4];
  for (int k = 0; k < 4; ++k) p[k] = A + (first + k) * stride;
  Real* row = A + i * stride;
  if constexpr (lane_width<Real> == 1) {
    for (int j = (first + 4) / kWide * kWide; j < stride; j += kWide) {
      Wide x = wide(row + j);
      for (int k = 0; k < 4; ++k) x -= wide(p[k] + j) * l[k];
      wide(row + j) = x;
    }
  } else {
    for (int j = first + 4; j < n; ++j)
      row[j] = (((row[j] - l[0] * p[0][j]) - l[1] * p[1][j]) - l[2] * p[2][j]) - l[3] * p[3][j];
  }
  for (int k = 0; k < 4; ++k) b[i] -= l[k] * b[first + k];
}

/// Rows below the four pivot rows, whose inverse pivots are given. L, unless null, receives the
/// multipliers, [n x stride].
template <class Real>
inline void eliminate_four(
    int n, int stride, int first, const Real* inverse, Real* A, Real* b, Real* L) {
  for (int i = first + 4; i < n; ++i) {
    Real l[4];
    for (int k = 0; k < 4; ++k) {
      Real x = A[i * stride + first + k];
      for (int m = 0; m < k; ++m) x -= l[m] * A[(first + m) * stride + first + k];
      l[k] = x * inverse[k];
    }
    subtract_four(n, stride, i, first, l, A, b);
    for (int k = 0; k < 4 && L != nullptr; ++k) L[i * stride + first + k] = l[k];
  }
}

/// One elimination in the rows [k + 1, last); leaves 1 / pivot on the diagonal.
template <class Real>
inline Real eliminate_one(int n, int stride, int k, int last, Real* A, Real* b, Real* L) {
  const Real inverse = Real(1.0) / A[k * stride + k];
  for (int i = k + 1; i < last; ++i) {
    const Real l = A[i * stride + k] * inverse;
    subtract_row(n, stride, i, k, l, A, b);
    if (L != nullptr) L[i * stride + k] = l;
  }
  A[k * stride + k] = inverse;
  return inverse;
}

/// b <- U^-1 b of an upper triangle with its diagonal inverted.
template <class Real>
inline void substitute(int n, int stride, const Real* A, Real* b) {
#pragma GCC unroll 12
  for (int k = n - 1; k >= 0; --k) {
    const Real x = b[k] * A[k * stride + k];
    b[k] = x;
#pragma GCC unroll 12
    for (int i = 0; i < k; ++i) b[i] -= A[i * stride + k] * x;
  }
}

/// A x = b by elimination without exchanges, [n x stride] by rows, in place: b becomes x, A is
/// lost but for its upper triangle. What a small pivot spoils the caller must find in the residual.
/// N: n where it is known, or 0. L: as of eliminate_four().
template <int N, class Real>
inline void eliminate(int rows, int stride, Real* A, Real* b, Real* L = nullptr) {
  const int n = N > 0 ? N : rows;
  int first = 0;
  for (; N == 0 && first + 4 <= n; first += 4) {
    Real inverse[4];
    for (int k = 0; k < 4; ++k)
      inverse[k] = eliminate_one(n, stride, first + k, first + 4, A, b, L);
    eliminate_four(n, stride, first, inverse, A, b, L);
  }
#pragma GCC unroll 12
  for (int k = first; k < n; ++k) eliminate_one(n, stride, k, n, A, b, L);
  substitute(n, stride, A, b);
}

/// b <- A^-1 b by the triangle that elimination left of a symmetric A.
template <class Real>
inline void solve_again(int n, int stride, const Real* A, Real* b) {
  for (int k = 0; k < n; ++k) {
    const Real* row = A + k * stride;
    const Real x = b[k] * row[k];
#pragma GCC ivdep
    for (int j = k + 1; j < n; ++j) b[j] -= row[j] * x;
  }
  substitute(n, stride, A, b);
}

/// b <- A^-1 b by the triangles that elimination left of any A.
template <class Real>
inline void solve_again(int n, int stride, const Real* L, const Real* A, Real* b) {
  for (int k = 0; k < n; ++k) {
    const Real x = b[k];
    for (int i = k + 1; i < n; ++i) b[i] -= L[i * stride + k] * x;
  }
  substitute(n, stride, A, b);
}

/// solve_again() for one world of many rows, whose stride is a multiple of eight: it sums eight
/// parts, whatever the width of registers is.
inline void solve_again_wide(int n, int stride, const double* A, double* b) {
  constexpr int kParts = 8;
  const auto next_part = [](int k) { return (k + kParts) / kParts * kParts; };
  for (int j = n; j < stride; ++j) b[j] = 0.0;
  for (int k = 0; k < n; ++k) {
    const double* row = A + k * stride;
    const double x = b[k] * row[k];
    const int from = next_part(k);
    for (int j = k + 1; j < from; ++j) b[j] -= row[j] * x;
    for (int j = from; j < stride; j += kWide) wide(b + j) -= wide(row + j) * x;
  }
  for (int k = n - 1; k >= 0; --k) {
    const double* row = A + k * stride;
    const int from = next_part(k);
    Wide sums[kParts / kWide] = {};
    for (int j = from; j < stride; j += kParts) {
      for (int m = 0; m < kParts; m += kWide)
        sums[m / kWide] += wide(row + j + m) * wide(b + j + m);
    }
    double x = b[k];
    for (int j = k + 1; j < from; ++j) x -= row[j] * b[j];
    for (int m = 0; m < kParts; ++m) x -= sums[m / kWide][m % kWide];
    b[k] = x * row[k];
  }
}

/// `Rows` rows from i on of a symmetric matrix, and of b, less their parts of four pivot rows.
template <int Rows>
inline __attribute__((always_inline)) void subtract_pivots(
    int stride, int i, int first, const double* inverse, double* A, double* b) {
  const double* p = A + first * stride;
  double l[Rows][4];
  for (int r = 0; r < Rows; ++r) {
    for (int k = 0; k < 4; ++k) l[r][k] = p[k * stride + i + r] * inverse[k];
  }
  for (int j = i / kWide * kWide; j < stride; j += kWide) {
    const Wide x[4] = {
        wide(p + j), wide(p + stride + j), wide(p + 2 * stride + j), wide(p + 3 * stride + j)};
    for (int r = 0; r < Rows; ++r)
      wide(A + (i + r) * stride + j) -=
          (x[0] * l[r][0] + x[1] * l[r][1]) + (x[2] * l[r][2] + x[3] * l[r][3]);
  }
  for (int r = 0; r < Rows; ++r) {
    for (int k = 0; k < 4; ++k) b[i + r] -= l[r][k] * b[first + k];
  }
}

/// As eliminate() of a symmetric A of one world, of which the upper triangle is read.
inline void eliminate_symmetric(int n, int stride, double* A, double* b) {
  double inverse[4];
  for (int first = 0; first < n; first += 4) {
    const int last = first + 4 < n ? first + 4 : n;
    for (int k = first; k < last; ++k) {
      for (int m = first; m < k; ++m)
        subtract_row(n, stride, k, m, A[m * stride + k] * inverse[m - first], A, b);
      inverse[k - first] = 1.0 / A[k * stride + k];
    }
    int i = last;
    for (; i + 1 < n; i += 2) subtract_pivots<2>(stride, i, first, inverse, A, b);
    if (i < n) subtract_pivots<1>(stride, i, first, inverse, A, b);
    for (int k = first; k < last; ++k) A[k * stride + k] = inverse[k - first];
  }
  substitute(n, stride, A, b);
}

}  // namespace STICTION_ISA
}  // namespace stiction
