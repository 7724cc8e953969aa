#pragma once

#include "stiction/geometry/bvh.hpp"

#include <cstdint>
#include <vector>

namespace stiction {

/// How two triangles meet at an edge, seen from the side their normals point to.
enum class SurfaceEdge : std::uint8_t {
  kFlat,     ///< coplanar to 1e-5 rad: no feature of the surface
  kConvex,   ///< a ridge
  kConcave,  ///< a valley
  kBoundary  ///< no neighbour (or more than one)
};
/// Sine of the angle below which two triangles count as one plane.
inline constexpr double kFlatSine = 1e-5;

/// Triangles with an outside, the side from which their corners run counter-clockwise. Closed: the
/// surface of a solid, convex or not. Open: a sheet that stops what comes from outside. Built once,
/// then constant.
struct TriangleMesh {
  std::vector<Vec3d> vertices;  ///< [m]; equal ones are one
  std::vector<int> triangles;   ///< 3 per triangle
  std::vector<Vec3d> normals;   ///< [triangles] unit, outward
  std::vector<int> neighbours;  ///< 3 per triangle: across the edge from corner k to k + 1, or -1
  std::vector<SurfaceEdge> edges;     ///< 3 per triangle, likewise
  std::vector<int> patch;             ///< [triangles] least triangle of its flat region
  std::vector<int> vertex_start;      ///< [vertices + 1] into vertex_triangles
  std::vector<int> vertex_triangles;  ///< triangles at a vertex, ascending
  std::vector<std::uint8_t> sharp;    ///< [vertices] 1: an edge at it is not flat
  std::vector<int> parts;             ///< least vertex of each part that hangs together
  /// Normals of its largest flat regions, at most kMaxSides, and how far the mesh reaches along
  /// them [m]: the same for the same solid in any frame.
  struct Side {
    Vec3d normal;
    double reach;
  };
  static constexpr int kMaxSides = 12;
  std::vector<Side> sides;  ///< the largest first
  Bvh bvh;
  Aabb box{};
  bool closed =
      false;  ///< every edge joins two triangles that run through it in opposite directions
  /// Of the solid [m^3]; of an open mesh the sum of tetrahedra about the centre of its box.
  /// Negative if the triangles face inwards: a cavity in a solid without end.
  double volume = 0.0;
  Vec3d centroid{0, 0, 0};       ///< of the solid; of an open mesh the centre of its box [m]
  double bounding_radius = 0.0;  ///< about the mesh's own origin [m]

  int count() const { return static_cast<int>(normals.size()); }
  /// Largest n . x of its points [m].
  double reach(const Vec3d& n) const;
  const Vec3d& corner(int triangle, int k) const { return vertices[triangles[3 * triangle + k]]; }

  /// Throws std::invalid_argument that names the field and value: no vertices or triangles, a
  /// coordinate that is not finite, an index out of range, triangles without area (how many, and
  /// the first), unless `drop_degenerate`.
  static TriangleMesh build(const std::vector<Vec3d>& vertices,
                            const std::vector<int>& triangles,
                            bool drop_degenerate = false);
};

}  // namespace stiction
