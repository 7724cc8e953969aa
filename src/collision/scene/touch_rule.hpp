#pragma once

#include "stiction/math/lanes.hpp"

// How far a pair still moves until it touches, for one world and for packs of them. With x =
// approach / gap between 0 and 1: gap (3 x^2 - 2 x^3). All of the gap, where the pair comes as much
// closer within the step; nothing, where it rests or parts, so that what rests is not moved by the
// rounding of its gap; and no kink between them, as a plain minimum would have.

namespace stiction {
inline namespace STICTION_ISA {

/// x; `approach`: by how much the pair comes closer within the step [m].
template <class Real>
inline Real touch_share(const Real& gap, const Real& approach) {
  return min(Real(1.0), max(Real(0.0), approach) / max(Real(1e-300), gap));
}

template <class Real>
inline Real touch_reach(const Real& gap, const Real& approach) {
  const Real x = touch_share(gap, approach);
  return max(Real(0.0), gap) * (x * x * (Real(3.0) - Real(2.0) * x));
}

/// Its derivatives, where the gap is open.
template <class Real>
inline Real touch_slope_by_gap(const Real& gap, const Real& approach) {
  const Real x = touch_share(gap, approach);
  return x * x * (Real(4.0) * x - Real(3.0));
}
template <class Real>
inline Real touch_slope_by_approach(const Real& gap, const Real& approach) {
  const Real x = touch_share(gap, approach);
  return Real(6.0) * x * (Real(1.0) - x);
}

}  // namespace STICTION_ISA
}  // namespace stiction
