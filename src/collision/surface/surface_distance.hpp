#pragma once

#include "stiction/collision/distance.hpp"

namespace stiction::detail {

/// Signed distance of a pair with a height field or triangle mesh, the same in either order.
/// Overlapping: the deepest contact point, along its normal. Pairs farther than
/// settings.max_distance may be given any distance above it. Allocates.
DistanceResult distance_surface(const Shape& a,
                                const Transform& X_WA,
                                const Shape& b,
                                const Transform& X_WB,
                                const DistanceSettings& settings);

}  // namespace stiction::detail
