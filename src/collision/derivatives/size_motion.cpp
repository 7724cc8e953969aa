#include "collision/derivatives/size_motion.hpp"

#include <algorithm>
#include <cmath>

// A contact rests on a corner, an edge, a line, a face or a curved part of a shape. A size moves
// this part, to first order, as a rigid motion would: a radius shifts it along the normal; the
// half extents of a box, and the sizes of cylinders and cones, stretch the shape, and what the
// stretch moves along a flat part does not matter. Only the lines of a cone turn as well. Of an
// ellipsoid the point with the same normal moves.

namespace stiction::detail {
namespace {

constexpr double kAtEnd = 1e-9;  // of the length: a point this near to the end of a line is there

Vec3d unit_axis(int k) {
  Vec3d e{0, 0, 0};
  e[k] = 1.0;
  return e;
}

/// p is on the surface, as the ends of a ridge are, or a radius along d above the axis, as what is
/// clipped is: whichever fits.
Vec3d on_capsule(const Shape& s, const Vec3d& p, const Vec3d& d, int k) {
  const double r = s.size.x, half = s.size.y;
  const auto nearest = [&](const Vec3d& x) { return Vec3d{0, 0, std::clamp(x.z, -half, half)}; };
  const Vec3d core = p - d * r, below = nearest(p);
  const bool along_d = norm(core - nearest(core)) <= std::abs(norm(p - below) - r);
  if (k == 0) return along_d ? d : (p - below) * (1.0 / norm(p - below));
  return {0, 0, half > 0.0 ? (along_d ? core.z : below.z) / half : std::copysign(1.0, d.z)};
}

/// x = D^2 d / |D d|.
Vec3d on_ellipsoid(const Shape& s, const Vec3d& d, int k) {
  const Vec3d& h = s.size;
  const Vec3d e{h.x * d.x, h.y * d.y, h.z * d.z};
  const double length = norm(e);
  const Vec3d x = Vec3d{h.x * e.x, h.y * e.y, h.z * e.z} * (1.0 / length);
  return unit_axis(k) * (2.0 * e[k] / length) - x * (e[k] * d[k] / (length * length));
}

/// Across the axis by the radius, along it by the half length.
Vec3d stretched(const Shape& s, const Vec3d& p, int k) {
  const double f = 1.0 / s.size[k];
  return k == 0 ? Vec3d{p.x * f, p.y * f, 0.0} : Vec3d{0.0, 0.0, p.z * f};
}

/// Of a line from (r, -l) to (0, l) in the plane of the axis.
Vec3d turn_of_cone(const Shape& s, const Vec3d& p, int k) {
  const double r = s.size.x, l = s.size.y, rho = std::sqrt(p.x * p.x + p.y * p.y);
  if (!(std::abs(p.z) < l * (1.0 - kAtEnd) && rho > 0.0)) return {0, 0, 0};
  const Vec3d around{-p.y / rho, p.x / rho, 0.0};
  return around * ((k == 0 ? -2.0 * l : 2.0 * r) / (r * r + 4.0 * l * l));
}

/// In the frame of the shape.
Motion<double> local_motion(const Shape& s, const Vec3d& p, const Vec3d& d, int k) {
  const Vec3d none{0, 0, 0};
  switch (s.type) {
    case ShapeType::kSphere:
      return {k == 0 ? d : none, none};
    case ShapeType::kCapsule:
      return {k < 2 ? on_capsule(s, p, d, k) : none, none};
    case ShapeType::kBox:
      return {unit_axis(k) * (p[k] / s.size[k]), none};
    case ShapeType::kCylinder:
      return {k < 2 ? stretched(s, p, k) : none, none};
    case ShapeType::kCone:
      if (k == 2) return {none, none};
      return {stretched(s, p, k), turn_of_cone(s, p, k)};
    case ShapeType::kEllipsoid:
      return {on_ellipsoid(s, d, k), none};
    default:
      return {none, none};
  }
}

}  // namespace

Motion<double> motion_by_size(
    const Shape& shape, const Transform& X, const Vec3d& p, const Vec3d& outward, int k) {
  const Vec3d p_S = transpose_times(X.R, p - X.p), d = transpose_times(X.R, outward);
  const Motion<double> m = local_motion(shape, p_S, d, k);
  return {X.R * m.linear, X.R * m.angular};
}

}  // namespace stiction::detail
