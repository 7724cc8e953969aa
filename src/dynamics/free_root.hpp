#pragma once

#include "dynamics/tree_data.hpp"
#include "model/joint.hpp"

// A tree whose first joint is free has its root frame in its first body. There S is the identity,
// so what the kernels would sum over columns of S is read off. Each function below does the part of
// the root, if it is free, and says where its kernel goes on.

namespace stiction {
inline namespace STICTION_ISA {

inline constexpr int kRootDofs = FreeFlyerJoint::facts.nv;

/// Dofs and bodies of the root that are its own: none of a fixed base.
inline int root_dofs(const TreeView& tree) { return tree.free_root ? kRootDofs : 0; }
inline int root_bodies(const TreeView& tree) { return tree.free_root ? 1 : 0; }

/// One body on a free joint.
inline bool is_loose_body(const TreeView& tree) { return tree.free_root && tree.num_bodies == 1; }

/// The point of the first body, in its axes, that a step moves on a straight line: the centre of
/// mass of a loose body, whose linear momentum is thus exact and whose motion does not depend on
/// where its frame lies; of an articulated tree the origin (see forward_kinematics).
template <class Real>
inline Vec3<Real> root_point(const TreeView& tree, const TreeParameters<Real>& parameters) {
  const Real o(0.0);
  return is_loose_body(tree) ? parameters.com[0] : Vec3<Real>{o, o, o};
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

/// Velocity and bias acceleration of a free root from its placement. Returns the first body that
/// has none yet.
template <class Real>
inline int root_velocity(const TreeView& tree,
                         const TreeParameters<Real>& parameters,
                         const Real* v,
                         TreeData<Real>& data) {
  if (!tree.free_root) return 0;
  const Real o(0.0);
  data.V[0] = {{v[0], v[1], v[2]}, {v[3], v[4], v[5]}};
  const Vec3<Real> g = transpose_times(data.X_WR.R, parameters.gravity);
  data.A[0] = {-cross(data.V[0].angular, data.V[0].linear) - g, {o, o, o}};
  return 1;
}

/// out = S^T F over the root's dofs. Returns their number.
template <class Real>
inline int root_products(const TreeView& tree, const Force<Real>& F, Real* out) {
  if (!tree.free_root) return 0;
  for (int k = 0; k < 3; ++k) {
    out[k] = F.linear[k];
    out[3 + k] = F.angular[k];
  }
  return kRootDofs;
}

/// The root's block of the mass matrix, the composite inertia itself, as packed rows.
template <class Real>
inline void root_inertia(const TreeView& tree, const Inertia<Real>& I, Real* rows) {
  if (!tree.free_root) return;
  const Real o(0.0);
  const Vec3<Real>& h = I.moment;
  const Sym3<Real>& J = I.rotational;
  const Real block[21] = {I.mass, o,    I.mass, o,    o,    I.mass, o, -h.z, h.y,  J.xx, h.z,
                          o,      -h.x, J.xy,   J.yy, -h.y, h.x,    o, J.xz, J.yz, J.zz};
  for (int k = 0; k < 21; ++k) rows[k] = block[k];
}

/// T^T (S_linear + S_angular x p) over the root's dofs, three rows interleaved: T^T, then the
/// components of p x axis. Returns the number of dofs.
template <class Real>
inline int root_point_rows(const TreeView& tree,
                           const Vec3<Real>& p,
                           const Mat3<Real>& T,
                           Real* rows) {
  if (!tree.free_root) return 0;
  const Vec3<Real> x0 = cross(p, T.c0), x1 = cross(p, T.c1), x2 = cross(p, T.c2);
  for (int k = 0; k < 3; ++k) {
    rows[3 * k] = T.c0[k];
    rows[3 * k + 1] = T.c1[k];
    rows[3 * k + 2] = T.c2[k];
    rows[9 + 3 * k] = x0[k];
    rows[9 + 3 * k + 1] = x1[k];
    rows[9 + 3 * k + 2] = x2[k];
  }
  return kRootDofs;
}

/// World rotation of a free root.
template <class Real>
inline Mat3<Real> root_rotation(const TreeView& tree, const Real* q) {
  return tree.free_root ? rotation_from_quaternion(q + 3) : Mat3<Real>::identity();
}

/// v of a root that has turned from R_from to R_to, in its new axes: the world velocity of its
/// point c is kept. Nothing of a fixed base.
template <class Real>
inline void turn_root_velocity(const TreeView& tree,
                               const Mat3<Real>& R_from,
                               const Mat3<Real>& R_to,
                               const Vec3<Real>& c,
                               Real* v) {
  if (!tree.free_root) return;
  const Vec3<Real> about_c = cross(Vec3<Real>{v[3], v[4], v[5]}, c);
  const Vec3<Real> u = R_from * (Vec3<Real>{v[0], v[1], v[2]} + about_c);
  const Vec3<Real> own = transpose_times(R_to, u) - about_c;
  for (int k = 0; k < 3; ++k) v[k] = own[k];
}

}  // namespace STICTION_ISA
}  // namespace stiction
