#pragma once

#include <cstddef>

namespace stiction {

/// Solves A x = b by LU with partial pivoting, in place: A (row-major, rows `stride` apart) is destroyed, b
/// becomes x. False if a pivot is exactly zero or not a number. Small dense systems, no allocation.
bool solve_linear(double* A, int n, int stride, double* b);

/// The same for a symmetric positive definite A, of which only the upper triangle is read: half the work.
/// False if a pivot is not positive.
bool solve_symmetric(double* A, int n, int stride, double* b);

}  // namespace stiction
