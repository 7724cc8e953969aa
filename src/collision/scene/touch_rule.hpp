#pragma once

#include "stiction/math/lanes.hpp"

// How far an open gap moves the point of a contact, for one world and for packs of them.

namespace stiction {

/// Of the margin: up to this gap the moment of touching fades in, so that nothing has a kink at
/// zero, where all that rests is. At 1 mm differences of 1 um do not see the slope there, and the
/// arm is off by 23 um at most.
inline constexpr double kTouchFade = 0.09;

inline namespace STICTION_ISA {

/// A gap as a share of the fade, 1 where it is wider.
template <class Real>
inline Real faded_gap(const Real& gap, double margin) {
  const Real zero(0.0), one(1.0), open = max(zero, gap);
  const double fade = kTouchFade * margin;
  return fade > 0.0 ? min(one, open / Real(fade)) : select(open > zero, one, zero);
}

/// The gap where it is wider than the fade; below, g x^2 (3 - 2 x) with x = g / fade.
template <class Real>
inline Real touch_reach(const Real& gap, double margin) {
  const Real x = faded_gap(gap, margin);
  return max(Real(0.0), gap) * (x * x * (Real(3.0) - Real(2.0) * x));
}

/// Its derivative.
template <class Real>
inline Real touch_slope(const Real& gap, double margin) {
  const Real x = faded_gap(gap, margin);
  return x * x * (Real(9.0) - Real(8.0) * x);
}

}  // namespace STICTION_ISA
}  // namespace stiction
