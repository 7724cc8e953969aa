#pragma once

#include "simulator/lanes/lane_found.hpp"

// Contacts of pairs without slots. Of hundreds of pairs of bodies few touch at a time: while a pair
// does in any lane of a pack, its points have places there, as many as the lane with the most of
// them needs, in the order of pairs and features. What a world keeps for its next warm start is a
// list of its own: which places its neighbours use changes nothing.

namespace stiction {
inline namespace STICTION_ISA {

/// World rotation of body A of a place.
template <class Real>
inline Mat3<Real> place_rotation(const LaneScene& s, int set, const PackWork<Real>& w) {
  const int body = s.guards[w.guard[set - s.num_slots]].body[0];
  return body < 0 ? Mat3<Real>::identity() : w.data.X_WR.R * w.data.X_RB[body].R;
}

/// One more place of a guard, without a point in any lane.
template <class Real>
inline void open_place(const LaneScene& s, int guard, LaneScratch<Real>& x, PackWork<Real>& w) {
  const Real zero(0.0);
  const int place = w.num_places++, set = s.num_slots + place;
  w.guard[place] = guard;
  w.active[set] = x.gap[set] = zero;
  w.feature[s.num_found + place] = Real(kNoFeature);
  const int found = s.num_found + place;
  x.face[found] = x.ball[found] = x.by_gap[found] = x.witness[found] = zero;
  x.point[set] = {zero, zero, zero};
  w.frame[set].c2 = {zero, zero, Real(1.0)};
}

/// Why a lane with so many points of a guard leaves, if it does; `used`: its places so far.
template <class Real>
inline LaneExit exit_of_points(int points, int used, const Real& friction, int lane) {
  if (points < 0) return LaneExit::kPair;
  if (points > 0 && numbers(&friction)[lane] < 0.0) return LaneExit::kScalar;
  return points + used > kMaxLanePlaces ? LaneExit::kManyRows : LaneExit::kStepped;
}

/// The points of a guard in the lanes `bits` of those that are still in the step; `used` [W].
template <class Real>
STICTION_RARE void find_places(const LaneScene& s,
                               const LaneParameters<Real>& p,
                               int guard,
                               int bits,
                               LaneExit* exit,
                               int* used,
                               LaneScratch<Real>& x,
                               PackWork<Real>& w) {
  constexpr int W = lane_width<Real>;
  const LaneGuard& g = s.guards[guard];
  const int first = w.num_places;
  const Real gravity = norm(p.tree.gravity);
  for (int i = 0; i < W; ++i) {
    if ((bits >> i & 1) == 0 || exit[i] != LaneExit::kStepped) continue;
    const int a = g.shape < g.other ? g.shape : g.other, b = g.shape + g.other - a;
    const LanePairQuery query =
        lane_query(s, p, a, b, p.rest_offset + g.pair, numbers(&gravity)[i], i, x);
    LanePairPoint points[kMostFoundPoints];
    const int count = s.find(s.finder.self, query, points, kMostFoundPoints);
    exit[i] = exit_of_points(count, used[i], p.friction[g.pair], i);
    if (exit[i] != LaneExit::kStepped) continue;
    used[i] += count;
    while (w.num_places < first + count) open_place(s, guard, x, w);
    for (int k = 0; k < count; ++k) {
      const int place = first + k, set = s.num_slots + place;
      put_point(points[k], query.rest_offset, i, set, s.num_found + place, w.frame[set].c2, x, w);
    }
  }
  for (int set = s.num_slots + first; set < s.num_slots + w.num_places; ++set)
    w.frame[set] = lane_frame(place_rotation(s, set, w), w.frame[set].c2);
}

/// Contacts of guards in the lanes that are still in the step, some of which may leave it.
template <class Real>
inline void lane_places(const LaneScene& s,
                        const LaneParameters<Real>& p,
                        const Mask<Real>& at,
                        LaneExit* exit,
                        LaneScratch<Real>& x,
                        PackWork<Real>& w) {
  int used[lane_width<Real>] = {};
  w.num_places = 0;
  for (int k = 0; k < s.num_guards; ++k) {
    const LaneGuard& g = s.guards[k];
    const Real& offset = p.rest_offset[g.pair];
    const int bits = lane_bits(at & lane_near(s, p, x, g.shape, g.other, g.plane, offset));
    if (bits != 0) find_places(s, p, k, bits, exit, used, x, w);
  }
}

/// What lane i of LanePack::places keeps of a place's pair and feature; null: nothing.
template <class Real>
inline const double* find_kept(
    const LaneScene& s, const double* kept, int place, int i, const PackWork<Real>& w) {
  constexpr int W = lane_width<Real>;
  const double feature = numbers(w.feature)[(s.num_found + place) * W + i];
  const int count = static_cast<int>(kept[i]);
  for (int k = 0; k < count; ++k) {
    const double* entry = kept + (1 + kKeptPlace * k) * W + i;
    if (entry[0] == w.guard[place] && entry[W] == feature) return entry;
  }
  return nullptr;
}

/// The warm start of a place, axes of body A.
template <class Real>
STICTION_RARE Vec3<Real> kept_impulse(const LaneScene& s,
                                      const double* kept,
                                      int place,
                                      const PackWork<Real>& w) {
  constexpr int W = lane_width<Real>;
  Vec3<Real> out{Real(0.0), Real(0.0), Real(0.0)};
  for (int i = 0; i < W; ++i) {
    const double* entry = find_kept(s, kept, place, i, w);
    for (int r = 0; r < 3 && entry != nullptr; ++r) numbers(&out[r])[i] = entry[(2 + r) * W];
  }
  return out;
}

/// Whether a pack has, or had, points in places.
template <class Real>
inline bool has_places(const LaneScene& s, const LanePack& pack, const PackWork<Real>& w) {
  if (s.places.count == 0) return false;
  return w.num_places > 0 || any(*as_array<Real>(pack.places) > Real(0.0));
}

/// The solution goes to LanePack::places, in the lanes of `at`.
template <class Real>
STICTION_RARE void store_places(const LaneScene& s,
                                const LanePack& pack,
                                const Mask<Real>& at,
                                const PackWork<Real>& w) {
  constexpr int W = lane_width<Real>;
  Real& count = *as_array<Real>(pack.places);
  count = select(at, Real(0.0), count);
  const int stepped = lane_bits(at);
  for (int place = 0; place < w.num_places; ++place) {
    const int set = s.num_slots + place;
    const int bits = lane_bits(w.active[set] > Real(0.0)) & stepped;
    if (bits == 0) continue;
    const Real* l = w.lambda + 3 * set;
    const Vec3<Real> impulse =
        transpose_times(place_rotation(s, set, w), w.frame[set] * Vec3<Real>{l[0], l[1], l[2]});
    for (int i = 0; i < W; ++i) {
      if ((bits >> i & 1) == 0) continue;
      double* entry = pack.places + (1 + kKeptPlace * static_cast<int>(pack.places[i])) * W + i;
      entry[0] = w.guard[place];
      entry[W] = numbers(w.feature)[(s.num_found + place) * W + i];
      for (int r = 0; r < 3; ++r) entry[(2 + r) * W] = numbers(&impulse[r])[i];
      pack.places[i] += 1.0;
    }
  }
}

}  // namespace STICTION_ISA
}  // namespace stiction
