#pragma once

#include "stiction/math/constants.hpp"

#include <algorithm>

namespace stiction {

/// Solves A x = b by LU with partial pivoting, in place: A (row-major, rows `stride` apart) is
/// destroyed, b becomes x. A has a symmetric profile: row k is zero from column end[k] on, end does
/// not decrease, end[k] > k; columns up to end[end[k] - 1] are used for fill and must be zero.
/// False if a pivot is exactly zero or not a number. No allocation.
/// `pivots` [n], if given, keeps what solve_again needs.
bool solve_linear(double* A, int n, int stride, const int* end, double* b, int* pivots = nullptr);

/// Columns of row k that solve_linear and solve_symmetric may read, with fill and with the rows of
/// its group: those from end[k] on must be zero. What lies beyond is never read.
inline int used_columns(const int* end, int n, int k) {
  return padded(std::max(end[end[k] - 1], end[std::min(n - 1, k | 3)]));
}

/// Another right-hand side for the A that solve_linear left, with its pivots.
void solve_again(const double* A, int n, int stride, const int* end, const int* pivots, double* b);

/// The same for a symmetric positive definite A, of which only the upper triangle is read: half the
/// work, no fill beyond the profile. `stride` is a multiple of 8 and row k is zero from end[k] up
/// to used_columns(); what lies left of the diagonal is overwritten. False if a pivot is not
/// positive.
bool solve_symmetric(double* A, int n, int stride, const int* end, double* b);

}  // namespace stiction
