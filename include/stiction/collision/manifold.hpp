#pragma once

#include "stiction/collision/distance.hpp"
#include "stiction/collision/witness.hpp"

#include <cstdint>

namespace stiction {

inline constexpr int kMaxManifoldPoints = 8;

/// One point of a manifold. The witness points are position -+ normal * gap / 2 (A: minus, B:
/// plus).
struct ManifoldPoint {
  Vec3d position;         ///< world [m], midpoint of the two witness points
  double gap;             ///< signed [m] along the manifold's normal, negative = penetration
  std::uint32_t feature;  ///< persistent id: same pair of features, same id, from step to step
  Witness witness = {};
};

struct Manifold {
  Vec3d normal{0, 0, 1};  ///< unit, world, from A to B
  int count = 0;
  ManifoldPoint points[kMaxManifoldPoints];
};

/// Contact points of a convex pair whose gap is at most `margin` [m]; count = 0 if the pair is
/// farther. No point is deeper than the true penetration. Does not allocate. Throws
/// std::invalid_argument for a height field or triangle mesh: use contact_manifolds(), and for a
/// placement with a number that is not finite.
void contact_manifold(const Shape& a,
                      const Transform& X_WA,
                      const Shape& b,
                      const Transform& X_WB,
                      double margin,
                      Manifold& manifold,
                      DistanceCache* cache = nullptr);

}  // namespace stiction
