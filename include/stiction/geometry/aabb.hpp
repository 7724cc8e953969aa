#pragma once

#include "stiction/math/spatial.hpp"

#include <cmath>

namespace stiction {

/// Axis-aligned box [m].
struct Aabb {
  Vec3d lower, upper;
};

inline Vec3d centre(const Aabb& box) { return (box.lower + box.upper) * 0.5; }
inline Vec3d half_extents(const Aabb& box) { return (box.upper - box.lower) * 0.5; }

/// Touching boxes overlap; a box with a NaN overlaps none.
inline bool boxes_overlap(const Aabb& a, const Aabb& b) {
  return a.lower.x <= b.upper.x && b.lower.x <= a.upper.x && a.lower.y <= b.upper.y &&
         b.lower.y <= a.upper.y && a.lower.z <= b.upper.z && b.lower.z <= a.upper.z;
}

/// With `by` [m] more on each side.
inline Aabb grown(const Aabb& box, double by) {
  const Vec3d d{by, by, by};
  return {box.lower - d, box.upper + d};
}

/// Of the three corners of a triangle.
inline Aabb triangle_box(const Vec3d v[3]) {
  Aabb box;
  for (int k = 0; k < 3; ++k) {
    box.lower[k] = std::fmin(v[0][k], std::fmin(v[1][k], v[2][k]));
    box.upper[k] = std::fmax(v[0][k], std::fmax(v[1][k], v[2][k]));
  }
  return box;
}

}  // namespace stiction
