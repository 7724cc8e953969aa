#include "collision/derivatives/ties.hpp"

#include <algorithm>

namespace stiction::detail {
namespace {

constexpr double kTie = 1e-7;          // of the size: features as deep as the deepest
constexpr double kOtherNormal = 1e-3;  // [rad] from which they have another normal
constexpr double kStep = 1e-7;         // [rad], and of the size: motions to and fro
constexpr double kOther = 1e-2;        // of 1 + a rate: from which it is another one
// Motions in A's frame, about the contact, in no direction of a shape's own.
constexpr Vec3d kLinear[] = {{0.61, -0.32, 0.73}, {-0.27, 0.83, 0.49}};
constexpr Vec3d kAngular[] = {{-0.45, 0.71, 0.54}, {0.77, 0.41, -0.49}};

/// Rate of three rows along a motion.
Vec3d along(const double (&m)[3][6], const Vec3d& u, const Vec3d& w) {
  Vec3d out{0, 0, 0};
  for (int r = 0; r < 3; ++r) {
    for (int k = 0; k < 3; ++k) out[r] += m[r][k] * u[k] + m[r][3 + k] * w[k];
  }
  return out;
}

bool is_rate(const Vec3d& change, const Vec3d& rate, double step, double size) {
  return norm(change * (1.0 / step) - rate) <= kOther * (size + norm(rate));
}

}  // namespace

bool is_tied(const Shape& a,
             const Transform& X_WA,
             const Shape& b,
             const Transform& X_WB,
             const DistanceResult& at,
             const DistanceCache* cache) {
  if (!a.bounded() || !b.bounded() || at.distance >= 0.0) return false;
  const double size = bounding_radius(a) + bounding_radius(b);
  const Transform moved{X_WB.R, X_WB.p - at.normal * (kTie * size)};
  DistanceCache start;
  if (cache != nullptr) start = *cache;
  return norm(distance(a, X_WA, b, moved, {}, &start).normal - at.normal) > kOtherNormal;
}

bool agrees_with_queries(const Shape& a,
                         const Transform& X_WA,
                         const Shape& b,
                         const Transform& X_WB,
                         const DistanceResult& at,
                         const DistanceDerivatives& d,
                         const DistanceCache* cache) {
  const auto radius = [](const Shape& s) { return s.bounded() ? bounding_radius(s) : 0.0; };
  const double size = radius(a) + radius(b);
  for (int i = 0; i < 4; ++i) {
    const double step = i % 2 == 0 ? kStep : -kStep;
    const Vec3d w = X_WA.R * kAngular[i / 2],
                u = X_WA.R * kLinear[i / 2] * size - cross(w, at.witness_b - X_WB.p);
    double turn[4] = {0.0, 0.0, 0.0, 1.0};
    integrate_quaternion(turn, w * step);
    const Transform moved{rotation_from_quaternion(turn) * X_WB.R, X_WB.p + u * step};
    DistanceCache start;
    if (cache != nullptr) start = *cache;
    const DistanceResult r = distance(a, X_WA, b, moved, {}, &start);
    if (!is_rate(r.normal - at.normal, along(d.normal, u, w), step, 1.0)) return false;
    if (!is_rate(r.witness_a - at.witness_a, along(d.witness_a, u, w), step, size)) return false;
    if (!is_rate(r.witness_b - at.witness_b, along(d.witness_b, u, w), step, size)) return false;
  }
  return true;
}

}  // namespace stiction::detail
