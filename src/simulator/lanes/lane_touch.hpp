#pragma once

#include "collision/scene/touch_rule.hpp"
#include "simulator/lanes/lane_seams.hpp"

// Contacts of pairs that meet within the step act where they touch: collision/scene/touch.cpp.

namespace stiction {
inline namespace STICTION_ISA {

/// Whether two sets are contacts of one pair, which follow each other.
template <class Real>
inline bool of_one_pair(const LaneScene& s, int a, int b, const PackWork<Real>& w) {
  if (is_place(s, a) != is_place(s, b)) return false;
  if (is_place(s, a)) return w.guard[a - s.num_slots] == w.guard[b - s.num_slots];
  return s.slots[a].pair == s.slots[b].pair;
}

/// approach_of() a contact.
template <class Real>
inline Real lane_approach(const LaneScene& s,
                          const LaneParameters<Real>& p,
                          int set,
                          const LaneScratch<Real>& x,
                          const PackWork<Real>& w) {
  const auto velocity = [&](int g) {
    if (s.geometries[g].body < 0) return Vec3<Real>{Real(0.0), Real(0.0), Real(0.0)};
    const Vec3<Real> arm = x.point[set] - x.pose[g] * p.centre[g];
    return x.linear[g] + cross(x.angular[g], arm);
  };
  int a, b;
  geometries_of(s, set, w, a, b);
  return Real(s.rules.dt) * dot(w.frame[set].c2, velocity(a) - velocity(b));
}

/// How far a contact is moved along its normal, shift_at_touch().
template <class Real>
inline Real lane_touch_shift(const LaneScene& s,
                             int set,
                             const Real& reach,
                             const LaneScratch<Real>& x) {
  const bool place = is_place(s, set);
  if (!place && s.slots[set].found < 0)
    return Real(s.slots[set].body_is_a ? -1.0 : 1.0) * reach + Real(0.0);
  const int k = place ? s.num_found + set - s.num_slots : s.slots[set].found;
  return x.touch_share[k] * reach + x.touch_fixed[k];
}

template <class Real>
inline void lane_touch(const LaneScene& s,
                       const LaneParameters<Real>& p,
                       LaneScratch<Real>& x,
                       const PackWork<Real>& w) {
  const Real zero(0.0), far(1e300);
  const int count = s.num_slots + w.num_places;
  for (int first = 0, last = 0; first < count; first = last) {
    Real least = far;
    for (last = first; last < count && of_one_pair(s, first, last, w); ++last)
      least = min(least, select(w.active[last] > zero, x.gap[last], far));
    if (!any((least >= zero) & (least < far))) continue;
    Real approach(-1e300);
    for (int set = first; set < last; ++set)
      approach =
          max(approach, select(w.active[set] > zero, lane_approach(s, p, set, x, w), Real(-1e300)));
    const Real reach = touch_reach(least, approach);
    for (int set = first; set < last; ++set) {
      const Real shift = lane_touch_shift(s, set, reach, x);
      const Mask<Real> moves =
          (w.active[set] > zero) & (least >= zero) & ((shift > zero) | (shift < zero));
      if (!any(moves)) continue;
      const Vec3<Real> there = x.point[set] + w.frame[set].c2 * shift;
      for (int r = 0; r < 3; ++r) x.point[set][r] = select(moves, there[r], x.point[set][r]);
    }
  }
}

}  // namespace STICTION_ISA
}  // namespace stiction
