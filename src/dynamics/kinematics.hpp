#pragma once

#include "dynamics/free_root.hpp"
#include "model/joint.hpp"

namespace stiction {
inline namespace STICTION_ISA {

/// Placement of the body after its joint, and the joint's axes.
template <class Real>
inline void joint_placement(const TreeView& tree,
                            const TreeParameters<Real>& parameters,
                            int b,
                            const Real* q,
                            TreeData<Real>& data) {
  const int p = tree.parent[b];
  RigidTransform<Real> X = p < 0 ? parameters.placement[b] : data.X_RB[p] * parameters.placement[b];
  visit_joint(tree.joint[b], [&](auto joint) {
    joint.place(
        q + tree.q_index[b],
        JointFrame<Real>{X, data.S + tree.v_index[b], tree.axis_code[b], parameters.axis[b]});
  });
  data.X_RB[b] = X;
}

/// Velocity of the body after its joint and the rate of the joint's axis (v x S qdot), from the
/// placement.
template <class Real>
inline void joint_velocity(const TreeView& tree,
                           const TreeParameters<Real>& parameters,
                           int b,
                           const Real* v,
                           TreeData<Real>& data) {
  const int p = tree.parent[b], j = tree.v_index[b];
  const Motion<Real> vj = visit_joint(
      tree.joint[b], [&](auto joint) { return joint.velocity(data.X_RB[b], data.S + j, v + j); });
  if (p < 0) {
    const Real zero(0.0);
    data.V[b] = vj;
    data.A[b] = {-transpose_times(data.X_WR.R, parameters.gravity), {zero, zero, zero}};
  } else {
    data.V[b] = data.V[p] + vj;
    data.A[b] = data.A[p] + motion_cross(data.V[b], vj);
  }
}

/// Body placements, joint axes, velocities and bias accelerations.
///
/// A free-flyer's acceleration is the *classical* one of its origin, in root axes held fixed over
/// the step: d/dt of the velocity (R v) of the origin, not of its body components. Its spatial
/// acceleration is then offset by -w x v. This makes the discrete step exact for free fall whatever
/// the body's spin; Pinocchio's nle is recovered by adding M (w x v, 0).
template <class Real>
inline void forward_kinematics(const TreeView& tree,
                               const TreeParameters<Real>& parameters,
                               const Real* q,
                               const Real* v,
                               TreeData<Real>& data) {
  const int first = place_root(tree, parameters, q, data);
  root_velocity(tree, parameters, v, data);
  for (int b = first; b < tree.num_bodies; ++b) {
    joint_placement(tree, parameters, b, q, data);
    joint_velocity(tree, parameters, b, v, data);
  }
}

/// The placements alone.
template <class Real>
inline void forward_placements(const TreeView& tree,
                               const TreeParameters<Real>& parameters,
                               const Real* q,
                               TreeData<Real>& data) {
  for (int b = place_root(tree, parameters, q, data); b < tree.num_bodies; ++b)
    joint_placement(tree, parameters, b, q, data);
}

/// Velocities and bias accelerations anew, where forward_kinematics() has been at the same q.
template <class Real>
inline void forward_velocities(const TreeView& tree,
                               const TreeParameters<Real>& parameters,
                               const Real* v,
                               TreeData<Real>& data) {
  for (int b = root_velocity(tree, parameters, v, data); b < tree.num_bodies; ++b)
    joint_velocity(tree, parameters, b, v, data);
}

}  // namespace STICTION_ISA
}  // namespace stiction
