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

/// end_of_pair() of the sets.
template <class Real>
inline int end_of_pair(const LaneScene& s, int first, const PackWork<Real>& w) {
  const int count = s.num_slots + w.num_places;
  int last = first + 1;
  while (last < count && of_one_pair(s, first, last, w)) ++last;
  return last;
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

/// What touches together with the pair of the sets [first, last): its least gap, and the most that
/// a point comes closer in the step; `normal`: of a pair, that of its first contact.
template <class Real>
struct LaneTouch {
  Real least, approach;
  Vec3<Real> normal;
};

template <class Real>
inline LaneTouch<Real> touch_of_pair(const LaneScene& s,
                                     const LaneParameters<Real>& p,
                                     int first,
                                     int last,
                                     const LaneScratch<Real>& x,
                                     const PackWork<Real>& w) {
  const Real zero(0.0), far(1e300);
  LaneTouch<Real> out{far, Real(-1e300), {zero, zero, zero}};
  for (int set = last - 1; set >= first; --set) {
    const Mask<Real> active = w.active[set] > zero;
    out.least = min(out.least, select(active, x.gap[set], far));
    for (int r = 0; r < 3; ++r) out.normal[r] = select(active, w.frame[set].c2[r], out.normal[r]);
  }
  if (!any((out.least >= zero) & (out.least < far))) return out;
  for (int set = first; set < last; ++set)
    out.approach = max(out.approach,
                       select(w.active[set] > zero, lane_approach(s, p, set, x, w), Real(-1e300)));
  return out;
}

/// The bodies of sides A and B of a contact.
template <class Real>
inline void bodies_of(const LaneScene& s, int set, const PackWork<Real>& w, int& a, int& b) {
  geometries_of(s, set, w, a, b);
  a = s.geometries[a].body;
  b = s.geometries[b].body;
}

/// touch_of_pair() with those of the pairs of the same bodies that have its normal,
/// touch_together().
template <class Real>
inline LaneTouch<Real> touch_together(const LaneScene& s,
                                      const LaneParameters<Real>& p,
                                      int first,
                                      int last,
                                      const LaneScratch<Real>& x,
                                      const PackWork<Real>& w) {
  constexpr double kOneNormal = 1.0 - 1e-12;
  const int count = s.num_slots + w.num_places;
  LaneTouch<Real> all = touch_of_pair(s, p, first, last, x, w);
  const Real least = all.least, zero(0.0), far(1e300);
  if (!any((least >= zero) & (least < far))) return all;
  int a, b;
  bodies_of(s, first, w, a, b);
  for (int begin = 0, end = 0; begin < count; begin = end) {
    end = end_of_pair(s, begin, w);
    int other_a, other_b;
    bodies_of(s, begin, w, other_a, other_b);
    const bool same = a == other_a && b == other_b, swapped = a == other_b && b == other_a;
    if (begin == first || (!same && !swapped)) continue;
    const LaneTouch<Real> other = touch_of_pair(s, p, begin, end, x, w);
    const Real cosine = dot(all.normal, other.normal);
    const Mask<Real> together = (same ? cosine : -cosine) >= Real(kOneNormal);
    all.least = select(together, min(all.least, other.least), all.least);
    all.approach = select(together, max(all.approach, other.approach), all.approach);
  }
  return all;
}

template <class Real>
inline void lane_touch(const LaneScene& s,
                       const LaneParameters<Real>& p,
                       LaneScratch<Real>& x,
                       const PackWork<Real>& w) {
  const Real zero(0.0), far(1e300);
  const int count = s.num_slots + w.num_places;
  for (int first = 0, last = 0; first < count; first = last) {
    last = end_of_pair(s, first, w);
    const LaneTouch<Real> all = touch_together(s, p, first, last, x, w);
    const Mask<Real> apart = (all.least >= zero) & (all.least < far);
    const Real reach = select(apart, touch_reach(all.least, all.approach), Real(-1.0));
    for (int set = first; set < last; ++set) x.touch[set] = reach;
  }
  for (int set = 0; set < count; ++set) {  // once no approach is asked for any more
    const Mask<Real> apart = (w.active[set] > zero) & (x.touch[set] >= zero);
    if (!any(apart)) continue;
    const Real shift = lane_touch_shift(s, set, x.touch[set], x);
    const Mask<Real> moves = apart & ((shift > zero) | (shift < zero));
    if (!any(moves)) continue;
    const Vec3<Real> there = x.point[set] + w.frame[set].c2 * shift;
    for (int r = 0; r < 3; ++r) x.point[set][r] = select(moves, there[r], x.point[set][r]);
  }
}

}  // namespace STICTION_ISA
}  // namespace stiction
