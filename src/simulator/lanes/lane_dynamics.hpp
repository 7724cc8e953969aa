#pragma once

#include "dynamics/bias.hpp"
#include "dynamics/kinematics.hpp"
#include "dynamics/loose_body.hpp"
#include "dynamics/mean_bias.hpp"
#include "dynamics/servo.hpp"
#include "math/within_bounds.hpp"
#include "simulator/lanes/lane_work.hpp"

namespace stiction {
inline namespace STICTION_ISA {

/// LanePack::control [nv each].
template <class Real>
struct LaneControl {
  const Real *torque, *position_target, *velocity_target;

  LaneControl(const TreeView& t, const LanePack& pack)
      : torque(as_array<const Real>(pack.control)),
        position_target(torque + t.nv),
        velocity_target(position_target + t.nv) {}
  Real wanted(const Drive<Real>& drive, int k, Real position_error, Real v) const {
    return wanted_force(drive, torque[k], position_error, velocity_target[k], v);
  }
};

/// w = L^-T dt (force - bias) and the factor of M^; the sides of effort limits are those of the
/// start.
template <class Real>
inline void lane_forces(const LaneScene& s,
                        const LaneParameters<Real>& p,
                        const LanePack& pack,
                        const Real* q,
                        const Real* v,
                        PackWork<Real>& w) {
  const TreeView& t = s.tree;
  const LaneControl<Real> control(t, pack);
  const Real dt(s.rules.dt), zero(0.0);
  for (int b = 0; b < t.num_bodies; ++b) {
    const int first = t.v_index[b], n = joint_nv(t.joint[b]);
    for (int k = first; k < first + n; ++k) {
      const Drive<Real> drive = drive_of<Real>(p, k);
      const Real error = n == 1 ? control.position_target[k] - q[t.q_index[b]] : zero;
      const Real wanted = control.wanted(drive, k, error, v[k]);
      w.side[k] = side_of_limit(wanted, drive.effort_limit);
      auto made = ImplicitForce<Real>::of(drive, wanted, w.side[k], v[k], dt);
      if (n == 1)
        made.add_spring(p.spring_stiffness[k], p.spring_rest[k] - q[t.q_index[b]], v[k], dt);
      w.data.L[t.row[k] + t.depth[k]] += made.diagonal;
      w.force[k] = made.force;
      w.w[k] = dt * (made.force - w.data.bias[k]);
    }
  }
  factorise(t, w.data);
  solve_transposed(t, w.data, w.w);
  for (int k = 0; k < t.nv; ++k) w.root[k] = square_root(w.data.D_inverse[k]);
}

/// Lanes in which a servo ends the step, with velocities `end`, on another side than it began.
template <class Real>
inline Mask<Real> lane_saturation_changes(const LaneScene& s,
                                          const LaneParameters<Real>& p,
                                          const LanePack& pack,
                                          const Real* q,
                                          const Real* end,
                                          const PackWork<Real>& w) {
  const TreeView& t = s.tree;
  const LaneControl<Real> control(t, pack);
  const Real dt(s.rules.dt), zero(0.0);
  Mask<Real> out = Real(1.0) < zero;
  for (int b = 0; b < t.num_bodies; ++b) {
    if (joint_nv(t.joint[b]) != 1) continue;
    const int k = t.v_index[b];
    const Drive<Real> drive = drive_of<Real>(p, k);
    const Real error = control.position_target[k] - q[t.q_index[b]] - dt * end[k];
    const Real wanted = control.wanted(drive, k, error, end[k]);
    const Real change = side_at_end(w.side[k], wanted, drive.effort_limit) - w.side[k];
    out = out | ((abs(change) > zero) & has_servo(drive));
  }
  return out;
}

/// Lanes whose state has a number that is not finite, or counts as such; see kLargestMotion.
template <class Real>
inline Mask<Real> not_finite(const TreeView& t, const Real* q, const Real* v) {
  Real sum(0.0);
  for (int k = 0; k < t.nq; ++k) sum += abs(q[k]);
  for (int k = 0; k < t.nv; ++k) sum += abs(v[k]);
  return negated(sum < Real(kLargestMotion));
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

/// Takes w and change [nv], v+ - v, to the bias at the mean velocity in the lanes of `at`. Returns
/// those in which that does not converge.
template <class Real>
inline Mask<Real> lane_mean_bias(const LaneScene& s,
                                 const LaneParameters<Real>& p,
                                 const LanePack& pack,
                                 Mask<Real> at,
                                 const Real* v,
                                 Real* change,
                                 Real* scratch,
                                 PackWork<Real>& w) {
  const auto add_wrenches = [&](TreeData<Real>& to) {
    if (s.num_wrenches > 0) lane_wrenches(s, pack, to);
  };
  const MeanBias<Real> x{v, w.force, w.w, change, scratch};
  return centre_bias(
      s.tree, p.tree, Real(s.rules.dt), kMostBiasPasses, at, add_wrenches, x, w.data);
}

/// A function of its own: inlined into prepare() it keeps GCC 12 from inlining joint_placement()
/// there, 1 % of Talos's steps in packs of eight.
template <class Real>
[[gnu::noinline]] void lane_dynamics(const LaneScene& s,
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
