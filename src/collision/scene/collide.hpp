#pragma once

#include "stiction/collision/collision_settings.hpp"
#include "stiction/collision/contact.hpp"
#include "stiction/model/state.hpp"

#include "collision/manifold/manifold_workspace.hpp"
#include "collision/scene/broad_phase.hpp"
#include "collision/scene/seam_workspace.hpp"
#include "collision/scene/touch.hpp"
#include "dynamics/forest.hpp"

#include <cstdint>
#include <vector>

namespace stiction {

/// A point of contact of one pair.
struct PairPoint {
  Vec3d position;   ///< where the contact acts [m]
  Vec3d normal;     ///< from a to b
  double distance;  ///< of the surfaces; they touch at the rest offset [m]
  std::uint32_t feature;
  Witness witness;
};

/// Buffers of collide(), grown on demand. The broad phase holds nothing that influences results.
struct CollisionWorkspace {
  std::vector<Transform> poses;     ///< [geometries] world, functions of (q, parameters)
  std::vector<double> reach;        ///< [geometries] half of the pair margin [m]
  std::vector<Vec3d> linear;        ///< [geometries] velocity of the ball's centre, world [m/s]
  std::vector<Motion<double>> own;  ///< [geometries] there: what geometry_velocity adds
  std::vector<Vec3d> angular;       ///< [geometries] world [rad/s]
  std::vector<Shape> shapes;        ///< [geometries] with the sizes of the parameters
  std::vector<double> radius;       ///< [geometries] bounding ball
  std::vector<Vec3d> half;          ///< [geometries] half extents of the box of the shape at rest
  std::vector<Vec3d>
      centre;  ///< [geometries] ball centre, geometry frame: box of the shape at rest
  std::vector<Aabb> boxes;
  std::vector<BroadPhase::Pair> pairs;
  std::vector<CachedQuery> next_queries;
  BroadPhase broad_phase;
  ManifoldWorkspace manifold;
  SeamWorkspace seams;
  TouchWork touch;
  std::vector<PairPoint> points;  ///< of find_pair_points()
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

/// What collide() finds of one pair, sorted by feature, in work.points. The workspace has the
/// poses, velocities, reach and shapes of both, which need not be of bodies as they are in `scene`.
/// `near`: gap at which a fast pair counts as met, contact_target(). No warm start.
void find_pair_points(const Scene& scene,
                      int a,
                      int b,
                      const CollisionSettings& settings,
                      double dt,
                      double near,
                      double offset,
                      CollisionWorkspace& work);
/// Gap of what has met: found where it is, not where the step's motion takes it [m].
double contact_target(double margin, double dt, double gravity);

/// R_WC of a contact with normal n, from the world rotation of A's body.
Mat3d contact_frame(const Mat3d& R_WA, const Vec3d& n);

}  // namespace stiction
