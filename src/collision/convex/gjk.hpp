#pragma once

#include "collision/convex/simplex.hpp"

namespace stiction::detail {

struct GjkResult {
  enum class End {
    kSeparated,      ///< a positive lower bound, closed to the upper one
    kOverlap,        ///< the origin is in D, or so close that EPA must tell
    kBelowBound,     ///< a plane proves distance > `stop_above`
    kRough,          ///< the bounds are within `rough` of each other
    kMaxIterations,  ///< `simplex.closest` is the upper bound
  };
  End end = End::kMaxIterations;
  Simplex simplex;
  double lower = 0.0;    ///< bound of the distance [m]; of the signed distance at the end kRough
  Vec3d plane{0, 0, 0};  ///< direction of `lower`, as `simplex.closest`; zero: none
  /// kOverlap only because the search stalled: `simplex` holds the distance if EPA finds a gap.
  bool stalled = false;
  int iterations = 0;  ///< support points evaluated
};

/// Distance of D from the origin from the point x0 (need not lie in D), or from the simplex `warm`
/// if that has points. Stops as soon as the distance is known to exceed `stop_above` [m], or to lie
/// within `rough` [m] if that is positive, which `polish` takes further on smooth cores.
GjkResult gjk(const SupportDifference& D,
              const Vec3d& x0,
              const Simplex* warm,
              const DistanceSettings& settings,
              double stop_above,
              double rough = 0.0);

}  // namespace stiction::detail
