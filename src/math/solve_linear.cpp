#include "stiction/math/solve_linear.hpp"

#include <cmath>
#include <utility>

#include "stiction/math/clones.hpp"

namespace stiction {

STICTION_CLONES bool solve_linear(double* __restrict A, int n, int stride, double* __restrict b) {
  for (int k = 0; k < n; ++k) {
    int pivot = k;
    double best = std::fabs(A[static_cast<std::size_t>(k) * stride + k]);
    for (int i = k + 1; i < n; ++i) {
      const double x = std::fabs(A[static_cast<std::size_t>(i) * stride + k]);
      if (x > best) {
        best = x;
        pivot = i;
      }
    }
    if (!(best > 0.0)) return false;
    double* row_k = A + static_cast<std::size_t>(k) * stride;
    if (pivot != k) {
      double* other = A + static_cast<std::size_t>(pivot) * stride;
      for (int j = k; j < n; ++j) std::swap(row_k[j], other[j]);
      std::swap(b[k], b[pivot]);
    }
    const double inverse = 1.0 / row_k[k];
    // Four rows at a time: the pivot row is loaded once for all of them.
    int i = k + 1;
    for (; i + 3 < n; i += 4) {
      double* r0 = A + static_cast<std::size_t>(i) * stride;
      double *r1 = r0 + stride, *r2 = r1 + stride, *r3 = r2 + stride;
      const double l0 = r0[k] * inverse, l1 = r1[k] * inverse, l2 = r2[k] * inverse, l3 = r3[k] * inverse;
#pragma GCC ivdep
      for (int j = k + 1; j < n; ++j) {
        const double x = row_k[j];
        r0[j] -= l0 * x;
        r1[j] -= l1 * x;
        r2[j] -= l2 * x;
        r3[j] -= l3 * x;
      }
      b[i] -= l0 * b[k];
      b[i + 1] -= l1 * b[k];
      b[i + 2] -= l2 * b[k];
      b[i + 3] -= l3 * b[k];
    }
    for (; i < n; ++i) {
      double* row_i = A + static_cast<std::size_t>(i) * stride;
      const double l = row_i[k] * inverse;
#pragma GCC ivdep
      for (int j = k + 1; j < n; ++j) row_i[j] -= l * row_k[j];
      b[i] -= l * b[k];
    }
  }
  for (int k = n - 1; k >= 0; --k) {
    const double* row_k = A + static_cast<std::size_t>(k) * stride;
    double sum = b[k];
    for (int j = k + 1; j < n; ++j) sum -= row_k[j] * b[j];
    b[k] = sum / row_k[k];
  }
  return true;
}

STICTION_CLONES bool solve_symmetric(double* __restrict A, int n, int stride, double* __restrict b) {
  for (int k = 0; k < n; ++k) {
    double* row_k = A + static_cast<std::size_t>(k) * stride;
    if (!(row_k[k] > 0.0)) return false;
    const double inverse = 1.0 / row_k[k];
    int i = k + 1;
    for (; i + 3 < n; i += 4) {
      double* r0 = A + static_cast<std::size_t>(i) * stride;
      double *r1 = r0 + stride, *r2 = r1 + stride, *r3 = r2 + stride;
      const double l0 = row_k[i] * inverse, l1 = row_k[i + 1] * inverse, l2 = row_k[i + 2] * inverse,
                   l3 = row_k[i + 3] * inverse;
#pragma GCC ivdep
      for (int j = i; j < n; ++j) {
        const double x = row_k[j];
        r0[j] -= l0 * x;
        r1[j] -= l1 * x;
        r2[j] -= l2 * x;
        r3[j] -= l3 * x;
      }
      b[i] -= l0 * b[k];
      b[i + 1] -= l1 * b[k];
      b[i + 2] -= l2 * b[k];
      b[i + 3] -= l3 * b[k];
    }
    for (; i < n; ++i) {
      double* row_i = A + static_cast<std::size_t>(i) * stride;
      const double l = row_k[i] * inverse;
#pragma GCC ivdep
      for (int j = i; j < n; ++j) row_i[j] -= l * row_k[j];
      b[i] -= l * b[k];
    }
  }
  for (int k = n - 1; k >= 0; --k) {
    const double* row_k = A + static_cast<std::size_t>(k) * stride;
    double sum = b[k];
    for (int j = k + 1; j < n; ++j) sum -= row_k[j] * b[j];
    b[k] = sum / row_k[k];
  }
  return true;
}

}  // namespace stiction
