#pragma once

#include "stiction/model/parameters.hpp"

#include "collision/scene/pose_geometries.hpp"
#include "contact/curvature.hpp"
#include "dynamics/forest.hpp"

// Motion that parameters give to geometries and that no dof has: Parameters::geometry_velocity, of
// what the user moves between steps, and surface_velocity, of belts. A field of velocities that is
// rigid and goes with the shape.

namespace stiction {

/// Of one geometry at a point, world axes; beside the motion of its body.
struct SurfaceMotion {
  MaterialMotion<double> all = MaterialMotion<double>::at_rest();
  Vec3d belt{0, 0, 0};  ///< share of the velocity that does nothing along the normal
  Vec3d belt_turning{0, 0, 0};
};

/// Whether the parameters move the surface of any geometry.
bool any_surface_moves(const Parameters& p);

/// X_WG: pose of the geometry.
SurfaceMotion surface_motion(const Parameters& p,
                             int geometry,
                             const Transform& X_WG,
                             const Vec3d& point);

/// Of B's geometry relative to A's, at the contact: for J v along t1, t2, n, and for the turning.
struct RelativeSurface {
  Vec3d velocity{0, 0, 0}, turning{0, 0, 0};  ///< in axes of the frame
};
RelativeSurface relative_surface(const SurfaceMotion& a,
                                 const SurfaceMotion& b,
                                 const Mat3d& frame);

/// Change at a point held in space, while the shape moves by u there and turns by w.
SurfaceMotion change_with_shape(const SurfaceMotion& x, const Vec3d& u, const Vec3d& w);
/// Change where the shape rests and the point moves by `shift`.
SurfaceMotion change_with_point(const SurfaceMotion& x, const Vec3d& shift);
/// Change with entry k of geometry_velocity, or of surface_velocity if `belt`.
SurfaceMotion change_with_entry(
    const SurfaceMotion& x, const Transform& X_WG, const Vec3d& point, int k, bool belt);

}  // namespace stiction
