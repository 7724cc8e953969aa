#pragma once

#include "stiction/geometry/convex_mesh.hpp"

#include "geometry/quickhull.hpp"

#include <vector>

// The triangulated surface of a convex solid, and the polyhedron that it becomes: the second half
// of ConvexMesh::hull, which a mesh from a file shares.

namespace stiction::hull {

constexpr double kRedundant = 1e-11;  // of the extent: a vertex this close to a flat face is noise

struct Surface {
  std::vector<Vec3d> points;
  std::vector<Triangle> triangles;
  double extent = 0.0;     ///< largest side of the bounding box
  double thickness = 0.0;  ///< depth below the largest triangle

  Vec3d area_vector(const Triangle& t) const {
    const Vec3d& a = points[t.v[0]];
    return cross(points[t.v[1]] - a, points[t.v[2]] - a);
  }
};

/// Groups of triangles that lie in one plane, and the border of each as a loop of vertices.
struct Grouping {
  std::vector<int> group;               ///< of each triangle
  std::vector<std::vector<int>> loops;  ///< of each group, counter-clockwise from outside
};

/// Each throws std::invalid_argument: fewer than four points, a coordinate that is not finite;
void check_points(const std::vector<Vec3d>& points);
/// a largest side of the box of the points, which it returns [m], that is out of range;
double checked_extent(const std::vector<Vec3d>& points, Vec3d& lower);
/// a surface without thickness.
void measure_thickness(Surface& s);

Grouping group_planes(const Surface& s, double tolerance);

/// Of the points and triangles alone, so that they are all that a file of a mesh must hold. Takes
/// the points.
ConvexMesh polyhedron(Surface& s);

}  // namespace stiction::hull
