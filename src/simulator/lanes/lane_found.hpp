#pragma once

#include "simulator/lanes/lane_contacts.hpp"

// Pairs of a moving shape and the world whose points follow from no formula of a slot: the scalar
// narrow phase finds them, lane by lane (lanes/pair_finder.hpp), and they take the slots of the
// pair in the order of their features. From there on they are contacts as others are.

namespace stiction {
inline namespace STICTION_ISA {

/// Lane i of a geometry.
template <class Real>
inline void read_lane_shape(
    const LaneParameters<Real>& p, const LaneScratch<Real>& x, int g, int i, LaneShape& out) {
  constexpr int W = lane_width<Real>;
  const auto copy = [i](const Real* from, int n, double* to) {
    for (int k = 0; k < n; ++k) to[k] = numbers(from)[k * W + i];
  };
  copy(&x.pose[g].R.c0.x, 12, out.pose);
  copy(&p.size[g].x, 3, out.size);
  copy(x.reach + g, 1, &out.reach);
  copy(&x.linear[g].x, 3, out.linear);
  copy(&x.angular[g].x, 3, out.angular);
}

/// Two geometries in lane i.
template <class Real>
inline LanePairQuery lane_query(const LaneScene& s,
                                const LaneParameters<Real>& p,
                                int a,
                                int b,
                                const Real* rest_offset,
                                double gravity,
                                int i,
                                const LaneScratch<Real>& x) {
  LanePairQuery query;
  query.geometry_a = s.geometries[a].geometry;
  query.geometry_b = s.geometries[b].geometry;
  read_lane_shape(p, x, a, i, query.a);
  read_lane_shape(p, x, b, i, query.b);
  query.gravity = gravity;
  query.rest_offset = numbers(rest_offset)[i];
  return query;
}

/// Keeps a point in lane i as that of a set, its normal, and its feature as that number.
template <class Real>
inline void put_point(const LanePairPoint& point,
                      double rest_offset,
                      int i,
                      int set,
                      int feature,
                      Vec3<Real>& normal,
                      LaneScratch<Real>& x,
                      PackWork<Real>& w) {
  constexpr int W = lane_width<Real>;
  for (int r = 0; r < 3; ++r) {
    numbers(&x.point[set][r])[i] = point.position[r];
    numbers(&normal[r])[i] = point.normal[r];
  }
  numbers(x.gap)[set * W + i] = point.distance - rest_offset;
  numbers(w.feature)[feature * W + i] = point.feature;
  numbers(x.touch_share)[feature * W + i] = point.touch_share;
  numbers(x.touch_fixed)[feature * W + i] = point.touch_fixed;
  numbers(x.face)[feature * W + i] = point.face;
  numbers(x.ball)[feature * W + i] = point.ball;
  numbers(x.by_gap)[feature * W + i] = point.by_gap;
  numbers(x.witness)[feature * W + i] = point.witness;
  numbers(w.active)[set * W + i] = 1.0;
}

/// Keeps points of a pair in its slots.
template <class Real>
inline void put_points(const LaneScene& s,
                       const LaneFoundPair& pair,
                       const LanePairPoint* points,
                       int count,
                       double rest_offset,
                       int i,
                       LaneScratch<Real>& x,
                       PackWork<Real>& w) {
  for (int k = 0; k < count; ++k) {
    const int slot = pair.first_slot + k, found = s.slots[slot].found;
    put_point(points[k], rest_offset, i, slot, found, x.normal[found], x, w);
  }
}

/// Of a ball on a height field; false: find_in_lane() has to tell.
template <class Real>
inline bool find_ball_in_lane(const LaneScene& s,
                              const LaneParameters<Real>& p,
                              const LaneFoundPair& pair,
                              double gravity,
                              int i,
                              LaneScratch<Real>& x,
                              PackWork<Real>& w) {
  constexpr int W = lane_width<Real>;
  const LaneSlot& slot = s.slots[pair.first_slot];
  LaneBallQuery query;
  query.geometry = s.geometries[slot.plane].geometry;
  query.field_is_a = !slot.body_is_a;
  query.stride = W;
  query.pose = numbers(&x.pose[slot.plane].R.c0.x) + i;
  query.centre = numbers(&x.pose[slot.shape].p.x) + i;
  query.linear = numbers(&x.linear[slot.shape].x) + i;
  query.radius = numbers(&p.size[slot.shape].x)[i];
  query.reach = numbers(x.reach)[pair.a * W + i] + numbers(x.reach)[pair.b * W + i];
  query.rest_offset = numbers(p.rest_offset)[slot.pair * W + i];
  query.gravity = gravity;
  LanePairPoint point;
  const int count = s.find_ball(s.finder.self, query, point);
  if (count > 0) put_points(s, pair, &point, count, query.rest_offset, i, x, w);
  return count >= 0;
}

/// The points of a pair in lane i; false if they are more than it has slots.
template <class Real>
inline bool find_in_lane(const LaneScene& s,
                         const LaneParameters<Real>& p,
                         const LaneFoundPair& pair,
                         double gravity,
                         int i,
                         LaneScratch<Real>& x,
                         PackWork<Real>& w) {
  const LaneSlot* slots = s.slots + pair.first_slot;
  const LanePairQuery query =
      lane_query(s, p, pair.a, pair.b, p.rest_offset + slots[0].pair, gravity, i, x);
  LanePairPoint points[kMostFoundPoints];
  const int count = s.find(s.finder.self, query, points, pair.num_slots);
  put_points(s, pair, points, count, query.rest_offset, i, x, w);
  return count >= 0;
}

/// Lanes in which a pair may touch.
template <class Real>
inline Mask<Real> found_near(const LaneScene& s,
                             const LaneParameters<Real>& p,
                             const LaneFoundPair& pair,
                             const LaneScratch<Real>& x) {
  const LaneSlot& slot = s.slots[pair.first_slot];
  return lane_near(s, p, x, slot.shape, slot.plane, pair.plane, p.rest_offset[slot.pair]);
}

/// Contacts of the slots of found pairs, in the lanes of `at`. Returns those with more points than
/// slots.
template <class Real>
inline Mask<Real> lane_found_contacts(const LaneScene& s,
                                      const LaneParameters<Real>& p,
                                      const Mask<Real>& at,
                                      LaneScratch<Real>& x,
                                      PackWork<Real>& w) {
  constexpr int W = lane_width<Real>;
  const Real zero(0.0), one(1.0);
  Real crowded(0.0);
  const Real gravity = norm(p.tree.gravity);
  for (int j = 0; j < s.num_found_pairs; ++j) {
    const LaneFoundPair& pair = s.found_pairs[j];
    for (int slot = pair.first_slot; slot < pair.first_slot + pair.num_slots; ++slot) {
      const int found = s.slots[slot].found;
      x.gap[slot] = w.active[slot] = zero;
      x.point[slot] = {zero, zero, zero};
      x.normal[found] = {zero, zero, one};
      w.feature[found] = Real(kNoFeature);
      x.face[found] = x.ball[found] = x.by_gap[found] = x.witness[found] = zero;
    }
    const int bits = lane_bits(at & found_near(s, p, pair, x));
    for (int i = 0; i < W; ++i) {
      if ((bits >> i & 1) == 0) continue;
      const double g = numbers(&gravity)[i];
      if (pair.ball && find_ball_in_lane(s, p, pair, g, i, x, w)) continue;
      if (!find_in_lane(s, p, pair, g, i, x, w)) numbers(&crowded)[i] = 1.0;
    }
    for (int slot = pair.first_slot; slot < pair.first_slot + pair.num_slots; ++slot) {
      const LaneSlot& own = s.slots[slot];
      if (!any(w.active[slot] > zero)) continue;
      const Mat3<Real> R_WA =
          own.body_is_a ? w.data.X_WR.R * w.data.X_RB[own.body].R : Mat3<Real>::identity();
      w.frame[slot] = lane_frame(R_WA, x.normal[own.found]);
    }
  }
  return crowded > zero;
}

/// Warm starts of found pairs go from the slots where their features were to those where they are.
template <class Real>
inline void follow_features(const LaneScene& s,
                            const double* kept_features,
                            const Real* kept,
                            const PackWork<Real>& w,
                            Real* impulse) {
  constexpr int W = lane_width<Real>;
  for (int j = 0; j < s.num_found_pairs; ++j) {
    const LaneFoundPair& pair = s.found_pairs[j];
    const int found = s.slots[pair.first_slot].found;
    for (int k = 0; k < pair.num_slots; ++k) {
      const int o = 3 * (pair.first_slot + k);
      for (int r = 0; r < 3; ++r) impulse[o + r] = Real(0.0);
      if (!any(w.active[pair.first_slot + k] > Real(0.0))) continue;
      for (int i = 0; i < W; ++i) {
        const double feature = numbers(w.feature)[(found + k) * W + i];
        if (feature == kNoFeature) continue;
        for (int m = 0; m < pair.num_slots; ++m) {
          if (kept_features[(found + m) * W + i] != feature) continue;
          const int from = 3 * (pair.first_slot + m);
          for (int r = 0; r < 3; ++r)
            numbers(impulse)[(o + r) * W + i] = numbers(kept)[(from + r) * W + i];
          break;
        }
      }
    }
  }
}

}  // namespace STICTION_ISA
}  // namespace stiction
