#pragma once

#include <algorithm>
#include <cmath>

// The unit Lorentz cone {||x_T|| <= x_N} of R^3 in the order (t1, t2, n) and its Jordan algebra:
// x o y = (x_N y_T + y_N x_T, x . y), det x = x_N^2 - ||x_T||^2, unit e = (0, 0, 1).

namespace stiction::lorentz {

inline double dot(const double* x, const double* y) {
  return x[0] * y[0] + x[1] * y[1] + x[2] * y[2];
}
inline double tangent(const double* x) { return std::sqrt(x[0] * x[0] + x[1] * x[1]); }
inline double det(const double* x) {
  const double t = tangent(x);
  return (x[2] - t) * (x[2] + t);
}
inline void product(const double* x, const double* y, double* out) {
  const double a = x[2] * y[0] + y[2] * x[0], b = x[2] * y[1] + y[2] * x[1], c = dot(x, y);
  out[0] = a;
  out[1] = b;
  out[2] = c;
}
/// out with x o out = q.
inline void divide(const double* x, const double* q, double* out) {
  const double n = (x[2] * q[2] - x[0] * q[0] - x[1] * q[1]) / det(x);
  out[0] = (q[0] - n * x[0]) / x[2];
  out[1] = (q[1] - n * x[1]) / x[2];
  out[2] = n;
}
/// Smallest eigenvalue of the scaled pair of l and y, whose product on the central path is m e.
inline double smallest_eigenvalue(const double* l, const double* y) {
  const double inner = dot(l, y), d = det(l) * det(y);
  return d / std::max(1e-300, inner + std::sqrt(std::max(0.0, inner * inner - d)));
}
/// Largest alpha <= limit with x + alpha dx in the cone, x inside.
inline double longest_step(const double* x, const double* dx, double limit) {
  const double a = (dx[2] - tangent(dx)) * (dx[2] + tangent(dx));
  const double b = x[2] * dx[2] - x[0] * dx[0] - x[1] * dx[1], c = det(x);
  const double discriminant = b * b - a * c;
  if (discriminant < 0.0) return limit;
  const double divisor = std::sqrt(discriminant) - b;
  return divisor > 0.0 ? std::min(limit, std::max(0.0, c) / divisor) : limit;
}

/// Nesterov and Todd's scaling: the symmetric W with W l = W^-1 y.
struct Scaling {
  double w[3], beta;

  Scaling(const double* l, const double* y) {
    const double dl = std::sqrt(det(l)), dy = std::sqrt(det(y));
    const double s[3] = {y[0] / dy, y[1] / dy, y[2] / dy};
    const double z[3] = {l[0] / dl, l[1] / dl, l[2] / dl};
    const double k = 0.5 / std::sqrt(0.5 * (1.0 + dot(s, z)));
    w[0] = k * (s[0] - z[0]);
    w[1] = k * (s[1] - z[1]);
    w[2] = k * (s[2] + z[2]);
    beta = std::sqrt(dy / dl);
  }
  void apply(const double* v, double* out) const { apply(v, 1.0, beta, out); }
  void apply_inverse(const double* v, double* out) const { apply(v, -1.0, 1.0 / beta, out); }
  /// W^2 = beta^2 (2 w w^T - diag(-1, -1, 1)).
  double squared(int r, int c) const {
    const double unit = r == c ? (r == 2 ? -1.0 : 1.0) : 0.0;
    return beta * beta * (2.0 * w[r] * w[c] + unit);
  }

 private:
  void apply(const double* v, double sign, double factor, double* out) const {
    const double x = sign * w[0], y = sign * w[1], a = x * v[0] + y * v[1];
    const double k = a / (1.0 + w[2]) + v[2];
    const double t1 = factor * (v[0] + x * k), t2 = factor * (v[1] + y * k);
    out[2] = factor * (a + w[2] * v[2]);
    out[0] = t1;
    out[1] = t2;
  }
};

}  // namespace stiction::lorentz
