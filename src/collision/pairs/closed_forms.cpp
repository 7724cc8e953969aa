#include "collision/pairs/closed_forms.hpp"

#include "geometry/mesh_support.hpp"

namespace stiction::detail {
namespace {

double clamp(double x, double bound) { return x < -bound ? -bound : (x > bound ? bound : x); }

Vec3d closest_on_segment(const Vec3d& c, const Vec3d& u, const Vec3d& p) {
  const double uu = squared_norm(u);
  if (!(uu > 0.0)) return c;
  return c + u * clamp(dot(u, p - c) / uu, 1.0);
}

// The least distance is attained at an end of a segment, unless both points are interior.
ClosestPoints closest_at_ends(const SegmentPair& s) {
  const Vec3d ends1[2] = {s.c1 - s.u1, s.c1 + s.u1}, ends2[2] = {s.c2 - s.u2, s.c2 + s.u2};
  ClosestPoints best{s.c1, s.c2, {0, 0, 0}, HUGE_VAL};
  const auto offer = [&best](const Vec3d& p1, const Vec3d& p2) {
    const double d = squared_norm(p2 - p1);
    if (d < best.distance) best = {p1, p2, {0, 0, 0}, d};
  };
  for (const Vec3d& e : ends1) offer(e, closest_on_segment(s.c2, s.u2, e));
  for (const Vec3d& e : ends2) offer(closest_on_segment(s.c1, s.u1, e), e);
  best.distance = std::sqrt(best.distance);
  return best;
}

// Parallel segments: the middle of their common part, if there is one.
bool closest_of_parallel(const SegmentPair& s, ClosestPoints& closest) {
  const double l1 = norm(s.u1), l2 = norm(s.u2);
  if (!(l1 > 0.0 && l2 > 0.0)) return false;
  const Vec3d e = s.u1 * (1.0 / l1);
  const double along = dot(e, s.c2 - s.c1);
  const double low = std::fmax(-l1, along - l2), high = std::fmin(l1, along + l2);
  if (low > high) return false;
  const Vec3d p1 = s.c1 + e * (0.5 * (low + high));
  const Vec3d p2 = closest_on_segment(s.c2, s.u2, p1);
  closest = {p1, p2, {0, 0, 0}, norm(p2 - p1)};
  return true;
}

// Crossing cores: the Minkowski difference is flat, so any of its normals is a direction of least
// penetration. Chosen from the axes of the shapes, hence the same after a rigid motion of both.
Vec3d normal_of_meeting_cores(const SegmentPair& s, const Mat3d& R_WA, const Mat3d& R_WB) {
  const Vec3d n = cross(s.u1, s.u2);
  const double nn = squared_norm(n);
  if (nn > 1e-26 * squared_norm(s.u1) * squared_norm(s.u2)) return n * (1.0 / std::sqrt(nn));
  if (squared_norm(s.u1) > 0.0) return R_WA.c0;
  return squared_norm(s.u2) > 0.0 ? R_WB.c0 : R_WA.c2;
}

}  // namespace

// With d = c2 - c1 and n = u1 x u2 the lines are closest at c1 + s u1, c2 + t u2 where
// s = (d x u2).n / n.n, t = (d x u1).n / n.n, at the height d.n / |n|: exact even if they nearly
// meet, where p2 - p1 is all rounding. Parallel: the angle is below 1e-13.
ClosestPoints closest_points(const SegmentPair& s) {
  const Vec3d d = s.c2 - s.c1, n = cross(s.u1, s.u2);
  const double nn = squared_norm(n);
  ClosestPoints closest;
  if (nn <= 1e-26 * squared_norm(s.u1) * squared_norm(s.u2)) {
    if (closest_of_parallel(s, closest)) return closest;
    return closest_at_ends(s);
  }
  const double s1 = dot(cross(d, s.u2), n) / nn, s2 = dot(cross(d, s.u1), n) / nn;
  if (std::abs(s1) <= 1.0 && std::abs(s2) <= 1.0) {
    const double sign = dot(d, n) < 0.0 ? -1.0 : 1.0;
    const Vec3d unit = n * (sign / std::sqrt(nn));
    return {s.c1 + s.u1 * s1, s.c2 + s.u2 * s2, unit, dot(d, unit), true};
  }
  closest = closest_at_ends(s);
  return closest;
}

DistanceResult distance_sphere_sphere(const Shape& a,
                                      const Transform& X_WA,
                                      const Shape& b,
                                      const Transform& X_WB) {
  const double radii = a.size.x + b.size.x;
  const Vec3d d = X_WB.p - X_WA.p;
  const double length = norm(d);
  const Vec3d normal = length > 0.0 ? d * (1.0 / length) : X_WA.R.c2;
  return make_result(X_WA.p + normal * a.size.x, normal, length - radii, radii);
}

DistanceResult distance_capsule_capsule(const Shape& a,
                                        const Transform& X_WA,
                                        const Shape& b,
                                        const Transform& X_WB) {
  const double size = a.size.x + a.size.y + b.size.x + b.size.y;
  const SegmentPair s{X_WA.p, X_WA.R.c2 * a.size.y, X_WB.p, X_WB.R.c2 * b.size.y};
  const ClosestPoints c = closest_points(s);
  Vec3d normal = c.normal;
  if (!c.has_normal) {
    normal = c.distance > kTouching * size ? (c.p2 - c.p1) * (1.0 / c.distance)
                                           : normal_of_meeting_cores(s, X_WA.R, X_WB.R);
  }
  return make_result(c.p1 + normal * a.size.x, normal, c.distance - a.size.x - b.size.x, size);
}

// q: centre of the sphere in the frame of the box. Outside: the clamped point is the closest one.
// Inside: the nearest face, ties to the lowest axis.
DistanceResult distance_sphere_box(const Shape& a,
                                   const Transform& X_WA,
                                   const Shape& b,
                                   const Transform& X_WB) {
  const Vec3d& h = b.size;
  const double r = a.size.x, size = r + norm(h);
  const Vec3d q = transpose_times(X_WB.R, X_WA.p - X_WB.p);
  const Vec3d on_box{clamp(q.x, h.x), clamp(q.y, h.y), clamp(q.z, h.z)};
  const Vec3d outward = q - on_box;
  const double length = norm(outward);
  if (length > 0.0) {
    const Vec3d normal = X_WB.R * (outward * (-1.0 / length));
    return make_result(X_WA.p + normal * r, normal, length - r, size);
  }
  int axis = 0;
  for (int k = 1; k < 3; ++k) {
    if (h[k] - std::abs(q[k]) < h[axis] - std::abs(q[axis])) axis = k;
  }
  const Vec3d normal = X_WB.R.column(axis) * (q[axis] < 0.0 ? 1.0 : -1.0);
  return make_result(X_WA.p + normal * r, normal, std::abs(q[axis]) - h[axis] - r, size);
}

DistanceResult distance_any_half_space(const Shape& a,
                                       const Transform& X_WA,
                                       const Transform& X_WB) {
  const Vec3d down = -X_WB.R.c2;
  const Vec3d d = transpose_times(X_WA.R, down);
  Vec3d lowest;
  switch (a.type) {
    case ShapeType::kSphere:
      lowest = d * a.size.x;
      break;
    case ShapeType::kCapsule:
      lowest = d * a.size.x + Vec3d{0.0, 0.0, d.z < 0.0 ? -a.size.y : a.size.y};
      break;
    default:
      lowest = support(a, d);
      break;
  }
  const Vec3d offset = X_WA.R * lowest + (X_WA.p - X_WB.p);
  const double distance = -dot(down, offset);
  return make_result(X_WB.p + offset, down, distance, bounding_radius(a));
}

}  // namespace stiction::detail
