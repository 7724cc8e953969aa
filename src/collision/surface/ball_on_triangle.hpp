#pragma once

#include "collision/surface/surface_manifold.hpp"

namespace stiction::detail {

/// A ball, its centre in the frame of the surface, and one triangle.
struct BallOverTriangle {
  Vec3d centre;
  double radius;
  ClosestOnTriangle at;
  Vec3d w;                  ///< from there to the centre
  double distance, height;  ///< of the centre from the triangle, over its plane

  BallOverTriangle(const Vec3d& c, double r, const ClosestOnTriangle& p, const SurfaceTriangle& t)
      : centre(c),
        radius(r),
        at(p),
        w(c - p.p),
        distance(norm(w)),
        height(dot(t.n, c) - t.offset) {}

  bool over_face() const { return at.edge < 0 && at.corner < 0; }

  /// Whether the triangle pushes a ball that reaches it, and where: points of the surface push that
  /// are nearer to the centre than all around them. `t` has its face at least; what lies around it
  /// is classified as far as is needed.
  bool pushes(const Surface& surface, SurfaceTriangle& t, SurfacePoint& point) const;
};

}  // namespace stiction::detail
