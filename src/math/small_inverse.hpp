#pragma once

namespace stiction {

/// A [n x n] <- A^-1 by Gauss and Jordan's elimination, rows exchanged. False if A is singular.
template <int n>
bool invert(double* A) {
  double B[n][2 * n] = {};
  for (int i = 0; i < n; ++i) {
    for (int j = 0; j < n; ++j) B[i][j] = A[n * i + j];
    B[i][n + i] = 1.0;
  }
  const auto size = [](double x) { return x < 0.0 ? -x : x; };
  for (int k = 0; k < n; ++k) {
    int pivot = k;
    for (int i = k + 1; i < n; ++i) {
      if (size(B[i][k]) > size(B[pivot][k])) pivot = i;
    }
    if (!(size(B[pivot][k]) > 0.0)) return false;
    for (int j = 0; j < 2 * n; ++j) {
      const double x = B[k][j];
      B[k][j] = B[pivot][j];
      B[pivot][j] = x;
    }
    for (int i = 0; i < n; ++i) {
      if (i == k) continue;
      const double f = B[i][k] / B[k][k];
      for (int j = k; j < 2 * n; ++j) B[i][j] -= f * B[k][j];
    }
  }
  for (int i = 0; i < n; ++i) {
    for (int j = 0; j < n; ++j) A[n * i + j] = B[i][n + j] / B[i][i];
  }
  return true;
}

}  // namespace stiction
