#pragma once

#include "collision/surface/surface_manifold.hpp"

namespace stiction::detail {

/// A ball, its centre in the frame of the field, on open ground: on one face of it at most, and
/// before others, what feet nearly always are. `points` are then what convex_on_surface() finds, to
/// the bit; false: not decided, as in a hole or deep in the ground, and `points` are no answer.
bool ball_on_field(const Surface& surface,
                   double radius,
                   const Vec3d& centre,
                   double margin,
                   std::vector<SurfacePoint>& points);

}  // namespace stiction::detail
