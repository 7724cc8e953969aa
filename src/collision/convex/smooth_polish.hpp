#pragma once

#include "collision/convex/support_difference.hpp"

namespace stiction::detail {

/// Methods that are named run to their own end.
inline bool polishes(const SupportDifference& D, const DistanceSettings& settings) {
  return D.smooth() && settings.method == DistanceMethod::kAuto &&
         settings.stopping == StoppingRule::kBounds;
}

/// What GJK or EPA know of a pair, frame A.
struct RoughAnswer {
  Vec3d normal;                ///< unit, from A to B
  Vec3d a, b;                  ///< witness points of the cores
  const SupportPoint* points;  ///< those whose hull holds a - b
  int count;                   ///< 1 ... 4
  double lower;                ///< bound of the signed distance [m]
  int tries;                   ///< pairs of features to try at most
};
inline constexpr int kAllFeatures = 100;

/// The same to rounding: b - a = distance * normal. Where the polish fails only `normal` and
/// `distance` are set, to the best bound of the signed distance that it met.
struct PolishedAnswer {
  Vec3d normal, a, b;
  double distance;            ///< signed [m]
  std::uint32_t feature = 0;  ///< names the two features, never 0
};

/// Newton's method on the normal between the features that the rough answer points at. True: the
/// points are on the cores, and the width of the gap along the normal is the distance and no less
/// than `rough.lower`. Separated pairs then have their answer; of overlapping ones it is a local
/// minimum of the depth, no deeper than the one known before.
bool polish(const SupportDifference& D, const RoughAnswer& rough, PolishedAnswer& answer);

}  // namespace stiction::detail
