#pragma once

#include "stiction/geometry/shape.hpp"

#include <cmath>
#include <numbers>
#include <string>
#include <vector>

namespace stiction {

inline constexpr int kCylinderSides = 32;

/// Prism with its edges on the cylinder's surface (axis z): it never reaches outside the cylinder
/// and lies at most r (1 - cos(pi / 32)) = 0.5 % of the radius inside.
inline Shape cylinder_hull(double radius, double length) {
  std::vector<Vec3d> points;
  for (int k = 0; k < kCylinderSides; ++k) {
    const double angle = 2.0 * std::numbers::pi * k / kCylinderSides;
    for (const double z : {-0.5 * length, 0.5 * length}) {
      points.push_back({radius * std::cos(angle), radius * std::sin(angle), z});
    }
  }
  return Shape::convex_mesh(points);
}

inline std::string cylinder_message() {
  return "cylinder is replaced by the convex hull of a 32-gon (at most 0.5 % of the radius inside)";
}

}  // namespace stiction
