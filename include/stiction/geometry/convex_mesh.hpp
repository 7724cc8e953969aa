#pragma once

#include "stiction/geometry/support_table.hpp"
#include "stiction/math/spatial.hpp"

#include <cstdint>
#include <vector>

namespace stiction {

/// Closed convex polyhedron: vertices, polygonal faces (coplanar triangles merged) with outward
/// normals, vertex adjacency. Built once per asset, then constant.
struct ConvexMesh {
  struct Face {
    Vec3d normal;      ///< unit, outward
    double offset;     ///< normal . x = offset on the face [m]
    int first, count;  ///< loop of vertices in face_vertices, counter-clockwise from outside
  };
  std::vector<Vec3d> vertices;
  std::vector<Face> faces;
  std::vector<int> face_vertices;
  std::vector<int> neighbour_start;  ///< size vertices + 1, into neighbours
  /// Vertices joined by an edge. Inside a face that is flat only to the merge tolerance the edges
  /// of its triangles stay, so that climbing along neighbours always ends at the farthest vertex.
  std::vector<int> neighbours;
  std::vector<int> vertex_face_start;  ///< size vertices + 1, into vertex_faces
  std::vector<int> vertex_faces;       ///< faces that touch a vertex, ascending
  std::vector<int> triangles;          ///< 3 per triangle, for drawing and mass properties
  SupportTable support;
  double volume = 0.0;           ///< [m^3]
  Vec3d centroid{0, 0, 0};       ///< of the solid [m]
  double bounding_radius = 0.0;  ///< largest distance of a vertex from the mesh's own origin [m]

  /// Convex hull of the points. Coordinates are compared on a grid of 2^-40 of the extent, faces
  /// are merged if their vertices lie in one plane to 1e-7 of the extent (the noise of float32
  /// files). Throws std::invalid_argument that names a bad coordinate, too small a count, or
  /// "coplanar".
  static ConvexMesh hull(const std::vector<Vec3d>& points);
};

}  // namespace stiction
