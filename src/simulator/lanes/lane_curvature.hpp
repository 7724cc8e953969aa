#pragma once

#include "contact/curvature.hpp"
#include "contact/row_rules.hpp"
#include "simulator/lanes/lane_found.hpp"
#include "simulator/lanes/lane_seams.hpp"

// What the velocities of contacts change in half a step, contact/contact_curvature.cpp. The maps of
// features that are on no flat face are found by the scalar code, lane by lane.

namespace stiction {
inline namespace STICTION_ISA {

/// Geometries and bodies of a contact's sides A and B; -1: the world.
struct LaneSides {
  int geometry[2], body[2];
};
template <class Real>
inline LaneSides sides_of(const LaneScene& s, int set, const PackWork<Real>& w) {
  LaneSides out{};
  geometries_of(s, set, w, out.geometry[0], out.geometry[1]);
  for (int k = 0; k < 2; ++k) out.body[k] = s.geometries[out.geometry[k]].body;
  return out;
}

/// LanePairPoint's of a contact.
template <class Real>
struct LaneFace {
  Real face, ball, by_gap, witness;
};
template <class Real>
inline LaneFace<Real> face_of(const LaneScene& s,
                              int set,
                              const LaneParameters<Real>& p,
                              const LaneScratch<Real>& x) {
  if (!is_place(s, set) && s.slots[set].found < 0) {
    const LaneSlot& slot = s.slots[set];
    const bool round = slot.kind != LaneSlot::Kind::kBoxCorner;
    const Real face(slot.body_is_a ? -1.0 : 1.0);
    return {face, round ? p.size[slot.shape].x : Real(0.0), Real(1.0), Real(0.0)};
  }
  const int k = is_place(s, set) ? s.num_found + set - s.num_slots : s.slots[set].found;
  return {x.face[k], x.ball[k], x.by_gap[k], x.witness[k]};
}

template <class Real>
inline MaterialMotion<Real> lane_motion(const LaneScene& s,
                                        int body,
                                        const LaneParameters<Real>& p,
                                        const Vec3<Real>& point,
                                        const PackWork<Real>& w) {
  if (body < 0) return MaterialMotion<Real>::at_rest();
  return material_motion(s.tree, p.tree, w.data, body, point);
}

/// dt/2 kappa of contacts on no face, in the lanes of `at`.
template <class Real>
STICTION_RARE HalfStep<Real> lane_half_step_by_maps(const LaneScene& s,
                                                    int set,
                                                    const LaneSides& sides,
                                                    const MaterialMotion<Real>& a,
                                                    const MaterialMotion<Real>& b,
                                                    const Mask<Real>& at,
                                                    const LaneParameters<Real>& p,
                                                    const LaneScratch<Real>& x,
                                                    const PackWork<Real>& w) {
  constexpr int W = lane_width<Real>;
  const int k = is_place(s, set) ? s.num_found + set - s.num_slots : s.slots[set].found;
  const int pair = material_of(s, set, w);
  const Real gravity = norm(p.tree.gravity);
  FeatureMaps<Real> maps;
  Mat3<Real>* const all[] = {&maps.position_u, &maps.position_w, &maps.normal_u, &maps.normal_w};
  for (Mat3<Real>* map : all) {
    for (int r = 0; r < 9; ++r) map->column(r / 3)[r % 3] = Real(0.0);
  }
  maps.bend_a = maps.bend_b = Real(0.0);
  const int bits = lane_bits(at);
  for (int i = 0; i < W; ++i) {
    if ((bits >> i & 1) == 0) continue;
    const LanePairQuery query = lane_query(s,
                                           p,
                                           sides.geometry[0],
                                           sides.geometry[1],
                                           p.rest_offset + pair,
                                           numbers(&gravity)[i],
                                           i,
                                           x);
    LaneFeature feature;
    for (int r = 0; r < 3; ++r) {
      feature.position[r] = numbers(&x.point[set][r])[i];
      feature.normal[r] = numbers(&w.frame[set].c2[r])[i];
    }
    feature.gap = numbers(x.gap)[set * W + i];
    feature.feature = numbers(w.feature)[k * W + i];
    feature.witness = numbers(x.witness)[k * W + i];
    feature.ball = numbers(x.ball)[k * W + i];
    double found[38];
    s.finder.maps(s.finder.self, query, feature, found);
    for (int m = 0; m < 36; ++m) numbers(&all[m / 9]->column(m % 9 / 3)[m % 3])[i] = found[m];
    numbers(&maps.bend_a)[i] = found[36];
    numbers(&maps.bend_b)[i] = found[37];
  }
  return half_step_by_maps(a, b, w.frame[set], maps, Real(s.rules.dt));
}

/// Lanes in which a contact carried in the last step.
template <class Real>
inline Mask<Real> lane_carried(const LaneScene& s, int set, const PackWork<Real>& w) {
  const Real* kept = w.lambda + set_offset(s, set);
  const Real zero(0.0);
  return (w.active[set] > zero) & (squared_norm(Vec3<Real>{kept[0], kept[1], kept[2]}) > zero);
}

/// Adds `what` of all contacts of two bodies to `sum`.
template <class Real, class T, class What>
inline T sum_of_touching(
    const LaneScene& s, const LaneSides& sides, const PackWork<Real>& w, T sum, const What& what) {
  for (int k = 0; k < w.num_used && is_cone(s, w.used[k]); ++k) {
    const LaneSides other = sides_of(s, w.used[k], w);
    if (other.body[0] == sides.body[0] && other.body[1] == sides.body[1]) sum += what(w.used[k]);
  }
  return sum;
}

/// dt/2 kappa of a contact in the lanes of `carried`, zero in the others.
template <class Real>
inline HalfStep<Real> lane_half_step(const LaneScene& s,
                                     int set,
                                     const LaneSides& sides,
                                     const Mask<Real>& carried,
                                     const LaneParameters<Real>& p,
                                     const LaneScratch<Real>& x,
                                     const PackWork<Real>& w) {
  const Real zero(0.0), dt(s.rules.dt);
  const LaneFace<Real> at = face_of(s, set, p, x);
  const Vec3<Real>& point = x.point[set];
  const MaterialMotion<Real> a = lane_motion(s, sides.body[0], p, point, w),
                             b = lane_motion(s, sides.body[1], p, point, w);
  const Mask<Real> known = carried & (at.witness >= zero), on_face = abs(at.face) > zero;
  const Real radius = at.ball + at.by_gap * (x.gap[set] + p.rest_offset[material_of(s, set, w)]);
  HalfStep<Real> out{{zero, zero, zero}, {zero, zero, zero}};
  const auto take = [&](const Mask<Real>& m, const HalfStep<Real>& found) {
    for (int r = 0; r < 3; ++r) {
      out.rolls[r] = select(m, found.rolls[r], out.rolls[r]);
      out.slides[r] = select(m, found.slides[r], out.slides[r]);
    }
  };
  const Mask<Real> curves = known & on_face & may_curve(a, b, radius, dt);
  if (any(curves)) take(curves, half_step_on_face(a, b, w.frame[set], radius, at.face > zero, dt));
  if (!any(known & negated(on_face))) return out;
  const Mask<Real> others = known & negated(on_face) & may_curve(a, b, Real(kAnyArm), dt);
  if (any(others)) take(others, lane_half_step_by_maps(s, set, sides, a, b, others, p, x, w));
  return out;
}

/// w.curvature of contacts, after the warm start; none where the two bodies meet.
template <class Real>
inline void lane_curvature(const LaneScene& s,
                           const LaneParameters<Real>& p,
                           LaneScratch<Real>& x,
                           PackWork<Real>& w) {
  const Real zero(0.0), one(1.0), dt(s.rules.dt);
  const Real least = restitution_threshold(s.rules.restitution_threshold, p.tree.gravity, dt);
  const auto each = [&](const auto& f) {
    for (int k = 0; k < w.num_used && is_cone(s, w.used[k]); ++k)
      f(w.used[k], sides_of(s, w.used[k], w), w.curvature + set_offset(s, w.used[k]));
  };
  Mask<Real> any_meets = one < zero, any_slides = any_meets;
  each([&](int set, const LaneSides& sides, Real* curvature) {
    const Real points = sum_of_touching(
        s, sides, w, zero, [&](int other) { return select(lane_carried(s, other, w), one, zero); });
    const Mask<Real> own = lane_carried(s, set, w), alone = own & (points < Real(1.5)),
                     carried = (w.active[set] > zero) & (points > zero);
    HalfStep<Real> found{{zero, zero, zero}, {zero, zero, zero}};
    if (any(carried)) found = lane_half_step(s, set, sides, carried, p, x, w);
    for (int r = 0; r < 3; ++r) {
      curvature[r] = found.rolls[r];
      x.slides[set][r] = select(alone, found.slides[r], zero);
    }
    const Real known = select(p.restitution[material_of(s, set, w)] > zero, zero, curvature[2]);
    const Real v = x.jv[set_offset(s, set) + 2] - known;
    const Mask<Real> meets = own & gap_closes(x.gap[set], v, dt) & (-v > least);
    x.meets[set] = select(meets, one, zero);
    any_meets = any_meets | meets;
    any_slides = any_slides | (squared_norm(x.slides[set]) > zero);
  });
  if (any(any_slides)) {
    each([&](int set, const LaneSides& sides, Real* curvature) {
      const Vec3<Real> slides = sum_of_touching(
          s, sides, w, Vec3<Real>{zero, zero, zero}, [&](int other) { return x.slides[other]; });
      const Vec3<Real> rolls{curvature[0], curvature[1], curvature[2]};
      const Vec3<Real> whole = with_sliding(rolls, slides, w.frame[set]);
      const Mask<Real> known = (w.active[set] > zero) & (face_of(s, set, p, x).witness >= zero);
      for (int r = 0; r < 3; ++r) curvature[r] = select(known, whole[r], zero);
    });
  }
  if (!any(any_meets)) return;
  each([&](int, const LaneSides& sides, Real* curvature) {
    const Mask<Real> meet =
        sum_of_touching(s, sides, w, zero, [&](int other) { return x.meets[other]; }) > zero;
    for (int r = 0; r < 3; ++r) curvature[r] = select(meet, zero, curvature[r]);
  });
}

/// Adds it to g of those that do not bounce, after the references; those that do have none. c*_N of
/// drift_reference(), if it is more.
template <class Real>
inline void add_curvature(const LaneScene& s, LaneScratch<Real>& x, PackWork<Real>& w) {
  const Real zero(0.0), dt(s.rules.dt), least(least_drift(s.rules.caps));
  for (int k = 0; k < w.num_used && is_cone(s, w.used[k]); ++k) {
    const int set = w.used[k], o = set_offset(s, set);
    const Mask<Real> bounces = w.impact[set] > zero;
    for (int r = 0; r < 3; ++r) {
      w.curvature[o + r] = select(bounces, zero, w.curvature[o + r]);
      x.g[o + r] += w.curvature[o + r];
    }
    const Real curvature = w.curvature[o + 2];
    const Real more = drift_reference(x.gap[set], curvature, dt) - w.reference[set];
    const Mask<Real> corrects = (w.active[set] > zero) & (more > zero) &
                                (-x.gap[set] > least * dt) & (abs(curvature) > zero);
    w.reference[set] += select(corrects, more, zero);
    x.g[o + 2] -= select(corrects, more, zero);
  }
}

}  // namespace STICTION_ISA
}  // namespace stiction
