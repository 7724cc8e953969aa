#include "math/six_rows.hpp"

#include "math/clones.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <utility>

namespace stiction::six_rows {
namespace {

constexpr int kRows = 6, kEight = 8;

inline __attribute__((always_inline)) double sum_of(const Octo& x) {
  return (((x[0] + x[1]) + (x[2] + x[3])) + (x[4] + x[5])) + (x[6] + x[7]);
}

/// x <- (L U)^-1 x, with D = L U as factor() leaves it.
template <class T>
inline __attribute__((always_inline)) void substitute(const double* D, int width, T (&x)[kRows]) {
#pragma GCC unroll 6
  for (int k = 0; k < kRows; ++k) {
#pragma GCC unroll 6
    for (int i = k + 1; i < kRows; ++i) x[i] -= x[k] * D[i * width + k];
  }
#pragma GCC unroll 6
  for (int k = kRows - 1; k >= 0; --k) {
    x[k] *= D[k * width + k];
#pragma GCC unroll 6
    for (int i = 0; i < k; ++i) x[i] -= x[k] * D[i * width + k];
  }
}

}  // namespace

STICTION_CLONES bool factor(double* D, int width, bool symmetric, int* order) {
  double A[kRows][kRows];
  for (int i = 0; i < kRows; ++i) {
    order[i] = i;
    for (int j = 0; j < kRows; ++j) A[i][j] = D[i * width + j];
  }
#pragma GCC unroll 6
  for (int k = 0; k < kRows; ++k) {
    if (!symmetric) {
      int best = k;
      for (int i = k + 1; i < kRows; ++i) {
        if (std::abs(A[i][k]) > std::abs(A[best][k])) best = i;
      }
      if (best != k) {
        std::swap(A[k], A[best]);
        std::swap(order[k], order[best]);
      }
    }
    const double pivot = A[k][k];
    if (!(symmetric ? pivot > 0.0 : std::abs(pivot) > 0.0) || !std::isfinite(pivot)) return false;
    const double inverse = 1.0 / pivot;
#pragma GCC unroll 6
    for (int i = k + 1; i < kRows; ++i) {
      const double share = A[i][k] *= inverse;
#pragma GCC unroll 6
      for (int j = k + 1; j < kRows; ++j) A[i][j] -= share * A[k][j];
    }
    A[k][k] = inverse;
  }
  for (int i = 0; i < kRows; ++i) std::copy(A[i], A[i] + kRows, D + i * width);
  return true;
}

STICTION_CLONES void divide(
    const double* D, const int* order, int width, int eights, double* rows) {
  for (int c = 0; c < eights; ++c, rows += kEight) {
    Octo x[kRows];
    for (int k = 0; k < kRows; ++k)
      x[k] = octo(rows + static_cast<std::ptrdiff_t>(order[k]) * width);
    substitute(D, width, x);
    for (int k = 0; k < kRows; ++k) octo(rows + static_cast<std::ptrdiff_t>(k) * width) = x[k];
  }
}

STICTION_CLONES void subtract_product(const double* coefficients,
                                      const double* rows,
                                      int width,
                                      int eights,
                                      double* target,
                                      int target_width) {
  for (int c = 0; c < eights; ++c, rows += kEight, target += kEight) {
    Octo x[kRows];
    for (int q = 0; q < kRows; ++q) x[q] = octo(rows + static_cast<std::ptrdiff_t>(q) * width);
    for (int r = 0; r < kRows; ++r) {
      const double* share = coefficients + r;
      Octo sum = x[0] * share[0];
#pragma GCC unroll 6
      for (int q = 1; q < kRows; ++q) sum += x[q] * share[q * width];
      octo(target + static_cast<std::ptrdiff_t>(r) * target_width) -= sum;
    }
  }
}

STICTION_CLONES void solve_forwards(const double* D,
                                    const int* order,
                                    const double* lower,
                                    int width,
                                    int eights,
                                    const int* starts,
                                    int own,
                                    double* x) {
  double b[kRows];
  for (int k = 0; k < kRows; ++k) b[k] = x[own + order[k]];
  substitute(D, width, b);
  std::copy(b, b + kRows, x + own);
  for (int c = 0; c < eights; ++c, lower += kEight) {
    Octo sum = octo(lower) * b[0];
#pragma GCC unroll 6
    for (int q = 1; q < kRows; ++q) sum += octo(lower + q * width) * b[q];
    octo(x + starts[c]) -= sum;
  }
}

STICTION_CLONES void solve_backwards(
    const double* upper, int width, int eights, const int* starts, int own, double* x) {
  if (eights == 0) return;
  Octo sums[kRows] = {};
  for (int c = 0; c < eights; ++c, upper += kEight) {
    const Octo other = octo(x + starts[c]);
#pragma GCC unroll 6
    for (int q = 0; q < kRows; ++q) sums[q] += octo(upper + q * width) * other;
  }
  for (int q = 0; q < kRows; ++q) x[own + q] -= sum_of(sums[q]);
}

}  // namespace stiction::six_rows
