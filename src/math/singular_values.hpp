#pragma once

namespace stiction {

/// Singular values of A (column-major, rows x columns, contiguous), largest first, by one-sided
/// Jacobi rotations (Hestenes 1958; de Rijk 1989): columns are turned in pairs until all are at
/// right angles. A becomes U diag(values); `right` [columns x columns], if given, receives V by
/// columns, A = U diag(values) V^T. Small values are as accurate as A's columns allow. No
/// allocation. False if it has not converged, or for what is not finite.
bool singular_values(double* A, int rows, int columns, double* values, double* right = nullptr);

}  // namespace stiction
