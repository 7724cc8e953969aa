#pragma once

#include "collision/surface/surface_manifold.hpp"

namespace stiction::detail {

enum class BallOnField { kApart, kOnFace, kUndecided };

/// A ball, its centre in the frame of the field, that touches nothing within the margin or the
/// middle of one triangle alone: what feet on open ground nearly always do. `point` is then what
/// convex_on_surface() finds, to the bit; whatever else there is stays undecided.
BallOnField ball_on_field(
    const Surface& surface, double radius, const Vec3d& centre, double margin, SurfacePoint& point);

}  // namespace stiction::detail
