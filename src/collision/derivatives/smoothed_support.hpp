#pragma once

#include "stiction/collision/distance_derivatives.hpp"

#include "collision/derivatives/touching_feature.hpp"

namespace stiction::detail {

/// A shape as a point that moves with the normal by a smoothed Hessian of its support function,
/// instead of on flat features. False for half-spaces and surfaces. `depth` [m]: of the overlap,
/// else 0.
bool smoothed_feature(const ContactSide& side,
                      const DerivativeSettings& settings,
                      double depth,
                      PointFeature& feature);

}  // namespace stiction::detail
