#pragma once

#include "engine.hpp"

#include <vector>

namespace stiction::bench {

/// Planes n . x = h along the faces of a hull, mesh frame, n outward and unit. h is the largest
/// n . v over all vertices, so that the whole hull lies behind each plane even where the corners of
/// a facet are not quite in one: a point beyond a plane is outside by at least as much.
struct FacePlanes {
  std::vector<Vec3d> normal;
  std::vector<double> offset;  ///< [m]
};
FacePlanes face_planes(const Shape& hull);

/// How far a point [m, mesh frame] lies beyond the planes, at most 0 inside.
double beyond(const FacePlanes& planes, const Vec3d& point);

}  // namespace stiction::bench
