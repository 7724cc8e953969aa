#pragma once

#include "collision/manifold/facing_polygon.hpp"
#include "collision/manifold/manifold_workspace.hpp"
#include "collision/surface/surface.hpp"

// A convex shape against one triangle of a surface. The triangle may push along its own normal, and
// along other directions only from its ridges, peaks and borders, as far as the surface around it
// lets it (edge_looks_along, corner_looks_along): an edge between coplanar triangles never pushes.

namespace stiction::detail {

struct ConvexOnSurface {
  const Shape& shape;
  const Surface& surface;
  Transform X;    ///< of the shape in the frame of the surface
  double margin;  ///< [m]
  double size;    ///< bounding radius of the shape [m]
  Vec3d centre;   ///< of the shape, frame of the surface
  TriangleShape& triangle;
  std::vector<SurfacePoint>& points;

  /// What the shape turns against the normal n of a triangle; kept for the next one in its plane.
  Vec3d n{0, 0, 0};
  double low = 0.0, high = 0.0;  ///< extent of the shape along n
  Polygon face = {};
  NearestTriangle nearest = {};  ///< of the centre
  bool nearest_known = false;
};

/// Appends the points of this triangle whose gap is at most the margin. Of a ball's the face is
/// enough.
void triangle_contact(ConvexOnSurface& q, SurfaceTriangle& t);

}  // namespace stiction::detail
