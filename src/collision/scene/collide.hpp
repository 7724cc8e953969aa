#pragma once

#include "stiction/collision/collision_settings.hpp"
#include "stiction/collision/contact.hpp"
#include "stiction/model/state.hpp"

#include "collision/manifold/manifold_workspace.hpp"
#include "collision/scene/broad_phase.hpp"
#include "dynamics/forest.hpp"

#include <cstdint>
#include <vector>

namespace stiction {

/// Buffers of collide(), grown on demand. The broad phase holds nothing that influences results.
struct CollisionWorkspace {
  std::vector<Transform> poses;  ///< [geometries] world, functions of (q, parameters)
  std::vector<double> reach;     ///< [geometries] half of the pair margin [m]
  std::vector<Vec3d> linear;     ///< [geometries] velocity of the ball's centre, world [m/s]
  std::vector<Vec3d> angular;    ///< [geometries] world [rad/s]
  std::vector<Shape> shapes;     ///< [geometries] with the sizes of the parameters
  std::vector<double> radius;    ///< [geometries] bounding ball
  std::vector<Vec3d> half;       ///< [geometries] half extents of the box of the shape at rest
  std::vector<Vec3d>
      centre;  ///< [geometries] ball centre, geometry frame: box of the shape at rest
  std::vector<Aabb> boxes;
  std::vector<BroadPhase::Pair> pairs;
  std::vector<CachedQuery> next_queries;
  BroadPhase broad_phase;
  ManifoldWorkspace manifold;
  CollisionCounters counters;

  void resize(const Scene& scene);
  void take_size(int geometry, const Vec3d& size);  ///< and what follows from it
};

/// All contact points of the scene, sorted by (pair, feature). Warm starts of the narrow phase are
/// taken from and left in state.queries.
void collide(const Scene& scene,
             const Parameters& parameters,
             const DynamicsWorkspace& dynamics,
             const CollisionSettings& settings,
             double dt,
             State& state,
             CollisionWorkspace& work,
             ContactSet& contacts);

/// R_WC of a contact with normal n, from the world rotation of A's body.
Mat3d contact_frame(const Mat3d& R_WA, const Vec3d& n);

}  // namespace stiction
