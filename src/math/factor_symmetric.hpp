#pragma once

namespace stiction {

/// A = U^T D U of a symmetric positive definite A (row-major, rows `stride` apart, n <= stride, of
/// which only the upper triangle is read), to be used for many right-hand sides. In place: row k
/// becomes D_kk U_kj, j > k, with 1 / D_kk on the diagonal; the entries left of it are kept.
/// `stride` is a multiple of 8; columns [n, stride) are zero. False if a pivot is not positive.
bool factor_symmetric(double* A, int n, int stride);

/// b <- A^-1 b with that factor.
void substitute_symmetric(const double* A, int n, int stride, double* b);

}  // namespace stiction
