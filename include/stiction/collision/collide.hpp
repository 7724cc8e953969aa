#pragma once

#include "stiction/collision/broad_phase.hpp"
#include "stiction/collision/manifold.hpp"
#include "stiction/dynamics/forest.hpp"
#include "stiction/math/setting.hpp"
#include "stiction/model/state.hpp"

#include <cstdint>
#include <tuple>
#include <vector>

namespace stiction {

/// One contact point. A is the geometry with the lower id, n points from A to B.
struct Contact {
  int geometry_a, geometry_b;
  int body_a, body_b;  ///< -1: the world
  std::uint64_t pair;  ///< geometry_a << 32 | geometry_b
  std::uint32_t feature;
  int pair_points;  ///< points of this pair, of all its normals
  Vec3d position;   ///< world [m]: midpoint of the witness points, or on the plane of a half-space
  Mat3d frame;  ///< R_WC = [t1 t2 n]; t1 is A's body x-axis projected (y if within 0.1 rad of n)
  double gap;   ///< [m], negative = penetration
  Material material;  ///< of the pair
};
using ContactSet = std::vector<Contact>;

struct CollisionSettings {
  double margin = 1e-3;
  int points_per_pair = 0;
};

inline constexpr std::tuple kCollisionSettings{
    Setting<CollisionSettings, double>{
        "margin",
        &CollisionSettings::margin,
        {">= 0", [](const double& x) { return x >= 0.0 && std::isfinite(x); }},
        "m",
        "Contacts begin at this gap; farther away, up to dt x a bound on the approach speed of a "
        "pair, only if its motion at the velocities of the start comes that close."},
    Setting<CollisionSettings, int>{
        "points_per_pair",
        &CollisionSettings::points_per_pair,
        {">= 0; 0 keeps all points", kCount.holds},
        "",
        "At most so many points of a pair, the deepest; 0: all. One point is what engines without "
        "manifolds have: nothing then holds a box against tipping."}};

/// Work of the last collide(), independent of the machine.
struct CollisionCounters {
  std::int64_t tested_pairs = 0;        ///< boxes compared by the broad phase
  std::int64_t overlapping_pairs = 0;   ///< pairs of boxes that overlap, and may collide
  std::int64_t narrow_phase_calls = 0;  ///< manifolds asked for
  std::int64_t contacts = 0;            ///< contact points found
};

/// Buffers of collide(), grown on demand. The broad phase holds nothing that influences results.
struct CollisionWorkspace {
  std::vector<Transform> poses;  ///< [geometries] world, functions of (q, parameters)
  std::vector<double> reach;     ///< [geometries] half of the pair margin [m]
  std::vector<Vec3d> linear;     ///< [geometries] velocity of the ball's centre, world [m/s]
  std::vector<Vec3d> angular;    ///< [geometries] world [rad/s]
  std::vector<double> radius;    ///< [geometries] bounding ball, per scene
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
