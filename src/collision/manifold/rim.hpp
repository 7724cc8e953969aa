#pragma once

#include "collision/pairs/pair.hpp"

// Which points of a round rim stand for it: four, a quarter turn apart. Of a level rim they are
// fixed to the body: the same material points from step to step, whether it rests or spins, so
// cached impulses stay with them. Of a tilted one the first is the lowest point: so the depth is
// exact and the body tips about its true rim, not about a square. Four equal springs on a circle
// resist tilt alike in all directions (k r^2 / 2), so turning the square moves no force.

namespace stiction::detail {

/// Sine of the tilt from which the lowest point of a rim has a direction of its own. Below, four
/// fixed points miss the depth by at most 3e-7 of the radius; resting bodies stay far below.
inline constexpr double kLevelRim = 1e-6;

/// A cap counts as a face while its normal is within 45 degrees of the contact normal, beyond it
/// the side counts as a segment. Both hold the lowest point of the rim, so the switch moves nothing
/// that touches.
inline constexpr double kCapCosine = 0.70710678118654752;

inline constexpr int kRimPoints = 4;

/// The points of a rim: directions from its centre, and the number of the first.
struct Rim {
  double x, y;  ///< unit, towards point 0
  int first;    ///< 0: fixed to the body, 4: point 0 is the lowest

  /// (x, y): components in the plane of the rim of the direction in which depth grows, |n| = 1.
  static Rim towards(double x, double y) {
    const double tilt = std::sqrt(x * x + y * y);
    if (!(tilt > kLevelRim)) return {1.0, 0.0, 0};
    return {x / tilt, y / tilt, kRimPoints};
  }
  double x_of(int k) const { return k == 0 ? x : (k == 1 ? -y : (k == 2 ? -x : y)); }
  double y_of(int k) const { return k == 0 ? y : (k == 1 ? x : (k == 2 ? -y : -x)); }
};

}  // namespace stiction::detail
