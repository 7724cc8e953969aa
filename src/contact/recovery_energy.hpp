#pragma once

#include "stiction/math/lanes.hpp"

namespace stiction {
inline namespace STICTION_ISA {

/// What one row that asks for c* gives [J], of its impulse and its velocity less c*: lambda . J v,
/// of J v what is between 0 and c*.
inline double energy_of_recovery(double asked, double lambda, double velocity) {
  const double v = velocity + asked, low = asked < 0.0 ? asked : 0.0,
               high = asked > 0.0 ? asked : 0.0;
  return lambda * (v < low ? low : v > high ? high : v);
}

}  // namespace STICTION_ISA
}  // namespace stiction
