#pragma once

#include "stiction/math/lanes.hpp"

namespace stiction {
inline namespace STICTION_ISA {

/// Rows of A below `last` less the four pivot rows [first, first + 4), whose inverse pivots are
/// given: the numbers of four eliminations one after the other, each entry read and written once.
template <class Real>
inline void eliminate_four(int n, int first, const Real* inverse, Real* A, Real* b) {
  const Real* p[4];
  for (int k = 0; k < 4; ++k) p[k] = A + (first + k) * n;
  for (int i = first + 4; i < n; ++i) {
    Real* row = A + i * n;
    Real l[4];
    for (int k = 0; k < 4; ++k) {
      Real x = row[first + k];
      for (int m = 0; m < k; ++m) x -= l[m] * p[m][first + k];
      l[k] = x * inverse[k];
    }
    for (int j = first + 4; j < n; ++j)
      row[j] = (((row[j] - l[0] * p[0][j]) - l[1] * p[1][j]) - l[2] * p[2][j]) - l[3] * p[3][j];
    for (int k = 0; k < 4; ++k) b[i] -= l[k] * b[first + k];
  }
}

/// One elimination in the rows [k + 1, last); leaves 1 / pivot on the diagonal.
template <class Real>
inline Real eliminate_one(int n, int k, int last, Real* A, Real* b) {
  const Real* pivot = A + k * n;
  const Real inverse = Real(1.0) / pivot[k];
  for (int i = k + 1; i < last; ++i) {
    Real* row = A + i * n;
    const Real l = row[k] * inverse;
#pragma GCC unroll 12
    for (int j = k + 1; j < n; ++j) row[j] -= l * pivot[j];
    b[i] -= l * b[k];
  }
  A[k * n + k] = inverse;
  return inverse;
}

/// A x = b by elimination without exchanges, [n x n] by rows, in place: b becomes x, A is lost.
/// What a small pivot spoils the caller must find in the residual. N: n where it is known, or 0.
template <int N, class Real>
inline void eliminate(int rows, Real* A, Real* b) {
  const int n = N > 0 ? N : rows;
  int first = 0;
  for (; N == 0 && first + 4 <= n; first += 4) {
    Real inverse[4];
    for (int k = 0; k < 4; ++k) inverse[k] = eliminate_one(n, first + k, first + 4, A, b);
    eliminate_four(n, first, inverse, A, b);
  }
#pragma GCC unroll 12
  for (int k = first; k < n; ++k) eliminate_one(n, k, n, A, b);
#pragma GCC unroll 12
  for (int k = n - 1; k >= 0; --k) {
    const Real* row = A + k * n;
    Real sum = b[k];
#pragma GCC unroll 12
    for (int j = k + 1; j < n; ++j) sum -= row[j] * b[j];
    b[k] = sum * row[k];
  }
}

}  // namespace STICTION_ISA
}  // namespace stiction
