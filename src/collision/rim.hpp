#pragma once

#include "pair.hpp"

// Which points of a round rim stand for it. Four that are fixed to the body, a quarter turn apart:
// they are the same material points from step to step, whether the body rests or spins, so cached
// impulses stay with them. And, once the disc is tilted, the lowest point of the rim: so the depth
// is exact and the body tips about its true rim, not about the square of the four.

namespace stiction::detail {

/// Sine of the tilt [rad] from which the lowest point of a rim has a direction of its own. Below,
/// the four fixed points miss the depth by at most 3e-7 of the radius; resting bodies stay far
/// below.
inline constexpr double kLevelRim = 1e-6;

/// A cap counts as a face while its normal is within 45 degrees of the contact normal, beyond it
/// the side counts as a segment. Both hold the lowest point of the rim, so the switch moves nothing
/// that touches.
inline constexpr double kCapCosine = 0.70710678118654752;

inline constexpr int kRimPoints = 4;

/// Fixed point k of a circle of radius r about the z axis: +x, +y, -x, -y.
inline Vec3d rim_point(double r, double z, int k) {
  const double s = k < 2 ? r : -r;
  return k % 2 == 0 ? Vec3d{s, 0.0, z} : Vec3d{0.0, s, z};
}

}  // namespace stiction::detail
