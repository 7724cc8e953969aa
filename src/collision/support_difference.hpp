#pragma once

#include "../geometry/mesh_support.hpp"
#include "pair.hpp"

// The Minkowski difference D = A - B of two cores in the frame of A. A sphere is a point and a
// capsule a segment, both inflated by a radius that is added to the answer afterwards.

namespace stiction::detail {

struct Core {
  ShapeType type;
  Vec3d half;  ///< box: half extents; segment: (0, 0, half length); point: 0
  const ConvexMesh* mesh;
  double radius;
};

inline Core core_of(const Shape& s) {
  switch (s.type) {
    case ShapeType::kSphere:
      return {s.type, {0.0, 0.0, 0.0}, nullptr, s.size.x};
    case ShapeType::kCapsule:
      return {s.type, {0.0, 0.0, s.size.y}, nullptr, s.size.x};
    default:
      return {s.type, s.size, s.mesh.get(), 0.0};
  }
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
  bool same_as(const SupportPoint& o) const { return index_a == o.index_a && index_b == o.index_b; }
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
