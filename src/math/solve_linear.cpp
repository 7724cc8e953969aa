#include "math/solve_linear.hpp"

#include "math/clones.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace stiction {
namespace {

/// rows (k, last) -= (A_ik / A_kk) row_k over columns (k, end), and the same for b. Four rows at a
/// time: the pivot row is loaded once for all of them.
inline __attribute__((always_inline)) void eliminate(
    double* __restrict A, int stride, double* __restrict b, int k, int last, int end) {
  const double* row_k = A + static_cast<std::size_t>(k) * stride;
  const double inverse = 1.0 / row_k[k];
  int i = k + 1;
  for (; i + 3 < last; i += 4) {
    double* r0 = A + static_cast<std::size_t>(i) * stride;
    double *r1 = r0 + stride, *r2 = r1 + stride, *r3 = r2 + stride;
    const double l0 = r0[k] * inverse, l1 = r1[k] * inverse, l2 = r2[k] * inverse,
                 l3 = r3[k] * inverse;
#pragma GCC ivdep
    for (int j = k + 1; j < end; ++j) {
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
    const double l = row_i[k] * inverse;
#pragma GCC ivdep
    for (int j = k + 1; j < end; ++j) row_i[j] -= l * row_k[j];
    b[i] -= l * b[k];
  }
}

/// Row k . x over columns [from, end): eight partial sums, added in order.
inline __attribute__((always_inline)) double dot(const double* row_k,
                                                 const double* x,
                                                 int from,
                                                 int end) {
  Quad even{}, odd{};
  int j = from;
  for (; j + 7 < end; j += 8) {
    even += quad(row_k + j) * quad(x + j);
    odd += quad(row_k + j + 4) * quad(x + j + 4);
  }
  double tail = 0.0;
  for (; j < end; ++j) tail += row_k[j] * x[j];
  even += odd;
  return ((even[0] + even[1]) + (even[2] + even[3])) + tail;
}

/// Back substitution in the upper triangle whose row k ends at end_of(k), eight rows at a time:
/// what is known already is subtracted from all of them before the small triangle is solved.
template <class EndOf>
inline __attribute__((always_inline)) void substitute(
    const double* A, int n, int stride, const EndOf& end_of, double* b) {
  constexpr int kRows = 8;
  for (int last = n; last > 0; last -= kRows) {
    const int first = std::max(0, last - kRows);
    for (int k = first; k < last; ++k)
      b[k] -= dot(A + static_cast<std::size_t>(k) * stride, b, last, end_of(k));
    for (int k = last - 1; k >= first; --k) {
      b[k] /= A[static_cast<std::size_t>(k) * stride + k];
      for (int i = first; i < k; ++i) {
        if (k < end_of(i)) b[i] -= A[static_cast<std::size_t>(i) * stride + k] * b[k];
      }
    }
  }
}

/// Symmetric elimination works on four pivots at once, so that each entry behind them is loaded and
/// stored once for four updates, and on whole groups of eight columns.
constexpr int kPivots = 4, kColumns = 8;

/// Row i -= sum_p (A_pi / A_pp) row_p over columns [i, end) for the pivots k + p, p < count.
inline __attribute__((always_inline)) void update_row(
    double* A, int stride, double* b, const double* inverse, int k, int count, int i, int end) {
  double* row_i = A + static_cast<std::size_t>(i) * stride;
  for (int p = 0; p < count; ++p) {
    const double* row_p = A + static_cast<std::size_t>(k + p) * stride;
    const double l = row_p[i] * inverse[p];
    for (int j = i / kColumns * kColumns; j < end; j += kColumns)
      octo(row_i + j) -= l * octo(row_p + j);
    b[i] -= l * b[k + p];
  }
}

/// Rows i and i + 1 -= their part of four pivot rows.
inline __attribute__((always_inline)) void update_two_rows(
    double* A, int stride, double* b, const double* inverse, int k, int i, int end) {
  const double* p0 = A + static_cast<std::size_t>(k) * stride;
  const double *p1 = p0 + stride, *p2 = p1 + stride, *p3 = p2 + stride;
  double* u = A + static_cast<std::size_t>(i) * stride;
  double* w = u + stride;
  const double u0 = p0[i] * inverse[0], u1 = p1[i] * inverse[1], u2 = p2[i] * inverse[2],
               u3 = p3[i] * inverse[3];
  const double w0 = p0[i + 1] * inverse[0], w1 = p1[i + 1] * inverse[1],
               w2 = p2[i + 1] * inverse[2], w3 = p3[i + 1] * inverse[3];
  for (int j = i / kColumns * kColumns; j < end; j += kColumns) {
    const Octo x0 = octo(p0 + j), x1 = octo(p1 + j), x2 = octo(p2 + j), x3 = octo(p3 + j);
    octo(u + j) -= (u0 * x0 + u1 * x1) + (u2 * x2 + u3 * x3);
    octo(w + j) -= (w0 * x0 + w1 * x1) + (w2 * x2 + w3 * x3);
  }
  b[i] -= (u0 * b[k] + u1 * b[k + 1]) + (u2 * b[k + 2] + u3 * b[k + 3]);
  b[i + 1] -= (w0 * b[k] + w1 * b[k + 1]) + (w2 * b[k + 2] + w3 * b[k + 3]);
}

}  // namespace

STICTION_CLONES bool solve_linear(
    double* __restrict A, int n, int stride, const int* end, double* __restrict b, int* pivots) {
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
    if (pivots) pivots[k] = pivot;
    if (pivot != k) {
      double* row_k = A + static_cast<std::size_t>(k) * stride;
      double* other = A + static_cast<std::size_t>(pivot) * stride;
      for (int j = k; j < right; ++j) std::swap(row_k[j], other[j]);
      std::swap(b[k], b[pivot]);
    }
    eliminate(A, stride, b, k, last, right);
  }
  substitute(A, n, stride, [&](int k) { return end[end[k] - 1]; }, b);
  return true;
}

// Row exchanges leave the columns before the pivot alone: below the diagonal, column k holds the
// entries that were eliminated at step k, in the order of that step.
STICTION_CLONES void solve_again(
    const double* A, int n, int stride, const int* end, const int* pivots, double* b) {
  for (int k = 0; k < n; ++k) {
    std::swap(b[k], b[pivots[k]]);
    const double factor = b[k] / A[static_cast<std::size_t>(k) * stride + k];
    for (int i = k + 1; i < end[k]; ++i)
      b[i] -= A[static_cast<std::size_t>(i) * stride + k] * factor;
  }
  substitute(A, n, stride, [&](int k) { return end[end[k] - 1]; }, b);
}

STICTION_CLONES bool solve_symmetric(double* A, int n, int stride, const int* end, double* b) {
  for (int k = 0; k < n; k += kPivots) {
    const int count = std::min(kPivots, n - k), last = end[k + count - 1];
    double inverse[kPivots];
    for (int p = 0; p < count; ++p) {
      update_row(A, stride, b, inverse, k, p, k + p, last);
      const double pivot = A[static_cast<std::size_t>(k + p) * stride + k + p];
      if (!(pivot > 0.0)) return false;
      inverse[p] = 1.0 / pivot;
    }
    int i = k + count;
    for (; i + 1 < last; i += 2) update_two_rows(A, stride, b, inverse, k, i, last);
    if (i < last) update_row(A, stride, b, inverse, k, count, i, last);
  }
  substitute(A, n, stride, [&](int k) { return end[k]; }, b);
  return true;
}

}  // namespace stiction
