#include "stiction/math/symmetric_eigen.hpp"

#include "stiction/math/clones.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>

namespace stiction {
namespace {

constexpr int kMostSweeps = 60;  // of one eigenvalue; two or three are usual

/// Eight partial sums, added in order.
inline __attribute__((always_inline)) double dot(const double* a, const double* b, int n) {
  Octo sum{};
  int i = 0;
  for (; i + 7 < n; i += 8) sum += octo(a + i) * octo(b + i);
  double tail = 0.0;
  for (; i < n; ++i) tail += a[i] * b[i];
  return (((sum[0] + sum[1]) + (sum[2] + sum[3])) + ((sum[4] + sum[5]) + (sum[6] + sum[7]))) + tail;
}

/// Reflections H_k = 1 - beta v v^T that leave A tridiagonal: diagonal d, next to it e. Row k of A
/// keeps v from column k + 1 on, e[k] of the reflector's scale is returned in `beta`.
STICTION_CLONES void tridiagonalise(
    double* A, int n, double* d, double* e, double* beta, double* p) {
  for (int k = 0; k + 2 < n; ++k) {
    double* v = A + static_cast<std::size_t>(k) * n;  // row k = column k
    const int first = k + 1, size = n - first;
    const double norm = std::sqrt(dot(v + first, v + first, size));
    e[k] = v[first] > 0.0 ? -norm : norm;
    const double head = v[first] - e[k];
    beta[k] = norm > 0.0 ? -1.0 / (e[k] * head) : 0.0;  // 2 / v^T v
    if (beta[k] == 0.0) continue;
    v[first] = head;
    double vp = 0.0;
    for (int i = first; i < n; ++i) {
      p[i] = beta[k] * dot(A + static_cast<std::size_t>(i) * n + first, v + first, size);
      vp += v[i] * p[i];
    }
    const double half = 0.5 * beta[k] * vp;
    for (int i = first; i < n; ++i) p[i] -= half * v[i];
    for (int i = first; i < n; ++i) {
      double* row = A + static_cast<std::size_t>(i) * n;
      const double vi = v[i], pi = p[i];
      for (int j = first; j < n; ++j) row[j] -= vi * p[j] + pi * v[j];
    }
  }
  for (int k = 0; k < n; ++k) d[k] = A[static_cast<std::size_t>(k) * n + k];
  if (n > 1) e[n - 2] = A[static_cast<std::size_t>(n - 2) * n + n - 1];
}

/// Rows of Q^T = H_(n-3) ... H_0, from the last reflector back.
STICTION_CLONES void accumulate(const double* A, int n, const double* beta, double* Q) {
  std::fill(Q, Q + static_cast<std::size_t>(n) * n, 0.0);
  for (int i = 0; i < n; ++i) Q[static_cast<std::size_t>(i) * n + i] = 1.0;
  for (int k = n - 3; k >= 0; --k) {
    const double* v = A + static_cast<std::size_t>(k) * n;
    for (int i = k + 1; i < n; ++i) {
      double* row = Q + static_cast<std::size_t>(i) * n;
      const double t = beta[k] * dot(row + k + 1, v + k + 1, n - k - 1);
      for (int j = k + 1; j < n; ++j) row[j] -= t * v[j];
    }
  }
}

/// One implicit QL sweep from row m up to row l with Wilkinson's shift.
STICTION_CLONES void sweep(double* d, double* e, double* V, int n, int l, int m) {
  double g = (d[l + 1] - d[l]) / (2.0 * e[l]);
  const double r0 = std::sqrt(g * g + 1.0);
  g = d[m] - d[l] + e[l] / (g + (g >= 0.0 ? r0 : -r0));
  double s = 1.0, c = 1.0, p = 0.0;
  for (int i = m - 1; i >= l; --i) {
    const double f = s * e[i], b = c * e[i], r = std::sqrt(f * f + g * g);
    e[i + 1] = r;
    if (r == 0.0) {  // splits here
      d[i + 1] -= p;
      e[m] = 0.0;
      return;
    }
    s = f / r;
    c = g / r;
    g = d[i + 1] - p;
    const double t = (d[i] - g) * s + 2.0 * c * b;
    p = s * t;
    d[i + 1] = g + p;
    g = c * t - b;
    double* low = V + static_cast<std::size_t>(i) * n;
    double* high = low + n;
    for (int k = 0; k < n; ++k) {
      const double x = low[k], y = high[k];
      high[k] = s * x + c * y;
      low[k] = c * x - s * y;
    }
  }
  d[l] -= p;
  e[l] = g;
  e[m] = 0.0;
}

}  // namespace

bool symmetric_eigen(double* A, int n, double* values, double* vectors, double* scratch) {
  if (n == 0) return true;
  double *d = values, *e = scratch, *p = vectors, *beta = vectors + n;
  if (n == 1) {
    d[0] = A[0];
    vectors[0] = 1.0;
    return std::isfinite(d[0]);
  }
  tridiagonalise(A, n, d, e, beta, p);
  // `vectors` lent its first rows to the reflections; the last row of A is free for their scales.
  double* scales = A + static_cast<std::size_t>(n - 1) * n;
  std::copy(beta, beta + n - 2, scales);
  accumulate(A, n, scales, vectors);
  e[n - 1] = 0.0;
  double norm = 0.0;
  for (int i = 0; i < n; ++i) {
    const double size = std::abs(d[i]) + std::abs(e[i]);
    if (!std::isfinite(size)) return false;
    norm = std::max(norm, size);
  }
  constexpr double kRounding = std::numeric_limits<double>::epsilon();
  for (int l = 0; l < n; ++l) {
    for (int count = 0;; ++count) {
      int m = l;
      while (m + 1 < n &&
             std::abs(e[m]) > kRounding * (std::abs(d[m]) + std::abs(d[m + 1]) + 0.1 * norm))
        ++m;
      if (m == l) break;
      if (count == kMostSweeps) return false;
      sweep(d, e, vectors, n, l, m);
    }
  }
  for (int i = 0; i < n; ++i) {
    if (!std::isfinite(d[i])) return false;
  }
  return true;
}

}  // namespace stiction
