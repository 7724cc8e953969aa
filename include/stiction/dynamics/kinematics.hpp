#pragma once

#include "stiction/dynamics/tree_data.hpp"

namespace stiction {
inline namespace STICTION_ISA {

/// Rotation by angle (sine s, cosine c) about a unit axis, applied on the right: R <- R Rot(axis).
template <class Real>
inline void rotate_about_axis(
    Mat3<Real>& R, int axis_code, const Vec3<Real>& axis, Real s, Real c) {
  if (axis_code < 3) {
    // Rot(e_k) mixes the two other columns; e_k itself stays.
    Vec3<Real>& u = R.column((axis_code + 1) % 3);
    Vec3<Real>& w = R.column((axis_code + 2) % 3);
    const Vec3<Real> u_new = u * c + w * s;
    w = w * c - u * s;
    u = u_new;
    return;
  }
  // Rodrigues: c I + s [a]x + (1 - c) a a^T.
  const Vec3<Real> a = axis, sa = a * s, ta = a * (Real(1.0) - c);
  const Mat3<Real> Q{{c + ta.x * a.x, ta.x * a.y + sa.z, ta.x * a.z - sa.y},
                     {ta.y * a.x - sa.z, c + ta.y * a.y, ta.y * a.z + sa.x},
                     {ta.z * a.x + sa.y, ta.z * a.y - sa.x, c + ta.z * a.z}};
  R = R * Q;
}

/// Placement of the body after its joint, and the joint's axes.
template <class Real>
inline void joint_placement(const TreeView& tree,
                            const TreeParameters<Real>& parameters,
                            int b,
                            const Real* q,
                            TreeData<Real>& data) {
  const int p = tree.parent[b];
  RigidTransform<Real> X = p < 0 ? parameters.placement[b] : data.X_RB[p] * parameters.placement[b];
  const Real* qb = q + tree.q_index[b];
  const int j = tree.v_index[b];
  const Real zero(0.0);
  const Vec3<Real> none{zero, zero, zero};
  const JointType type = tree.joint[b];

  if (type == JointType::kSpherical) {
    X.R = X.R * rotation_from_quaternion(qb);
    for (int k = 0; k < 3; ++k) data.S[j + k] = {cross(X.p, X.R.column(k)), X.R.column(k)};
  } else if (type == JointType::kPrismatic) {
    const int code = tree.axis_code[b];
    const Vec3<Real> a = code < 3 ? X.R.column(code) : X.R * parameters.axis[b];
    X.p += a * qb[0];
    data.S[j] = {a, none};
  } else {
    const int code = tree.axis_code[b];
    const Vec3<Real> a = code < 3 ? X.R.column(code) : X.R * parameters.axis[b];
    Real s, c;
    if (type == JointType::kContinuous) {
      c = qb[0];
      s = qb[1];
    } else {
      sincos(qb[0], s, c);
    }
    rotate_about_axis(X.R, code, parameters.axis[b], s, c);
    data.S[j] = {cross(X.p, a), a};
  }
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
  Motion<Real> vj;  // across the joint
  if (tree.joint[b] == JointType::kSpherical) {
    const RigidTransform<Real>& X = data.X_RB[b];
    const Vec3<Real> w = X.R * Vec3<Real>{v[j], v[j + 1], v[j + 2]};
    vj = {cross(X.p, w), w};
  } else {
    vj = data.S[j] * v[j];
  }
  if (p < 0) {
    const Real zero(0.0);
    data.V[b] = vj;
    data.A[b] = {-transpose_times(data.X_WR.R, parameters.gravity), {zero, zero, zero}};
  } else {
    data.V[b] = data.V[p] + vj;
    data.A[b] = data.A[p] + motion_cross(data.V[b], vj);
  }
}

/// Of a free root, from its placement.
template <class Real>
inline void root_velocity(const TreeParameters<Real>& parameters,
                          const Real* v,
                          TreeData<Real>& data) {
  const Real o(0.0);
  data.V[0] = {{v[0], v[1], v[2]}, {v[3], v[4], v[5]}};
  const Vec3<Real> g = transpose_times(data.X_WR.R, parameters.gravity);
  data.A[0] = {-cross(data.V[0].angular, data.V[0].linear) - g, {o, o, o}};
}

/// The root frame, and the first body if it is free. Returns the first body that is not placed.
template <class Real>
inline int place_root(const TreeView& tree,
                      const TreeParameters<Real>& parameters,
                      const Real* q,
                      TreeData<Real>& data) {
  if (!tree.free_root) {
    data.X_WR = parameters.base;
    return 0;
  }
  data.X_WR = {rotation_from_quaternion(q + 3), {q[0], q[1], q[2]}};
  const Real o(0.0), i(1.0);
  const Vec3<Real> e[4] = {{i, o, o}, {o, i, o}, {o, o, i}, {o, o, o}};
  for (int k = 0; k < 3; ++k) {
    data.S[k] = {e[k], e[3]};
    data.S[3 + k] = {e[3], e[k]};
  }
  data.X_RB[0] = RigidTransform<Real>::identity();
  return 1;
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
  if (tree.free_root) root_velocity(parameters, v, data);
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
  if (tree.free_root) root_velocity(parameters, v, data);
  for (int b = tree.free_root ? 1 : 0; b < tree.num_bodies; ++b)
    joint_velocity(tree, parameters, b, v, data);
}

}  // namespace STICTION_ISA
}  // namespace stiction
