#pragma once

#include "collision/convex/support_difference.hpp"

namespace stiction::detail {

/// Answer of GJK and EPA with the vertices it rests on.
struct GeneralResult {
  DistanceResult distance;
  int count = 0;  ///< of the final simplex or face
  int index_a[4], index_b[4];
  std::uint32_t feature = 0;  ///< names the features of a polished answer
  bool beyond = false;  ///< proven farther than `stop_above`; only `distance` is set, to the bound
};

/// Any two bounded shapes. Stops as soon as they are known to be farther apart than `stop_above`
/// [m].
GeneralResult query_general(const Shape& a,
                            const Transform& X_WA,
                            const Shape& b,
                            const Transform& X_WB,
                            const DistanceSettings& settings,
                            double stop_above,
                            DistanceCache* cache);
DistanceResult distance_general(const Shape& a,
                                const Transform& X_WA,
                                const Shape& b,
                                const Transform& X_WB,
                                const DistanceSettings& settings,
                                DistanceCache* cache);
/// True if they overlap or touch.
bool overlap_general(const Shape& a,
                     const Transform& X_WA,
                     const Shape& b,
                     const Transform& X_WB,
                     const DistanceSettings& settings,
                     DistanceCache* cache,
                     int* iterations);

/// Hash of the vertices of an answer: the feature of a manifold of one point.
std::uint32_t vertex_feature(const GeneralResult& r);

}  // namespace stiction::detail
