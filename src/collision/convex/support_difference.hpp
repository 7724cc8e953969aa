#pragma once

#include "collision/pairs/pair.hpp"
#include "geometry/mesh_support.hpp"

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

/// A point inside, frame of the core.
inline Vec3d centre(const Core& c) { return c.mesh != nullptr ? c.mesh->centroid : Vec3d{0, 0, 0}; }

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

inline bool is_smooth(ShapeType t) {
  return t == ShapeType::kCylinder || t == ShapeType::kCone || t == ShapeType::kEllipsoid;
}

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

/// Farthest point along d and its number: mesh vertex, or sign bits of x, y, z.
inline __attribute__((always_inline)) Vec3d core_support(const Core& c,
                                                         const Vec3d& d,
                                                         int& index) {
  if (c.mesh != nullptr) {
    const MeshVertex v = farthest_vertex(*c.mesh, d);
    index = v.index;
    return v.position;
  }
  switch (c.type) {
    case ShapeType::kSphere:
      index = 0;
      return {0.0, 0.0, 0.0};
    case ShapeType::kCapsule:
      index = d.z < 0.0 ? 0 : 1;
      return {0.0, 0.0, d.z < 0.0 ? -c.half.z : c.half.z};
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

/// The point of that number.
inline Vec3d core_vertex(const Core& c, int index) {
  switch (c.type) {
    case ShapeType::kSphere:
      return {0.0, 0.0, 0.0};
    case ShapeType::kCapsule:
      return {0.0, 0.0, index == 0 ? -c.half.z : c.half.z};
    case ShapeType::kConvexMesh:
      return c.mesh->vertices[index];
    default:
      return {index & 1 ? c.half.x : -c.half.x,
              index & 2 ? c.half.y : -c.half.y,
              index & 4 ? c.half.z : -c.half.z};
  }
}

/// A point w = a - b of D with the vertices of A and B it comes from, frame A.
struct SupportPoint {
  Vec3d w, a;
  int index_a, index_b;
  Vec3d b() const { return a - w; }
  bool numbered() const { return index_a != kSmooth && index_b != kSmooth; }
  bool same_as(const SupportPoint& o) const {
    if (index_a != o.index_a || index_b != o.index_b) return false;
    if (numbered()) return true;
    return w.x == o.w.x && w.y == o.w.y && w.z == o.w.z;
  }
};

struct SupportDifference {
  Core a, b;
  Transform X_AB;
  double size;  ///< of the cores: sum of their bounding radii

  /// Farthest point of D along d.
  SupportPoint operator()(const Vec3d& d) const {
    SupportPoint s;
    s.a = core_support(a, d, s.index_a);
    s.w = s.a - X_AB * core_support(b, -transpose_times(X_AB.R, d), s.index_b);
    return s;
  }
  /// The point of those vertices.
  SupportPoint at(int index_a, int index_b) const {
    const Vec3d p = core_vertex(a, index_a);
    return {p - X_AB * core_vertex(b, index_b), p, index_a, index_b};
  }
  bool smooth() const { return is_smooth(a.type) || is_smooth(b.type); }
};

}  // namespace stiction::detail
