#pragma once

#include "dynamics/bias.hpp"
#include "dynamics/kinematics.hpp"
#include "dynamics/loose_body.hpp"
#include "dynamics/mass_matrix.hpp"
#include "simulator/lanes/lane_servos.hpp"

namespace stiction {
inline namespace STICTION_ISA {

/// w = L^-T dt (force - bias) and the factor of M^; the sides of effort limits are those of the
/// start unless `known`.
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
      const Real wanted = lane_wanted(p, k, torque[k], error, rate[k], v[k]);
      w.side[k] = lane_side(wanted, p.effort_limit[k]);
      Real force, diagonal;
      lane_dof_force(p, k, dt, wanted, w.side[k], v[k], force, diagonal);
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

/// Lanes in which the bias is that of slower velocities.
template <class Real>
inline Mask<Real> turns_fast(const TreeView& t, double dt, const TreeData<Real>& data) {
  return fastest_turn(t, data, Real(dt)) > Real(kFastestTurn);
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
