#pragma once

#include "simulator/lanes/lane_places.hpp"

// Contacts against which a seam between flush shapes would push are left out, by the one rule of
// collision/scene/seams.cpp, lane by lane where a shape touches two others.

namespace stiction {
inline namespace STICTION_ISA {

/// The two geometries of a contact, A first (LaneGeometry).
template <class Real>
inline void geometries_of(const LaneScene& s, int set, const PackWork<Real>& w, int& a, int& b) {
  const bool place = is_place(s, set);
  const int shape = place ? s.guards[w.guard[set - s.num_slots]].shape : s.slots[set].shape;
  const int other = place ? s.guards[w.guard[set - s.num_slots]].other : s.slots[set].plane;
  a = shape < other ? shape : other;
  b = shape + other - a;
}

/// The contacts of one world.
struct LaneSeams {
  static constexpr int kMost = 64;  ///< a world with more leaves the lanes in any case
  LaneSeamPoint points[kMost];
  int set[kMost], a[kMost], b[kMost];  ///< a, b: LaneGeometry
  int count = 0;

  /// Whether a geometry is in contact with two others.
  bool any() const {
    for (int i = 0; i < count; ++i) {
      for (int k = 0; k < i; ++k) {
        const bool same = a[i] == a[k] && b[i] == b[k];
        if (!same && (a[i] == a[k] || a[i] == b[k] || b[i] == a[k] || b[i] == b[k])) return true;
      }
    }
    return false;
  }
};

/// The contacts of lane i; false: there are too many.
template <class Real>
inline bool gather_seams(const LaneScene& s,
                         const LaneParameters<Real>& p,
                         int i,
                         const LaneScratch<Real>& x,
                         const PackWork<Real>& w,
                         LaneSeams& out) {
  constexpr int W = lane_width<Real>;
  out.count = 0;
  for (int set = 0; set < s.num_slots + w.num_places; ++set) {
    if (!(numbers(w.active)[set * W + i] > 0.0)) continue;
    if (out.count == LaneSeams::kMost) return false;
    const int k = out.count++;
    LaneSeamPoint& point = out.points[k];
    out.set[k] = set;
    geometries_of(s, set, w, out.a[k], out.b[k]);
    point.geometry_a = s.geometries[out.a[k]].geometry;
    point.geometry_b = s.geometries[out.b[k]].geometry;
    for (int r = 0; r < 3; ++r) {
      point.position[r] = numbers(&x.point[set][r])[i];
      point.normal[r] = numbers(&w.frame[set].c2[r])[i];
    }
    const Real& offset = p.rest_offset[material_of(s, set, w)];
    point.distance = numbers(x.gap)[set * W + i] + numbers(&offset)[i];
  }
  return true;
}

template <class Real>
inline void leave_out(const LaneScene& s, int set, int i, PackWork<Real>& w) {
  constexpr int W = lane_width<Real>;
  numbers(w.active)[set * W + i] = 0.0;
  const int feature = is_place(s, set) ? s.num_found + set - s.num_slots : s.slots[set].found;
  if (feature >= 0) numbers(w.feature)[feature * W + i] = kNoFeature;
}

/// In the lanes of `at`, some of which may leave the step.
template <class Real>
STICTION_RARE void lane_seams(const LaneScene& s,
                              const LaneParameters<Real>& p,
                              const Mask<Real>& at,
                              LaneExit* exit,
                              LaneScratch<Real>& x,
                              PackWork<Real>& w) {
  const int bits = lane_bits(at);
  LaneSeams seams;
  for (int i = 0; i < lane_width<Real>; ++i) {
    if ((bits >> i & 1) == 0) continue;
    if (!gather_seams(s, p, i, x, w, seams)) {
      exit[i] = LaneExit::kManyRows;
      continue;
    }
    if (!seams.any()) continue;
    for (int k = 0; k < 2 * seams.count; ++k) {
      const int g = k < seams.count ? seams.a[k] : seams.b[k - seams.count];
      LaneShape shape;
      read_lane_shape(p, x, g, i, shape);
      s.finder.place(s.finder.self, s.geometries[g].geometry, shape);
    }
    s.finder.mark_covered(s.finder.self, seams.points, seams.count);
    for (int k = 0; k < seams.count; ++k) {
      if (seams.points[k].covered) leave_out(s, seams.set[k], i, w);
    }
  }
}

}  // namespace STICTION_ISA
}  // namespace stiction
