#pragma once

#include "collision/pairs/pair.hpp"

// Pairs with a formula. Names: distance_<A>_<B>; both shapes in world poses.

namespace stiction::detail {

struct SegmentPair {
  Vec3d c1, u1, c2, u2;  ///< centres and half vectors
};
struct ClosestPoints {
  Vec3d p1, p2;
  Vec3d normal;  ///< unit, from 1 to 2; only set if `has_normal`
  double distance;
  bool has_normal = false;
};
/// Of two segments; of parallel ones that overlap, in the middle of the common part.
ClosestPoints closest_points(const SegmentPair& s);

DistanceResult distance_sphere_sphere(const Shape& a,
                                      const Transform& X_WA,
                                      const Shape& b,
                                      const Transform& X_WB);
/// Spheres are capsules of half length 0.
DistanceResult distance_capsule_capsule(const Shape& a,
                                        const Transform& X_WA,
                                        const Shape& b,
                                        const Transform& X_WB);
DistanceResult distance_sphere_box(const Shape& a,
                                   const Transform& X_WA,
                                   const Shape& b,
                                   const Transform& X_WB);
/// A bounded, B a half-space.
DistanceResult distance_any_half_space(const Shape& a,
                                       const Transform& X_WA,
                                       const Transform& X_WB);
DistanceResult distance_box_box(const Shape& a,
                                const Transform& X_WA,
                                const Shape& b,
                                const Transform& X_WB,
                                const DistanceSettings& settings,
                                DistanceCache* cache);

}  // namespace stiction::detail
