#pragma once

#include "dynamics/bias.hpp"
#include "dynamics/kinematics.hpp"
#include "dynamics/loose_body.hpp"
#include "dynamics/mass_matrix.hpp"
#include "simulator/lanes/lane_work.hpp"

namespace stiction {
inline namespace STICTION_ISA {

/// Lanes in which a dof has no servo.
template <class Real>
inline Mask<Real> lane_passive(const LaneParameters<Real>& p, int k) {
  const Real zero(0.0), kp = p.kp[k], kd = p.kd[k];
  return (kp >= zero) & (kp <= zero) & (kd >= zero) & (kd <= zero);
}

/// What torque and servo of a dof ask for (wanted_force() of joint_forces.cpp).
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

/// Explicit force of one dof and what it adds to the diagonal of M (dof_force() of
/// joint_forces.cpp): beyond the actuator's limit the limit is a constant and the gains leave M^.
template <class Real>
inline void lane_dof_force(const LaneParameters<Real>& p,
                           int k,
                           Real dt,
                           Real torque,
                           Real position_error,
                           Real velocity_target,
                           Real v,
                           Real& force,
                           Real& diagonal) {
  const Real zero(0.0), d = p.damping[k], limit = p.effort_limit[k], kp = p.kp[k], kd = p.kd[k];
  const Real wanted = lane_wanted(p, k, torque, position_error, velocity_target, v);
  const Mask<Real> saturated = abs(wanted) > limit;
  const Real bound = select(wanted < zero, -limit, limit);
  const Real free = select(lane_passive(p, k), wanted, wanted - kp * dt * v);
  force = select(saturated, bound, free) - d * v;
  const Real own_kp = select(saturated, zero, kp), own_kd = select(saturated, zero, kd);
  diagonal = p.armature[k] + dt * (d + own_kd) + dt * dt * own_kp;
}

/// Lanes in which a servo ends the step on another side of its effort limit than it began, see
/// saturate_at_end(); `v` of the start, `end` of the end.
template <class Real>
inline Mask<Real> lane_saturation_changes(const LaneScene& s,
                                          const LaneParameters<Real>& p,
                                          const LanePack& pack,
                                          const Real* q,
                                          const Real* v,
                                          const Real* end) {
  const TreeView& t = s.tree;
  const Real *torque = as_array<const Real>(pack.control), *target = torque + t.nv,
             *rate = target + t.nv;
  const Real dt(s.rules.dt), zero(0.0);
  Mask<Real> out = Real(1.0) < zero;
  for (int b = 0; b < t.num_bodies; ++b) {
    if (joint_nv(t.joint[b]) != 1) continue;
    const int k = t.v_index[b];
    const Real error = target[k] - q[t.q_index[b]], limit = p.effort_limit[k];
    const Real before = lane_wanted(p, k, torque[k], error, rate[k], v[k]);
    const Real after = lane_wanted(p, k, torque[k], error - dt * end[k], rate[k], end[k]);
    const Mask<Real> saturated = abs(before) > limit;
    const Real along = select(before < zero, -after, after);
    const Mask<Real> leaves = (limit > zero) & negated(along >= limit);
    const Mask<Real> reaches = abs(after) > limit;
    const Mask<Real> changes = (saturated & leaves) | (negated(saturated) & reaches);
    out = out | (changes & negated(lane_passive(p, k)));
  }
  return out;
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

/// w = L^-T dt (force - bias) and the factor of M^.
template <class Real>
inline void lane_forces(const LaneScene& s,
                        const LaneParameters<Real>& p,
                        const LanePack& pack,
                        const Real* q,
                        const Real* v,
                        PackWork<Real>& w) {
  const TreeView& t = s.tree;
  const Real *torque = as_array<const Real>(pack.control), *target = torque + t.nv,
             *rate = target + t.nv;
  const Real dt(s.rules.dt), zero(0.0);
  for (int b = 0; b < t.num_bodies; ++b) {
    const int first = t.v_index[b], n = joint_nv(t.joint[b]);
    for (int k = first; k < first + n; ++k) {
      const Real error = n == 1 ? target[k] - q[t.q_index[b]] : zero;
      Real force, diagonal;
      lane_dof_force(p, k, dt, torque[k], error, rate[k], v[k], force, diagonal);
      if (n == 1) lane_spring(p, k, dt, q[t.q_index[b]], v[k], force, diagonal);
      w.data.L[t.row[k] + t.depth[k]] += diagonal;
      w.w[k] = dt * (force - w.data.bias[k]);
    }
  }
  factorise(t, w.data);
  solve_transposed(t, w.data, w.w);
  for (int k = 0; k < t.nv; ++k) w.root[k] = square_root(w.data.D_inverse[k]);
}

/// Lanes whose state has a number that is not finite.
template <class Real>
inline Mask<Real> not_finite(const TreeView& t, const Real* q, const Real* v) {
  Real sum(0.0);
  for (int k = 0; k < t.nq; ++k) sum += abs(q[k]);
  for (int k = 0; k < t.nv; ++k) sum += abs(v[k]);
  return negated(sum < Real(__builtin_inf()));
}

/// Lanes in which a body turns by more than a radian in the step.
template <class Real>
inline Mask<Real> turns_fast(const TreeView& t, double dt, const TreeData<Real>& data) {
  Real fastest(0.0);
  for (int b = 0; b < t.num_bodies; ++b) fastest = max(fastest, squared_norm(data.V[b].angular));
  return Real(dt) * square_root(fastest) > Real(1.0);
}

/// Adds forces from outside to their bodies.
template <class Real>
inline void lane_wrenches(const LaneScene& s, const LanePack& pack, TreeData<Real>& data) {
  const Vec3<Real>* w = as_array<const Vec3<Real>>(pack.wrench);
  for (int k = 0; k < s.num_wrenches; ++k, w += 2) {
    const LaneWrench& at = s.wrenches[k];
    const Vec3<Real> point{Real(at.point[0]), Real(at.point[1]), Real(at.point[2])};
    const Vec3<Real> arm = data.X_WR.R * (data.X_RB[at.body].R * point);
    add_external_wrench(at.body, w[0], w[1] + cross(arm, w[0]), data);
  }
}

template <class Real>
inline void lane_dynamics(const LaneScene& s,
                          const LaneParameters<Real>& p,
                          const LanePack& pack,
                          const Real* q,
                          const Real* v,
                          PackWork<Real>& w) {
  const TreeView& t = s.tree;
  body_inertias_and_forces(t, p.tree, w.data);
  if (s.num_wrenches > 0) lane_wrenches(s, pack, w.data);
  if (is_loose_body(t)) {
    loose_body_bias(p.tree, Real(s.rules.dt), w.data);
  } else {
    bias_forces(t, w.data);
  }
  mass_matrix(t, w.data);
  lane_forces(s, p, pack, q, v, w);
}

}  // namespace STICTION_ISA
}  // namespace stiction
