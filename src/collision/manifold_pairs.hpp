#pragma once

#include "pair.hpp"

namespace stiction::detail {

/// A bounded, B a half-space.
void manifold_any_half_space(const Shape& a,
                             const Transform& X_WA,
                             const Transform& X_WB,
                             double margin,
                             Manifold& m,
                             DistanceCache* cache);
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
/// Polyhedra and capsules: the normal of the distance query, then faces clipped against each other.
void manifold_polyhedra(const Shape& a,
                        const Transform& X_WA,
                        const Shape& b,
                        const Transform& X_WB,
                        double margin,
                        Manifold& m,
                        DistanceCache* cache);

}  // namespace stiction::detail
