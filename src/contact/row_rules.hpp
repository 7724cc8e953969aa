#pragma once

#include "stiction/math/constants.hpp"

#include "dynamics/body_speeds.hpp"

// Rules of the rows of contacts and limits, for one world and for packs of them: reference
// velocities c*, the thresholds that decide on them, rounding of c* and J v.

namespace stiction {

/// Of the slower cap: a correction that is slower is left alone. Only a lever of less than 1 um
/// could make 1 rad/s of 1 um/s. Contacts at rest and in steady motion, whose errors are of
/// rounding and of second order in dt, cost nothing that way.
inline constexpr double kNegligible = 1e-6;
/// Of a cap: slower corrections are not looked at together, see keep_recovery_speeds.cpp.
inline constexpr double kMatters = 1e-3;
/// See drift_reference().
inline constexpr double kDriftOfContact = 4.0;
/// A limit whose c* exceeds this share of its cap is brought back by a row of its own, and gives
/// way at this share of it while it is: see recovery.cpp.
inline constexpr double kFarOut = 0.1, kYields = 1e-3;
/// The share of an island's mobility [1/kg] below which nothing moves along a normal.
inline constexpr double kImmovable = 1e-13;

inline namespace STICTION_ISA {

inline double negligible_speed(const SpeedCaps& caps) {
  return kNegligible * min(caps.linear, caps.angular);
}

/// [m/s] What of a contact's drift is left alone: where contacts lock each other, whatever they ask
/// for is work.
inline double least_drift(const SpeedCaps& caps) { return 0.1 * negligible_speed(caps); }

/// The fastest that a joint is brought back within its limits.
inline double limit_cap(const SpeedCaps& caps, bool linear) {
  return linear ? caps.linear : caps.angular;
}

/// Velocity that a gap (of a contact or of a joint limit) asks for, c_N >= c*: speculative while it
/// is open, Baumgarte for penetration.
template <class Real>
inline Real gap_velocity(double baumgarte, Real gap, Real dt) {
  return select(gap > Real(0.0), -gap, Real(-baumgarte) * gap) / dt;
}
/// c* of a gap: no faster than `cap`.
template <class Real>
inline Real gap_reference(double baumgarte, double cap, Real gap, Real dt) {
  return min(gap_velocity(baumgarte, gap, dt), Real(cap));
}

/// [m/s] Of a closed gap: c* that takes away at once what a contact sinks by its own turning, up to
/// a multiple of what its velocity changes in half a step, `curvature`. Points of a face that turns
/// end steps at gaps of O(dt^3) on both sides of zero: with one slope they ask for one rigid
/// motion, with two they would contradict each other.
template <class Real>
inline Real drift_reference(Real gap, Real curvature, Real dt) {
  return min(-gap / dt, Real(kDriftOfContact) * abs(curvature));
}

/// Whether a gap that opens at `rate` is closed at the end of the step.
template <class Real>
inline Mask<Real> gap_closes(Real gap, Real rate, Real dt) {
  return gap + dt * rate < Real(0.0);
}

/// Gap of a joint limit, positive inside; sign: 1 of a lower one, -1 of an upper one.
template <class Real>
inline Real limit_gap(double sign, Real q, Real limit) {
  return Real(sign) * (q - limit);
}

/// How far from its limit a joint has a row for it.
template <class Real>
inline Real limit_reach(double margin, Real v, Real dt) {
  return max(Real(margin), Real(2.0) * dt * abs(v));
}

/// [m/s] The approach above which restitution acts; `given` < 0: 0.01 m/s, or what gravity adds in
/// two steps if that is more.
template <class Real>
inline Real restitution_threshold(double given, const Vec3<Real>& gravity, Real dt) {
  const Real usual = max(Real(0.01), Real(2.0) * norm(gravity) * dt);
  return given >= 0.0 ? Real(given) : usual;
}

/// A contact before its impulse.
template <class Real>
struct Impact {
  Real gap, free_normal;     ///< [m]; [m/s] normal velocity at the end of the step
  Real approach, threshold;  ///< [m/s] at the start
};

/// Newton restitution, one maximum with what the gap asks for: whether c* = e approach.
template <class Real>
inline Mask<Real> rebounds(const Impact<Real>& x, Real e, Real gap_reference, Real dt) {
  return gap_closes(x.gap, x.free_normal, dt) & (x.approach > x.threshold) & (e > Real(0.0)) &
         (e * x.approach > gap_reference);
}

/// How easily the sets of an island move [1/kg], by the diagonal of G: the most of contacts, or the
/// least of other rows if that is more. The most of those may be that of a joint that carries next
/// to nothing.
template <class Real>
struct Mobility {
  static constexpr double kFar = 1e300;
  Real of_contacts{0.0}, of_others{kFar};

  void add_contact(const Real& moves) { of_contacts = max(of_contacts, moves); }
  void add_other(const Real& moves) { of_others = min(of_others, moves); }
  Real value() const {
    return max(of_contacts, select(of_others < Real(kFar), of_others, Real(0.0)));
  }
};

/// Rounding of a velocity that is the sum of `speed` and a length over dt, each the result of some
/// operations.
template <class Real>
inline Real rounding_of(Real length, Real dt, Real speed) {
  return Real(kSumRounding) * (length / dt + speed);
}

/// Coordinates of joints are known to the rounding of 1 rad or 1 m at best: near zero they are
/// finer than the velocities that moved them there.
template <class Real>
inline Real coordinate_floor(Real size, Real dt, Real speed) {
  return rounding_of(max(Real(1.0), size), dt, speed);
}

/// ConstraintSet::arm of a row of a joint that turns: the radius at which the mass that the joint
/// carries has the inertia that the row feels. `inverse` is the row's diagonal of G.
template <class Real>
inline Real joint_arm(Real inverse, Real carried_mass) {
  const Real one(1.0), product = inverse * carried_mass;
  const Mask<Real> known = product > Real(0.0);
  return select(known, square_root(one / select(known, product, one)), one);
}

/// carried[b] <- the mass of body b and of all that it carries; parents come before their children.
template <class Real>
inline void carried_masses(int num_bodies, const int* parent, const Real* mass, Real* carried) {
  for (int b = 0; b < num_bodies; ++b) carried[b] = mass[b];
  for (int b = num_bodies - 1; b > 0; --b) carried[parent[b]] += carried[b];
}

/// Rounding of a joint's velocity [m/s, by its arm]: it is the difference of velocities of bodies,
/// and of what gravity adds to them in a step.
template <class Real>
inline Real joint_floor(Real body_speed, Real gravity_speed) {
  return Real(kSumRounding) * (body_speed + gravity_speed);
}

/// A joint that dry friction holds ends the step at rest: what its speed `after` is short of that
/// is the solver's tolerance, if it is so small beside that at the start and what gravity adds, and
/// the impulse is inside its bounds.
template <class Real>
inline Mask<Real> is_stopped(Real impulse, Real most, Real before, Real after, Real gravity_speed) {
  constexpr double kStopped = 1e-8, kInside = 1.0 - 1e-6;
  return (abs(impulse) < Real(kInside) * most) &
         (abs(after) <= Real(kStopped) * (abs(before) + gravity_speed));
}

/// Maxima alone: signs of coordinates are no branch to predict.
template <class Real>
inline Real largest_of(const Vec3<Real>& x) {
  return max(max(max(x.x, -x.x), max(x.y, -x.y)), max(x.z, -x.z));
}
/// The terms of the velocity of a body's point, no coordinate of which is further than `arm` from
/// the root's origin.
template <class Real>
inline Real size_of_velocity(const Motion<Real>& V, Real arm) {
  return largest_of(V.linear) + largest_of(V.angular) * arm;
}

}  // namespace STICTION_ISA
}  // namespace stiction
