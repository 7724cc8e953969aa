#pragma once

namespace stiction {

/// A = V diag(w) V^T of a symmetric matrix (row-major, n x n, contiguous; destroyed), by
/// Householder tridiagonalisation and implicit QL (Wilkinson and Reinsch 1971). Row i of `vectors`
/// [n x n] is the unit eigenvector of values[i]; no order. `scratch` [7 n + 24]. For some tens of
/// rows. No allocation. False if QL has not converged, or for what is not finite.
bool symmetric_eigen(double* A, int n, double* values, double* vectors, double* scratch);

}  // namespace stiction
