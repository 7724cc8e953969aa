#pragma once

#include "stiction/collision/witness.hpp"
#include "stiction/math/spatial.hpp"
#include "stiction/model/robot.hpp"

#include <cstdint>
#include <vector>

namespace stiction {

/// One contact point. A is the geometry with the lower id, n points from A to B.
struct Contact {
  int geometry_a, geometry_b;
  int body_a, body_b;  ///< -1: the world
  std::uint64_t pair;  ///< geometry_a << 32 | geometry_b
  std::uint32_t feature;
  int pair_points;  ///< points of this pair, of all its normals
  Vec3d position;   ///< world [m]: of the manifold, midway or on a plane; in a step see touch.hpp
  Mat3d frame;  ///< R_WC = [t1 t2 n]; t1 is A's body x-axis projected (y if within 0.1 rad of n)
  double gap;   ///< [m] distance() less the pair's rest offset; negative = penetration
  Witness witness;
  Material material;  ///< of the pair

  double distance() const { return gap + material.rest_offset; }  ///< of the surfaces [m]
};
using ContactSet = std::vector<Contact>;

/// Work of the last collide(), independent of the machine.
struct CollisionCounters {
  std::int64_t tested_pairs = 0;        ///< boxes compared by the broad phase
  std::int64_t overlapping_pairs = 0;   ///< pairs of boxes that overlap, and may collide
  std::int64_t narrow_phase_calls = 0;  ///< manifolds asked for
  std::int64_t contacts = 0;            ///< contact points found
};

}  // namespace stiction
