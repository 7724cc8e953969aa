#pragma once

#include "../geometry/mesh_support.hpp"
#include "pair.hpp"

// The Minkowski difference D = A - B of two cores in the frame of A. A sphere is a point and a
// capsule a segment, both inflated by a radius that is added to the answer afterwards.

namespace stiction::detail {

struct Core {
  ShapeType type;
  Vec3d half;  ///< box: half extents; segment: (0, 0, half length); point: 0; cylinder and cone:
               ///< (radius, radius, half length); ellipsoid: half axes
  const ConvexMesh* mesh;
  double radius;
};

inline Core core_of(const Shape& s) {
  switch (s.type) {
    case ShapeType::kSphere:
      return {s.type, {0.0, 0.0, 0.0}, nullptr, s.size.x};
    case ShapeType::kCapsule:
      return {s.type, {0.0, 0.0, s.size.y}, nullptr, s.size.x};
    case ShapeType::kCylinder:
    case ShapeType::kCone:
      return {s.type, {s.size.x, s.size.x, s.size.y}, nullptr, 0.0};
    default:
      return {s.type, s.size, s.mesh.get(), 0.0};
  }
}

/// Smooth cores have no numbered points: a repeated direction is told by the point itself.
inline constexpr int kSmooth = -1;

inline Vec3d smooth_support(const Core& c, const Vec3d& d) {
  const Vec3d& h = c.half;
  if (c.type == ShapeType::kEllipsoid) {
    const Vec3d e{h.x * d.x, h.y * d.y, h.z * d.z};
    const double length = norm(e), s = length > 0.0 ? 1.0 / length : 0.0;
    return {h.x * e.x * s, h.y * e.y * s, h.z * e.z * s};
  }
  const double length = std::sqrt(d.x * d.x + d.y * d.y);
  if (c.type == ShapeType::kCone && d.z * 2.0 * h.z >= h.x * length) return {0.0, 0.0, h.z};
  const double s = length > 0.0 ? h.x / length : 0.0;
  return {d.x * s, d.y * s, c.type == ShapeType::kCylinder && d.z >= 0.0 ? h.z : -h.z};
}

/// Farthest point along d and its number: mesh vertex, or sign bits of x, y, z. `index` carries the
/// hint in and the number out.
inline Vec3d core_support(const Core& c, const Vec3d& d, int& index) {
  switch (c.type) {
    case ShapeType::kSphere:
      index = 0;
      return {0.0, 0.0, 0.0};
    case ShapeType::kCapsule:
      index = d.z < 0.0 ? 0 : 1;
      return {0.0, 0.0, d.z < 0.0 ? -c.half.z : c.half.z};
    case ShapeType::kConvexMesh:
      index = mesh_support(*c.mesh, d, index);
      return c.mesh->vertices[index];
    case ShapeType::kCylinder:
    case ShapeType::kCone:
    case ShapeType::kEllipsoid:
      index = kSmooth;
      return smooth_support(c, d);
    default:
      index = (d.x < 0.0 ? 0 : 1) | (d.y < 0.0 ? 0 : 2) | (d.z < 0.0 ? 0 : 4);
      return {d.x < 0.0 ? -c.half.x : c.half.x,
              d.y < 0.0 ? -c.half.y : c.half.y,
              d.z < 0.0 ? -c.half.z : c.half.z};
  }
}

/// A vertex of D with the vertices of A and B it comes from, frame A.
struct SupportPoint {
  Vec3d w, a, b;
  int index_a, index_b;
  bool same_as(const SupportPoint& o) const {
    if (index_a != o.index_a || index_b != o.index_b) return false;
    if (index_a != kSmooth && index_b != kSmooth) return true;
    return w.x == o.w.x && w.y == o.w.y && w.z == o.w.z;
  }
};

struct SupportDifference {
  Core a, b;
  Transform X_AB;
  double size;                 ///< of the cores: sum of their bounding radii
  int hint_a = 0, hint_b = 0;  ///< last vertices, start of the next climb

  SupportPoint operator()(const Vec3d& d) {
    SupportPoint s;
    s.a = core_support(a, d, hint_a);
    s.b = X_AB * core_support(b, -transpose_times(X_AB.R, d), hint_b);
    s.w = s.a - s.b;
    s.index_a = hint_a;
    s.index_b = hint_b;
    return s;
  }
};

}  // namespace stiction::detail
