#pragma once

#include "simplex.hpp"

namespace stiction::detail {

struct GjkResult {
  enum class End {
    kSeparated,      ///< a positive lower bound, closed to the upper one
    kOverlap,        ///< the origin is in D, or so close that EPA must tell
    kBelowBound,     ///< a plane proves distance > `stop_above`
    kMaxIterations,  ///< `simplex.closest` is the upper bound
  };
  End end = End::kMaxIterations;
  Simplex simplex;
  double lower = 0.0;  ///< bound of the distance [m]
  /// kOverlap only because the search stalled: `simplex` holds the distance if EPA finds a gap.
  bool stalled = false;
  int iterations = 0;
};

/// Distance of D from the origin. Stops as soon as the distance is known to exceed `stop_above`
/// [m].
GjkResult gjk(SupportDifference& D,
              const Vec3d& start,
              const DistanceSettings& settings,
              double stop_above);

/// Answer of GJK and EPA with the vertices it rests on.
struct GeneralResult {
  DistanceResult distance;
  int count = 0;  ///< of the final simplex or face
  int index_a[4], index_b[4];
  bool beyond = false;  ///< proven farther than `stop_above`; nothing else is set
};
GeneralResult query_general(const Shape& a,
                            const Transform& X_WA,
                            const Shape& b,
                            const Transform& X_WB,
                            const DistanceSettings& settings,
                            double stop_above,
                            DistanceCache* cache);

/// Hash of those vertices: the feature of a manifold of one point.
std::uint32_t vertex_feature(const GeneralResult& r);

/// True if two bounded shapes overlap or touch.
bool overlap_general(const Shape& a, const Transform& X_WA, const Shape& b, const Transform& X_WB);

/// Any two bounded shapes.
DistanceResult distance_general(const Shape& a,
                                const Transform& X_WA,
                                const Shape& b,
                                const Transform& X_WB,
                                const DistanceSettings& settings,
                                DistanceCache* cache);

}  // namespace stiction::detail
