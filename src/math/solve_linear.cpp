#include "stiction/math/solve_linear.hpp"

#include "stiction/math/clones.hpp"

#include <cmath>
#include <utility>

namespace stiction {
namespace {

/// rows[first, last) -= (column k / pivot) row_k over columns [k or the row itself, end), and the
/// same for b. Four rows at a time: the pivot row is loaded once for all of them. `factor(i)` is
/// A_ik / pivot.
template <bool Symmetric>
inline __attribute__((always_inline)) void eliminate(
    double* __restrict A, int stride, double* __restrict b, int k, int last, int end) {
  const double* row_k = A + static_cast<std::size_t>(k) * stride;
  const double inverse = 1.0 / row_k[k];
  int i = k + 1;
  for (; i + 3 < last; i += 4) {
    double* r0 = A + static_cast<std::size_t>(i) * stride;
    double *r1 = r0 + stride, *r2 = r1 + stride, *r3 = r2 + stride;
    const double l0 = (Symmetric ? row_k[i] : r0[k]) * inverse,
                 l1 = (Symmetric ? row_k[i + 1] : r1[k]) * inverse,
                 l2 = (Symmetric ? row_k[i + 2] : r2[k]) * inverse,
                 l3 = (Symmetric ? row_k[i + 3] : r3[k]) * inverse;
#pragma GCC ivdep
    for (int j = Symmetric ? i : k + 1; j < end; ++j) {
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
  for (; i < last; ++i) {
    double* row_i = A + static_cast<std::size_t>(i) * stride;
    const double l = (Symmetric ? row_k[i] : row_i[k]) * inverse;
#pragma GCC ivdep
    for (int j = Symmetric ? i : k + 1; j < end; ++j) row_i[j] -= l * row_k[j];
    b[i] -= l * b[k];
  }
}

/// b_k <- (b_k - sum_j A_kj b_j) / A_kk.
inline __attribute__((always_inline)) void substitute(const double* row_k,
                                                      double* b,
                                                      int k,
                                                      int end) {
  double sum = b[k];
  for (int j = k + 1; j < end; ++j) sum -= row_k[j] * b[j];
  b[k] = sum / row_k[k];
}

}  // namespace

STICTION_CLONES bool solve_linear(
    double* __restrict A, int n, int stride, const int* end, double* __restrict b) {
  for (int k = 0; k < n; ++k) {
    // Rows that reach column k end at end[k]; a row swapped in may reach as far as the last of them
    // does.
    const int last = end[k], right = end[last - 1];
    int pivot = k;
    double best = std::fabs(A[static_cast<std::size_t>(k) * stride + k]);
    for (int i = k + 1; i < last; ++i) {
      const double x = std::fabs(A[static_cast<std::size_t>(i) * stride + k]);
      if (x > best) {
        best = x;
        pivot = i;
      }
    }
    if (!(best > 0.0)) return false;
    if (pivot != k) {
      double* row_k = A + static_cast<std::size_t>(k) * stride;
      double* other = A + static_cast<std::size_t>(pivot) * stride;
      for (int j = k; j < right; ++j) std::swap(row_k[j], other[j]);
      std::swap(b[k], b[pivot]);
    }
    eliminate<false>(A, stride, b, k, last, right);
  }
  for (int k = n - 1; k >= 0; --k)
    substitute(A + static_cast<std::size_t>(k) * stride, b, k, end[end[k] - 1]);
  return true;
}

STICTION_CLONES bool solve_symmetric(
    double* __restrict A, int n, int stride, const int* end, double* __restrict b) {
  for (int k = 0; k < n; ++k) {
    if (!(A[static_cast<std::size_t>(k) * stride + k] > 0.0)) return false;
    eliminate<true>(A, stride, b, k, end[k], end[k]);
  }
  for (int k = n - 1; k >= 0; --k)
    substitute(A + static_cast<std::size_t>(k) * stride, b, k, end[k]);
  return true;
}

}  // namespace stiction
