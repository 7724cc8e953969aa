#pragma once

#include "stiction/collision/distance.hpp"

namespace stiction::detail {

/// Whether other features are as near, or as deep, to 1e-7 of the size: moved along the normal, so
/// that all but those that hold the points now come out ahead, the query turns to them. Convex
/// shapes are as deep as their least depth, others as near as their nearest part or as deep as
/// their deepest. `at`: an answer of distance(), with its cache if there is one.
bool is_tied(const Shape& a,
             const Transform& X_WA,
             const Shape& b,
             const Transform& X_WB,
             const DistanceResult& at,
             const DistanceCache* cache);

}  // namespace stiction::detail
