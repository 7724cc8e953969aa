#pragma once

#include "stiction/collision/manifold.hpp"

#include <cmath>
#include <stdexcept>
#include <string>

// What every pair of shapes shares. `size` of a pair is the sum of the bounding radii of its
// bounded shapes [m]: all tolerances are multiples of it.

namespace stiction::detail {

/// |distance| at or below this multiple of the size is rounding: kTouching.
inline constexpr double kTouching = 1e-14;
/// Manifold normals: the axis of a face is kept although another axis separates better by this
/// multiple of the size. Far above the noise of a resting body, far below visible penetration. The
/// same tie decides which vertex counts as the deepest one.
inline constexpr double kFacePreference = 1e-5;
/// A vertex this multiple of the size outside of a side plane still counts as inside, so that flush
/// faces (a stack of equal boxes) keep their features.
inline constexpr double kFlush = 1e-5;

/// False if a number of X is NaN or infinite: x - x is NaN then.
inline bool is_finite(const Transform& X) {
  const Vec3d v = X.p + X.R.c0 + X.R.c1 + X.R.c2;
  const double sum = v.x + v.y + v.z;
  return sum - sum == 0.0;
}

/// Throws std::invalid_argument if a number of X is NaN or infinite.
inline void require_finite(const char* name, const Transform& X) {
  if (!is_finite(X)) {
    throw std::invalid_argument(std::string(name) + " has a number that is not finite");
  }
}

/// A point or a segment, and all that is within a radius of it.
inline bool is_round(ShapeType t) { return t == ShapeType::kSphere || t == ShapeType::kCapsule; }

/// A triangle mesh that bounds a convex solid: against bounded shapes it is that solid, whose depth
/// no single triangle knows.
inline bool is_convex_surface(const Shape& s) { return is_surface(s.type) && !s.hollow(); }
inline Shape hull_of(const Shape& s) {
  return {ShapeType::kConvexMesh, {0.0, 0.0, 0.0}, s.mesh, nullptr, nullptr};
}

inline DistanceStatus status_of(double distance, double size) {
  if (std::abs(distance) <= kTouching * size) return DistanceStatus::kTouching;
  return distance > 0.0 ? DistanceStatus::kSeparated : DistanceStatus::kPenetrating;
}

inline DistanceResult make_result(const Vec3d& witness_a,
                                  const Vec3d& normal,
                                  double distance,
                                  double size) {
  return {distance, witness_a, witness_a + normal * distance, normal, 0, status_of(distance, size)};
}

/// The same answer with A and B exchanged.
inline DistanceResult swapped(const DistanceResult& r) {
  DistanceResult s = r;
  s.witness_a = r.witness_b;
  s.witness_b = r.witness_a;
  s.normal = -r.normal;
  return s;
}

/// Is p over a convex polygon, seen along its normal, or at most `slack` [m] beside it?
/// `corner(i)`: its corners, counter-clockwise about the normal.
template <class Corner>
bool over_polygon(
    int count, const Corner& corner, const Vec3d& normal, const Vec3d& p, double slack) {
  for (int i = 0; i < count; ++i) {
    const Vec3d& a = corner(i);
    const Vec3d out = cross(corner(i + 1 == count ? 0 : i + 1) - a, normal);
    if (dot(out, p - a) > slack * norm(out)) return false;
  }
  return true;
}

inline Vec3d midpoint(const Vec3d& a, const Vec3d& b) { return (a + b) * 0.5; }

inline void set_single_point(const DistanceResult& r, std::uint32_t feature, Manifold& m) {
  m.normal = r.normal;
  m.count = 1;
  m.points[0] = {midpoint(r.witness_a, r.witness_b), r.distance, feature};
}

/// Mixes a word into a hash (Murmur3's finaliser).
inline std::uint32_t mix(std::uint32_t hash, std::uint32_t word) {
  std::uint32_t h = hash ^ (word * 0x9e3779b9u);
  h ^= h >> 16;
  h *= 0x85ebca6bu;
  h ^= h >> 13;
  h *= 0xc2b2ae35u;
  return h ^ (h >> 16);
}

}  // namespace stiction::detail
