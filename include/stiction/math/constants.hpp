#pragma once

#include <limits>
#include <numbers>

namespace stiction {

inline constexpr double kPi = std::numbers::pi;
inline constexpr double kInfinity = std::numeric_limits<double>::infinity();

/// Rounding of a sum of some terms, in parts of them: 16 u, u = 2^-53.
inline constexpr double kSumRounding = 16.0 * 0x1p-53;

/// Rows of the dense solves lie so many doubles apart: n rounded up to whole vectors of 8.
inline constexpr int padded(int n) { return (n + 7) / 8 * 8; }

}  // namespace stiction
