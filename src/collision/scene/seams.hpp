#pragma once

#include "stiction/collision/contact.hpp"

#include <cstdint>
#include <vector>

namespace stiction {

class Scene;
struct CollisionWorkspace;

/// A contact as the rule of seams sees it.
struct SeamPoint {
  int a, b;         ///< geometries
  Vec3d position;   ///< of the contact
  Vec3d normal;     ///< from a to b
  double distance;  ///< of the surfaces
  bool covered = false;
};

/// The points of one pair with one normal, as seen from a shape S of the two: T is the other one.
struct SeamSide {
  int manifold;
  int s, t;
  Vec3d n;  ///< from T to S
};

/// Buffers of mark_covered(), grown on demand, no meaning between calls: one for each thread.
struct SeamWorkspace {
  std::vector<SeamPoint> points;     ///< input, of one pair after the other; output: `covered`
  std::vector<int> first;            ///< [manifolds] their first points
  std::vector<std::uint8_t> covered;  ///< [manifolds]
  std::vector<SeamSide> sides;       ///< of each geometry, in the order of manifolds
  std::vector<int> start;            ///< [geometries + 1] of their sides
  std::vector<int> partners;         ///< [geometries] pairs that touch it
};

SeamWorkspace& seam_workspace();

/// By this share of its gap a contact lies along its normal from the point midway.
double shift_to_plane(const Scene& scene, int a, int b);

/// Marks the contacts against which a seam would push, and returns whether there are any
/// (seam_workspace().points). The workspace has poses,
/// velocities, reach and shapes of their geometries.
bool mark_covered(const Scene& scene, double dt, const CollisionWorkspace& work);
/// Removes them from the contacts of a scene.
void drop_covered(const Scene& scene,
                  double dt,
                  const CollisionWorkspace& work,
                  ContactSet& contacts);

}  // namespace stiction
