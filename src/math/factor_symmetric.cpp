#include "math/factor_symmetric.hpp"

#include "math/clones.hpp"

#include <algorithm>
#include <cstddef>

namespace stiction {
namespace {

/// Four pivots at once, so that each entry behind them is loaded and stored once for four updates,
/// and whole groups of eight columns.
constexpr int kPivots = 4, kColumns = 8, kHalf = 4;

/// Row i -= sum_p U_pi row_p over the columns from i's group on, for the pivots k + p, p < count,
/// whose diagonals hold 1 / D already.
inline __attribute__((always_inline)) void update_row(
    double* A, int stride, int k, int count, int i) {
  double* row_i = A + static_cast<std::size_t>(i) * stride;
  for (int p = 0; p < count; ++p) {
    const double* row_p = A + static_cast<std::size_t>(k + p) * stride;
    const double u = row_p[i] * row_p[k + p];
    int j = i;
    for (; j % kHalf != 0; ++j) row_i[j] -= u * row_p[j];
    if (j % kColumns != 0) {
      quad(row_i + j) -= u * quad(row_p + j);
      j += kHalf;
    }
    for (; j < stride; j += kColumns) octo(row_i + j) -= u * octo(row_p + j);
  }
}

/// The same for four pivots.
inline __attribute__((always_inline)) void update_row_by_four(double* A, int stride, int k, int i) {
  const double* p0 = A + static_cast<std::size_t>(k) * stride;
  const double *p1 = p0 + stride, *p2 = p1 + stride, *p3 = p2 + stride;
  double* row = A + static_cast<std::size_t>(i) * stride;
  const double u0 = p0[i] * p0[k], u1 = p1[i] * p1[k + 1], u2 = p2[i] * p2[k + 2],
               u3 = p3[i] * p3[k + 3];
  int j = i;
  for (; j % kHalf != 0; ++j) row[j] -= (u0 * p0[j] + u1 * p1[j]) + (u2 * p2[j] + u3 * p3[j]);
  if (j % kColumns != 0) {
    quad(row + j) -=
        (u0 * quad(p0 + j) + u1 * quad(p1 + j)) + (u2 * quad(p2 + j) + u3 * quad(p3 + j));
    j += kHalf;
  }
  for (; j < stride; j += kColumns) {
    octo(row + j) -=
        (u0 * octo(p0 + j) + u1 * octo(p1 + j)) + (u2 * octo(p2 + j) + u3 * octo(p3 + j));
  }
}

/// Row k . x over columns [from, n): eight partial sums, added in order.
inline __attribute__((always_inline)) double dot(const double* row_k,
                                                 const double* x,
                                                 int from,
                                                 int n) {
  Quad even{}, odd{};
  int j = from;
  for (; j + 7 < n; j += 8) {
    even += quad(row_k + j) * quad(x + j);
    odd += quad(row_k + j + 4) * quad(x + j + 4);
  }
  double tail = 0.0;
  for (; j < n; ++j) tail += row_k[j] * x[j];
  even += odd;
  return ((even[0] + even[1]) + (even[2] + even[3])) + tail;
}

/// b <- D^-1 U^-T b, four rows at a time.
inline __attribute__((always_inline)) void substitute_forward(const double* A,
                                                              int n,
                                                              int stride,
                                                              double* b) {
  for (int k = 0; k < n; k += kPivots) {
    const int last = std::min(n, k + kPivots);
    double t[kPivots] = {};
    for (int p = k; p < last; ++p) {
      const double* row = A + static_cast<std::size_t>(p) * stride;
      t[p - k] = b[p] *= row[p];
      for (int i = p + 1; i < last; ++i) b[i] -= row[i] * t[p - k];
    }
    if (last == n) return;
    const double* p0 = A + static_cast<std::size_t>(k) * stride;
    const double *p1 = p0 + stride, *p2 = p1 + stride, *p3 = p2 + stride;
#pragma GCC ivdep
    for (int j = last; j < n; ++j)
      b[j] -= (t[0] * p0[j] + t[1] * p1[j]) + (t[2] * p2[j] + t[3] * p3[j]);
  }
}

}  // namespace

STICTION_CLONES bool factor_symmetric(double* A, int n, int stride) {
  for (int k = 0; k < n; k += kPivots) {
    const int count = std::min(kPivots, n - k);
    for (int p = 0; p < count; ++p) {
      update_row(A, stride, k, p, k + p);
      double& pivot = A[static_cast<std::size_t>(k + p) * stride + k + p];
      if (!(pivot > 0.0)) return false;
      pivot = 1.0 / pivot;
    }
    for (int i = k + kPivots; i < n; ++i) update_row_by_four(A, stride, k, i);
  }
  return true;
}

STICTION_CLONES void substitute_symmetric(const double* A, int n, int stride, double* b) {
  substitute_forward(A, n, stride, b);
  // The rows hold D U: b_k - (row_k . b) / D_kk.
  for (int k = n - 1; k >= 0; --k) {
    const double* row = A + static_cast<std::size_t>(k) * stride;
    b[k] -= dot(row, b, k + 1, n) * row[k];
  }
}

}  // namespace stiction
