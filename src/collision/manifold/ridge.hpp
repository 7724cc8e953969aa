#pragma once

#include "collision/pairs/pair.hpp"

namespace stiction::detail {

/// A line along which a shape is farthest out: a line on the side of a capsule, cylinder or cone,
/// or an edge of a polyhedron; world frame.
struct Ridge {
  Vec3d ends[2];       ///< on the surface
  Vec3d centre, axis;  ///< of the side, or of the edge; axis: unit
  double half;         ///< length to either side of the centre
  bool round;
  double radius, slope;  ///< round: radius + slope z at the height z along the axis
  Vec3d normals[2];      ///< else: the two faces that meet in the edge, outward
  double offsets[2];
  int faces[2];  ///< their numbers in `shape`: of a box 0..2, the axis
  const Shape* shape;
  Transform X;

  Vec3d middle() const { return midpoint(ends[0], ends[1]); }
  /// Where the ray p + gap n enters the side or one of the two faces; false if it misses them by
  /// more than `rim` [m].
  bool enter(const Vec3d& p, const Vec3d& n, double rim, double& gap) const;

 private:
  bool enter_round(const Vec3d& p, const Vec3d& n, double& gap) const;
  bool enter_wedge(const Vec3d& p, const Vec3d& n, double rim, double& gap) const;
};

/// The ridge that faces n (unit, world). False if there is none: the line would be steeper than 17
/// degrees, so that its end touches and not the line, or the shape has neither side nor edge.
bool ridge_towards(const Shape& shape, const Transform& X, const Vec3d& n, Ridge& ridge);

}  // namespace stiction::detail
