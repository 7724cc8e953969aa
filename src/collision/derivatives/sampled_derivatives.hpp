#pragma once

#include "stiction/collision/distance_derivatives.hpp"

namespace stiction::detail {

/// Central differences of the query.
void finite_differences(const Shape& a,
                        const Transform& X_WA,
                        const Shape& b,
                        const Transform& X_WB,
                        const DerivativeSettings& settings,
                        const DistanceCache* cache,
                        DistanceDerivatives& out);
/// Eq. 6 with the answer `at` as control variate.
void sampled_placements(const Shape& a,
                        const Transform& X_WA,
                        const Shape& b,
                        const Transform& X_WB,
                        const DistanceResult& at,
                        const DerivativeSettings& settings,
                        const DistanceCache* cache,
                        DistanceDerivatives& out);

}  // namespace stiction::detail
