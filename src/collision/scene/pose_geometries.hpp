#pragma once

#include "collision/scene/collide.hpp"

namespace stiction {

/// Half of the largest offset that a pair has of its own [m].
double half_pair_offset(const Parameters& p);

/// Whether the parameters give a geometry a motion of its own: then it wakes what it touches.
bool surface_moves(const Parameters& p, int geometry);

/// Poses, velocities, reach and boxes of all geometries.
void pose_geometries(const Scene& scene,
                     const Parameters& p,
                     const DynamicsWorkspace& dynamics,
                     const CollisionSettings& settings,
                     double dt,
                     CollisionWorkspace& work);

}  // namespace stiction
