#pragma once

#include "collision/manifold/polygon.hpp"

namespace stiction::detail {

/// What a bounded convex shape turns towards the unit direction d (frame of X): a face of a
/// polyhedron, an inscribed octagon of a flat end, a line of a capsule or cylinder, else the
/// farthest point. The corners lie on the shape's own surface; the farthest point along d is one of
/// them if the face is not normal to d. Normal and offset are set if there are three or more.
void facing_polygon(const Shape& shape, const Transform& X, const Vec3d& d, Polygon& face);

}  // namespace stiction::detail
