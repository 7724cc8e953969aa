#pragma once

#include "stiction/math/spatial.hpp"

#include <cstdint>
#include <vector>

namespace stiction {

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

/// Buffers of mark_covered(), grown on demand, no meaning between calls.
struct SeamWorkspace {
  std::vector<SeamPoint> points;      ///< input, of one pair after the other; output: `covered`
  std::vector<int> first;             ///< [manifolds] their first points
  std::vector<std::uint8_t> covered;  ///< [manifolds]
  std::vector<SeamSide> sides;        ///< of each geometry, in the order of manifolds
  std::vector<int> start;             ///< [geometries + 1] of their sides
  std::vector<int> partners;          ///< [geometries] pairs that touch it
};

}  // namespace stiction
