#pragma once

#include "collision/pairs/pair.hpp"

namespace stiction::detail {

/// A bounded, B a half-space.
void manifold_any_half_space(
    const Shape& a, const Transform& X_WA, const Transform& X_WB, double margin, Manifold& m);
void manifold_box_box(const Shape& a,
                      const Transform& X_WA,
                      const Shape& b,
                      const Transform& X_WB,
                      double margin,
                      Manifold& m,
                      DistanceCache* cache);
/// One point, from the distance of any pair.
void manifold_single_point(const Shape& a,
                           const Transform& X_WA,
                           const Shape& b,
                           const Transform& X_WB,
                           double margin,
                           Manifold& m,
                           DistanceCache* cache);
/// All but spheres: the normal of the distance query, then faces clipped against each other.
void manifold_faces(const Shape& a,
                    const Transform& X_WA,
                    const Shape& b,
                    const Transform& X_WB,
                    double margin,
                    Manifold& m,
                    DistanceCache* cache);

/// Capsules, cylinders and cones.
bool has_side(const Shape& shape);
/// A round side along a side or an edge: the ends of each line of contact, and the point of the
/// distance query `r` where they cross. Empty if no end of one lies over the other.
void manifold_sides(const Shape& a,
                    const Transform& X_WA,
                    const Shape& b,
                    const Transform& X_WB,
                    const DistanceResult& r,
                    double margin,
                    Manifold& m);

}  // namespace stiction::detail
