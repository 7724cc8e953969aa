#pragma once

namespace stiction {

/// Sizes of shapes [m]. Beyond, products of six lengths (volumes squared) leave the range of
/// double.
inline constexpr double kLeastSize = 1e-30, kLargestSize = 1e30;

}  // namespace stiction
