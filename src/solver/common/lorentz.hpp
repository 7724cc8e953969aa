#pragma once

#include "stiction/contact/cone.hpp"

#include <algorithm>
#include <cmath>

// The unit Lorentz cone {||x_T|| <= x_N} of R^D, the normal last, and its Jordan algebra:
// x o y = (x_N y_T + y_N x_T, x . y), det x = x_N^2 - ||x_T||^2, unit e = (0, ..., 0, 1).

namespace stiction::lorentz {

using circular::tangent;

template <int D>
inline double dot(const double* x, const double* y) {
  double sum = x[0] * y[0];
  for (int r = 1; r < D; ++r) sum += x[r] * y[r];
  return sum;
}
template <int D>
inline double det(const double* x) {
  const double t = tangent<D>(x);
  return (x[D - 1] - t) * (x[D - 1] + t);
}
/// x_N y_N - x_T . y_T
template <int D>
inline double det(const double* x, const double* y) {
  double sum = x[D - 1] * y[D - 1];
  for (int r = 0; r < D - 1; ++r) sum -= x[r] * y[r];
  return sum;
}
template <int D>
inline void product(const double* x, const double* y, double* out) {
  const double xn = x[D - 1], yn = y[D - 1], n = dot<D>(x, y);
  for (int r = 0; r < D - 1; ++r) out[r] = xn * y[r] + yn * x[r];
  out[D - 1] = n;
}
/// out with x o out = q.
template <int D>
inline void divide(const double* x, const double* q, double* out) {
  const double n = det<D>(x, q) / det<D>(x);
  for (int r = 0; r < D - 1; ++r) out[r] = (q[r] - n * x[r]) / x[D - 1];
  out[D - 1] = n;
}
/// Smallest eigenvalue of the scaled pair of l and y, whose product on the central path is m e.
template <int D>
inline double smallest_eigenvalue(const double* l, const double* y) {
  const double inner = dot<D>(l, y), d = det<D>(l) * det<D>(y);
  return d / std::max(1e-300, inner + std::sqrt(std::max(0.0, inner * inner - d)));
}
/// Largest alpha <= limit with x + alpha dx in the cone, x inside.
template <int D>
inline double longest_step(const double* x, const double* dx, double limit) {
  const double t = tangent<D>(dx), a = (dx[D - 1] - t) * (dx[D - 1] + t);
  const double b = det<D>(x, dx), c = det<D>(x);
  const double discriminant = b * b - a * c;
  if (discriminant < 0.0) return limit;
  const double divisor = std::sqrt(discriminant) - b;
  return divisor > 0.0 ? std::min(limit, std::max(0.0, c) / divisor) : limit;
}

/// Nesterov and Todd's scaling: the symmetric W with W l = W^-1 y.
template <int D>
struct Scaling {
  double w[D], beta;

  Scaling(const double* l, const double* y) {
    const double dl = std::sqrt(det<D>(l)), dy = std::sqrt(det<D>(y));
    double s[D], z[D];
    for (int r = 0; r < D; ++r) s[r] = y[r] / dy;
    for (int r = 0; r < D; ++r) z[r] = l[r] / dl;
    const double k = 0.5 / std::sqrt(0.5 * (1.0 + dot<D>(s, z)));
    for (int r = 0; r < D - 1; ++r) w[r] = k * (s[r] - z[r]);
    w[D - 1] = k * (s[D - 1] + z[D - 1]);
    beta = std::sqrt(dy / dl);
  }
  void apply(const double* v, double* out) const { apply(v, 1.0, beta, out); }
  void apply_inverse(const double* v, double* out) const { apply(v, -1.0, 1.0 / beta, out); }
  /// W^2 = beta^2 (2 w w^T - diag(-1, ..., -1, 1)).
  double squared(int r, int c) const {
    const double unit = r == c ? (r == D - 1 ? -1.0 : 1.0) : 0.0;
    return beta * beta * (2.0 * w[r] * w[c] + unit);
  }

 private:
  void apply(const double* v, double sign, double factor, double* out) const {
    double a = sign * w[0] * v[0];
    for (int r = 1; r < D - 1; ++r) a += sign * w[r] * v[r];
    const double k = a / (1.0 + w[D - 1]) + v[D - 1], normal = factor * (a + w[D - 1] * v[D - 1]);
    for (int r = 0; r < D - 1; ++r) out[r] = factor * (v[r] + sign * w[r] * k);
    out[D - 1] = normal;
  }
};

}  // namespace stiction::lorentz
