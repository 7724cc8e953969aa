#pragma once

namespace stiction {

/// Coordinates and velocities from here on count as numbers that are not finite: products of four
/// of them overflow, and the narrow phase would meet poses that are no numbers [SI].
inline constexpr double kLargestMotion = 1e75;

/// False if one of n numbers is NaN, or not below kLargestMotion in size.
bool within_bounds(const double* x, int n);

}  // namespace stiction
