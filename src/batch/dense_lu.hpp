#pragma once

#include "stiction/math/lanes.hpp"

namespace stiction {
inline namespace STICTION_ISA {

/// A x = b by elimination without exchanges, [n x n] by rows, in place: b becomes x, A is lost.
/// What a small pivot spoils the caller must find in the residual. N: n where it is known, or 0.
template <int N, class Real>
inline void eliminate(int rows, Real* A, Real* b) {
  const int n = N > 0 ? N : rows;
#pragma GCC unroll 12
  for (int k = 0; k < n; ++k) {
    const Real* pivot = A + k * n;
    const Real inverse = Real(1.0) / pivot[k];
    for (int i = k + 1; i < n; ++i) {
      Real* row = A + i * n;
      const Real l = row[k] * inverse;
#pragma GCC unroll 12
      for (int j = k + 1; j < n; ++j) row[j] -= l * pivot[j];
      b[i] -= l * b[k];
    }
    A[k * n + k] = inverse;
  }
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
