#pragma once

#include "stiction/math/lanes.hpp"

// The force of one dof's torque, servo, damper and spring, implicit in the velocity at the end of
// the step, and the side of its effort limit that the actuator is on: 1, -1 where the upper, lower
// limit acts as a constant, else 0.

namespace stiction {

/// A servo that acts freely at the start of a step may exceed its effort limit by so much at its
/// end before the step is solved again with the limit: a load that arrives within the step.
inline constexpr double kEffortExcess = 0.25;

inline namespace STICTION_ISA {

/// Servo gains, limit of torque plus servo, joint damping and rotor of a dof.
template <class Real>
struct Drive {
  Real kp, kd, effort_limit, damping, armature;
};
/// Of Parameters, or of those of lanes.
template <class Real, class From>
inline Drive<Real> drive_of(const From& p, int dof) {
  return {p.kp[dof], p.kd[dof], p.effort_limit[dof], p.damping[dof], p.armature[dof]};
}

template <class Real>
inline Mask<Real> has_servo(const Drive<Real>& drive) {
  return (abs(drive.kp) > Real(0.0)) | (abs(drive.kd) > Real(0.0));
}

/// What torque and servo ask for, without the limit.
template <class Real>
inline Real wanted_force(
    const Drive<Real>& drive, Real torque, Real position_error, Real velocity_target, Real v) {
  const Real servo = drive.kp * position_error + drive.kd * (velocity_target - v);
  return select(has_servo(drive), torque + servo, torque);
}

template <class Real>
inline Real side_of_limit(Real wanted, Real limit) {
  const Real one(1.0), zero(0.0);
  return select(wanted > limit, one, select(wanted < -limit, -one, zero));
}

/// Explicit force and implicit diagonal.
template <class Real>
struct ImplicitForce {
  Real force, diagonal;

  /// Without the spring. Where the limit acts the force is a constant and the gains leave M^.
  static ImplicitForce of(const Drive<Real>& drive, Real wanted, Real side, Real v, Real dt) {
    const Real zero(0.0), d = drive.damping;
    const Mask<Real> saturated = abs(side) > zero;
    const Real bound = select(side < zero, -drive.effort_limit, drive.effort_limit);
    const Real free = select(abs(drive.kp) > zero, wanted - drive.kp * dt * v, wanted);
    const Real kp = select(saturated, zero, drive.kp), kd = select(saturated, zero, drive.kd);
    return {select(saturated, bound, free) - d * v, drive.armature + dt * (d + kd) + dt * dt * kp};
  }

  /// A spring of `stiffness` pulls with k (error - dt v+), whatever the actuator does; error: rest
  /// - q.
  void add_spring(Real stiffness, Real error, Real v, Real dt) {
    const Mask<Real> pulls = stiffness > Real(0.0);
    force = select(pulls, force + stiffness * (error - dt * v), force);
    diagonal = select(pulls, diagonal + dt * dt * stiffness, diagonal);
  }
};

/// The side of a servo that asks for `wanted` at the end of a step that it spent on the side `now`.
/// Who is at a limit stays there to the end of the step unless it asks for more than the limit the
/// other way by then, and would be thrown back in the next step: who merely leaves its limit acts
/// freely from the next step on, stably, and the error is of first order.
template <class Real>
inline Real side_at_end(Real now, Real wanted, Real limit) {
  const Real zero(0.0);
  const Mask<Real> turns = (limit > zero) & (now * wanted < -limit);
  const Real reached = side_of_limit(wanted, Real(1.0 + kEffortExcess) * limit);
  return select(abs(now) > zero, select(turns, zero, now), reached);
}

}  // namespace STICTION_ISA
}  // namespace stiction
