#include "diagonal_law.hpp"

#include <algorithm>
#include <cmath>

namespace stiction {
namespace {

/// l = (clip(p_T, mu p_N), p_N) where p_N > 0: a sliding contact has c_N = 0 and c_T against l_T.
void coulomb(double mu, const double* W, const double* p, double* l, double* slope) {
  if (p[2] <= 0.0) return;
  l[2] = p[2];
  if (slope) slope[8] = 1.0 / W[2];
  if (mu == 0.0) return;
  const double t = std::sqrt(p[0] * p[0] + p[1] * p[1]), most = mu * p[2];
  if (t <= most) {
    l[0] = p[0];
    l[1] = p[1];
    if (slope) slope[0] = slope[4] = 1.0 / W[0];
    return;
  }
  const double dx = p[0] / t, dy = p[1] / t, side = most / (t * W[0]);
  l[0] = most * dx;
  l[1] = most * dy;
  if (!slope) return;
  slope[0] = side * dy * dy;
  slope[1] = slope[3] = -side * dx * dy;
  slope[4] = side * dx * dx;
  slope[2] = mu * dx / W[2];
  slope[5] = mu * dy / W[2];
}

/// The nearest point of the cone in the metric W. In units sqrt(W) l the metric is Euclidean and
/// the cone has the slope mu'.
void convex(double mu, const double* W, const double* p, double* l, double* slope) {
  const double a = std::sqrt(W[0]), b = std::sqrt(W[2]), m = mu * a / b;
  const double x = a * p[0], y = a * p[1], n = b * p[2], t = std::sqrt(x * x + y * y);
  if (n <= -m * t) return;
  if (t <= m * n) {
    std::copy(p, p + 3, l);
    if (slope) {
      slope[0] = slope[4] = 1.0 / W[0];
      slope[8] = 1.0 / W[2];
    }
    return;
  }
  const double scale = 1.0 / (1.0 + m * m), normal = (n + m * t) * scale;
  const double dx = t > 0.0 ? x / t : 0.0, dy = t > 0.0 ? y / t : 0.0;
  l[0] = m * normal * dx / a;
  l[1] = m * normal * dy / a;
  l[2] = normal / b;
  if (!slope) return;
  const double radial = m * m * scale, side = t > 0.0 ? m * normal / t : 0.0;
  slope[0] = (radial * dx * dx + side * dy * dy) / W[0];
  slope[1] = slope[3] = (radial - side) * dx * dy / W[0];
  slope[4] = (radial * dy * dy + side * dx * dx) / W[0];
  slope[2] = slope[6] = m * scale * dx / (a * b);
  slope[5] = slope[7] = m * scale * dy / (a * b);
  slope[8] = scale / W[2];
}

}  // namespace

void apply_law(const ConstraintSet& set,
               Law law,
               const double* W,
               const double* p,
               int dim,
               double* l,
               double* slope) {
  std::fill(l, l + dim, 0.0);
  if (slope) std::fill(slope, slope + 9, 0.0);
  if (set.kind == SetKind::kCone)
    return law == Law::kCoulomb ? coulomb(set.mu, W, p, l, slope) : convex(set.mu, W, p, l, slope);
  for (int r = 0; r < dim; ++r) {
    l[r] = p[r];
    if (set.kind == SetKind::kNonNegative) l[r] = std::max(0.0, p[r]);
    if (set.kind == SetKind::kBox) l[r] = std::min(set.upper, std::max(set.lower, p[r]));
    if (slope && l[r] == p[r]) slope[3 * r + r] = 1.0 / W[r];
  }
}

}  // namespace stiction
