#pragma once

#include "stiction/collision/contact.hpp"

namespace stiction {

class Scene;
struct CollisionWorkspace;

/// By this share of its gap a contact lies along its normal from the point midway.
double shift_to_plane(const Scene& scene, int a, int b);

/// Marks those of work.seams.points against which a seam would push, and returns whether there are
/// any. The workspace has poses, velocities, reach and shapes of their geometries.
bool mark_covered(const Scene& scene, double dt, CollisionWorkspace& work);
/// Removes such contacts from those of a scene.
void drop_covered(const Scene& scene, double dt, CollisionWorkspace& work, ContactSet& contacts);

}  // namespace stiction
