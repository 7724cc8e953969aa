#pragma once

#include "dynamics/effort_excess.hpp"
#include "dynamics/mass_matrix.hpp"
#include "simulator/lanes/lane_work.hpp"

// Servos and their effort limits: dynamics/joint_forces.cpp on lanes. `side` is 1 or -1 where the
// upper or lower limit acts as a constant.

namespace stiction {
inline namespace STICTION_ISA {

/// Lanes in which a dof has no servo.
template <class Real>
inline Mask<Real> lane_passive(const LaneParameters<Real>& p, int k) {
  const Real zero(0.0), kp = p.kp[k], kd = p.kd[k];
  return (kp >= zero) & (kp <= zero) & (kd >= zero) & (kd <= zero);
}

/// What torque and servo of a dof ask for (wanted_force()).
template <class Real>
inline Real lane_wanted(const LaneParameters<Real>& p,
                        int k,
                        Real torque,
                        Real position_error,
                        Real velocity_target,
                        Real v) {
  const Real servo = p.kp[k] * position_error + p.kd[k] * (velocity_target - v);
  return select(lane_passive(p, k), torque, torque + servo);
}

template <class Real>
inline Real lane_side(Real wanted, Real limit) {
  const Real one(1.0), zero(0.0);
  return select(wanted > limit, one, select(wanted < -limit, -one, zero));
}

/// Explicit force of one dof and what it adds to the diagonal of M (dof_force()).
template <class Real>
inline void lane_dof_force(const LaneParameters<Real>& p,
                           int k,
                           Real dt,
                           Real wanted,
                           Real side,
                           Real v,
                           Real& force,
                           Real& diagonal) {
  const Real zero(0.0), d = p.damping[k], limit = p.effort_limit[k], kp = p.kp[k], kd = p.kd[k];
  const Mask<Real> saturated = abs(side) > zero;
  const Real bound = select(side < zero, -limit, limit);
  const Real free = select(lane_passive(p, k), wanted, wanted - kp * dt * v);
  force = select(saturated, bound, free) - d * v;
  const Real own_kp = select(saturated, zero, kp), own_kd = select(saturated, zero, kd);
  diagonal = p.armature[k] + dt * (d + own_kd) + dt * dt * own_kp;
}

/// Adds the spring of one dof at q, where it has one (add_spring() of forest.cpp).
template <class Real>
inline void lane_spring(
    const LaneParameters<Real>& p, int k, Real dt, Real q, Real v, Real& force, Real& diagonal) {
  const Real stiffness = p.spring_stiffness[k];
  const Mask<Real> pulls = stiffness > Real(0.0);
  force = select(pulls, force + stiffness * (p.spring_rest[k] - q - dt * v), force);
  diagonal = select(pulls, diagonal + dt * dt * stiffness, diagonal);
}

/// Lanes in which a servo ends the step, with velocities `end`, on another side than it began
/// (saturate_at_end()).
template <class Real>
inline Mask<Real> lane_saturation_changes(const LaneScene& s,
                                          const LaneParameters<Real>& p,
                                          const LanePack& pack,
                                          const Real* q,
                                          const Real* end,
                                          const PackWork<Real>& w) {
  const TreeView& t = s.tree;
  const Real *torque = as_array<const Real>(pack.control), *target = torque + t.nv,
             *rate = target + t.nv;
  const Real dt(s.rules.dt), zero(0.0);
  Mask<Real> out = Real(1.0) < zero;
  for (int b = 0; b < t.num_bodies; ++b) {
    if (joint_nv(t.joint[b]) != 1) continue;
    const int k = t.v_index[b];
    const Real error = target[k] - q[t.q_index[b]] - dt * end[k], limit = p.effort_limit[k];
    const Real wanted = lane_wanted(p, k, torque[k], error, rate[k], end[k]);
    const Mask<Real> held = abs(w.side[k]) > zero;
    const Mask<Real> turns = held & (limit > zero) & (w.side[k] * wanted < -limit);
    const Mask<Real> reaches = negated(held) & (abs(wanted) > Real(1.0 + kEffortExcess) * limit);
    out = out | ((turns | reaches) & negated(lane_passive(p, k)));
  }
  return out;
}

}  // namespace STICTION_ISA
}  // namespace stiction
