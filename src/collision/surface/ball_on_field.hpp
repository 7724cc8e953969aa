#pragma once

#include "collision/surface/surface_manifold.hpp"

namespace stiction::detail {

/// A ball, its centre in the frame of the field, on open ground, as feet nearly always are: it
/// overlaps one face at most, and not deeply; other faces, edges and corners may be within the
/// margin. `points` are then what convex_on_surface() finds, to the bit. False: not decided, as of
/// a ball that overlaps an edge or two faces or is at the border; `points` are then no answer.
bool ball_on_field(const Surface& surface,
                   double radius,
                   const Vec3d& centre,
                   double margin,
                   std::vector<SurfacePoint>& points);

}  // namespace stiction::detail
