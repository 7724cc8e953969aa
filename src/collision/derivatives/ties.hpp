#pragma once

#include "stiction/collision/distance_derivatives.hpp"

namespace stiction::detail {

/// Whether another normal of two convex shapes is as deep, to 1e-7 of the size: moved apart so far
/// the query turns to it. `at`: an answer of distance(), with its cache if there is one.
bool is_tied(const Shape& a,
             const Transform& X_WA,
             const Shape& b,
             const Transform& X_WB,
             const DistanceResult& at,
             const DistanceCache* cache);

/// Whether the query goes as `d` says for small motions to and fro, of any surface: there other
/// features may be as near, anywhere.
bool agrees_with_queries(const Shape& a,
                         const Transform& X_WA,
                         const Shape& b,
                         const Transform& X_WB,
                         const DistanceResult& at,
                         const DistanceDerivatives& d,
                         const DistanceCache* cache);

}  // namespace stiction::detail
