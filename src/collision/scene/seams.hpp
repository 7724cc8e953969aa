#pragma once

#include "stiction/collision/contact.hpp"

#include <vector>

namespace stiction {

class Scene;
struct CollisionWorkspace;

/// A contact as the rule of seams sees it, and as seam_point() makes it from its position.
struct SeamPoint {
  int a, b;  ///< geometries
  Vec3d on_a, on_b, normal;  ///< witness points, and from a to b
  double distance;  ///< of the surfaces
  bool covered = false;
};

/// Buffers of mark_covered(), grown on demand, no meaning between calls: one for each thread.
struct SeamWorkspace {
  /// Points of one pair with one normal.
  struct Manifold {
    int first, last;  ///< points
    bool covered;
  };
  std::vector<SeamPoint> points;  ///< input, of one pair after the other; output: `covered`
  std::vector<Manifold> manifolds;
  std::vector<int> start, of_geometry;  ///< manifolds of each geometry
  std::vector<int> partners;            ///< [geometries] pairs that touch it
};

SeamWorkspace& seam_workspace();

/// By this share of its gap a contact lies along its normal from the point midway.
double shift_to_plane(const Scene& scene, int a, int b);
SeamPoint seam_point(const Scene& scene,
                     int a,
                     int b,
                     const Vec3d& position,
                     const Vec3d& normal,
                     double distance);

/// Marks the contacts against which a seam would push (seam_workspace().points). The workspace has poses,
/// velocities, reach and shapes of their geometries.
void mark_covered(const Scene& scene, double dt, const CollisionWorkspace& work);
/// Removes them from the contacts of a scene.
void drop_covered(const Scene& scene,
                  double dt,
                  const CollisionWorkspace& work,
                  ContactSet& contacts);

}  // namespace stiction
