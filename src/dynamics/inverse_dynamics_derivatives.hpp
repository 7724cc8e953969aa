#pragma once

#include "dynamics/bias.hpp"
#include "dynamics/free_root.hpp"
#include "dynamics/loose_body_derivatives.hpp"
#include "dynamics/tree_layout.hpp"
#include "model/joint.hpp"

// Derivatives of inverse dynamics, tau(q, v) = M(q) a + b(q, v) - J(q)^T f, at fixed a, by the
// tangent of q and by v (S. Singh, R. Russell, P. Wensing, "Efficient Analytical Derivatives of
// Rigid-Body Dynamics using Spatial Vector Algebra", RA-L 2022, here about one point in one frame).
//
// Root axes of the start are inertial. A dof j of body b, p its parent, moves the bodies k that it
// carries as one. With
//
//   psi' = V_p x S_j,   psi'' = A_p x S_j + V_p x psi',   gamma = psi' + V_b x S_j
//
// (A with a, minus gravity) the derivatives of a body's velocity, acceleration and force are
//
//   by q_j:  V: S_j x V + psi',   A: S_j x A + psi' x V + psi'',   F: S_j x* F + 2B psi' + I psi''
//   by v_j:  V: S_j,              A: S_j x V + gamma,              F: 2B S_j + I gamma
//
// where 2B s = I (s x V) + s x* I V + V x* I s has twelve numbers only, not 36: with the momentum
// p = m v + w x h,
//
//   2B s = (2 s_w x p, N s_w),   N = [w] I - I [w] - [I w] - 2 [h][v].
//
// F, p, N and I are summed over the bodies that a dof carries. Row i, its ancestors j up to the
// dofs of its own joint, then row j of an ancestor, column i:
//
//   dtau_i/dq_j = g_i . psi'_j,w + (I S_i) . psi''_j - S_j . (S_i x* f)
//   dtau_i/dv_j = g_i . S_j,w + (I S_i) . gamma_j,      g_i = 2 p x S_i,v + N^T S_i,w
//   dtau_j/dq_i = S_j . (2B psi'_i + I psi''_i + S_i x* F)
//   dtau_j/dv_i = S_j . (2B S_i + I gamma_i)
//
// f being wrenches that stay in space while the bodies move. Of a free root psi' = 0 and psi'' =
// (-g x e, 0); its acceleration is the classical one of its origin (forward_kinematics): gamma = 0
// of its linear dofs, (2 v x e, w x e) of the angular ones.

namespace stiction {
inline namespace STICTION_ISA {

/// Of one body, then summed over those that its joint carries.
template <class Real>
struct CarriedTerms {
  Motion<Real> A;                 ///< of the body alone: its acceleration with a, minus gravity
  Force<Real> F;                  ///< I A + V x* I V
  Force<Real> constraint_wrench;  ///< wrenches that stay in space
  Vec3<Real> momentum;            ///< p
  Mat3<Real> N;
};

/// Of one dof that is not of a free root.
template <class Real>
struct DofTerms {
  Vec3<Real> psi_dot;  ///< the angular part, all that is needed of it
  Motion<Real> psi_ddot, gamma;
};

/// Memory of the functions below. Scratch.
template <class Real>
struct InverseDynamicsWork {
  CarriedTerms<Real>* body;  ///< [num_bodies]
  DofTerms<Real>* dof;       ///< [nv]
};

template <class Real>
constexpr int inverse_dynamics_work_size(const TreeView& tree) {
  return tree.num_bodies * reals_in<CarriedTerms<Real>, Real>() +
         tree.nv * reals_in<DofTerms<Real>, Real>();
}

template <class Real>
inline InverseDynamicsWork<Real> take_inverse_dynamics_work(const TreeView& tree,
                                                            Arena<Real>& arena) {
  CarriedTerms<Real>* body = arena.template take<CarriedTerms<Real>>(tree.num_bodies);
  return {body, arena.template take<DofTerms<Real>>(tree.nv)};
}

/// dtau/dq and dtau/dv of one tree, row-major: entry (i, j) at [i * stride + j].
template <class Real>
struct InverseDynamicsDerivatives {
  Real *dq, *dv;
  int stride;
};

/// N of one body.
template <class Real>
inline Mat3<Real> coriolis_block(const Inertia<Real>& I, const Motion<Real>& V) {
  const Sym3<Real>& J = I.rotational;
  const Vec3<Real>& w = V.angular;
  const Vec3<Real> k0 = cross(w, Vec3<Real>{J.xx, J.xy, J.xz});
  const Vec3<Real> k1 = cross(w, Vec3<Real>{J.xy, J.yy, J.yz});
  const Vec3<Real> k2 = cross(w, Vec3<Real>{J.xz, J.yz, J.zz});
  const Vec3<Real> L = J * w, u = V.linear * Real(2.0);
  const Vec3<Real>& h = I.moment;
  const Real xy = k0.y + k1.x, xz = k0.z + k2.x, yz = k1.z + k2.y;
  const Real two(2.0);
  // -2 [h][v] = 2 (h . v) 1 - 2 v h^T.
  return {{two * k0.x + u.y * h.y + u.z * h.z, xy - L.z - u.y * h.x, xz + L.y - u.z * h.x},
          {xy + L.z - u.x * h.y, two * k1.y + u.x * h.x + u.z * h.z, yz - L.x - u.z * h.y},
          {xz - L.y - u.x * h.z, yz + L.x - u.y * h.z, two * k2.z + u.x * h.x + u.y * h.y}};
}

/// I A + V x* H of a body with the momentum H = I V.
template <class Real>
inline Force<Real> body_force(const Inertia<Real>& I,
                              const Motion<Real>& V,
                              const Force<Real>& H,
                              const Motion<Real>& A) {
  return I * A + force_cross(V, H);
}

/// S x over the dofs of a body's joint.
template <class Real>
inline Motion<Real> joint_motion(const TreeView& tree,
                                 const TreeData<Real>& data,
                                 int b,
                                 const Real* x) {
  if (b < root_bodies(tree)) return {{x[0], x[1], x[2]}, {x[3], x[4], x[5]}};
  const int j = tree.v_index[b];
  return visit_joint(tree.joint[b],
                     [&](auto joint) { return joint.velocity(data.X_RB[b], data.S + j, x + j); });
}

/// What a body hangs on: V_p and A_p of its parent, of the ground for the first one.
template <class Real>
struct ParentMotion {
  Motion<Real> V, A;
};
template <class Real>
inline ParentMotion<Real> ground_motion(const TreeParameters<Real>& parameters,
                                        const TreeData<Real>& data) {
  const Real o(0.0);
  const Vec3<Real> zero{o, o, o};
  return {{zero, zero}, {-transpose_times(data.X_WR.R, parameters.gravity), zero}};
}

/// A with a, minus gravity: that of kinematics.hpp and S a.
template <class Real>
inline Motion<Real> body_acceleration(const TreeView& tree,
                                      const TreeData<Real>& data,
                                      const ParentMotion<Real>& parent,
                                      int b,
                                      const Real* a) {
  const Motion<Real> own = joint_motion(tree, data, b, a);
  if (b < root_bodies(tree)) return data.A[b] + own;
  return parent.A + motion_cross(parent.V, data.V[b]) + own;  // V_b x S qd = V_p x V_b
}

/// 2B s.
template <class Real>
inline Force<Real> coriolis_times(const CarriedTerms<Real>& t, const Vec3<Real>& s_angular) {
  return {cross(s_angular, t.momentum) * Real(2.0), t.N * s_angular};
}

/// Accelerations, terms of single bodies and of dofs, from the root on.
template <class Real>
inline void inverse_dynamics_terms(const TreeView& tree,
                                   const TreeParameters<Real>& parameters,
                                   const TreeData<Real>& data,
                                   const Real* a,
                                   const Force<Real>* constraint_wrench,
                                   const InverseDynamicsWork<Real>& work) {
  const ParentMotion<Real> ground = ground_motion(parameters, data);
  for (int b = 0; b < tree.num_bodies; ++b) {
    CarriedTerms<Real>& t = work.body[b];
    const int p = tree.parent[b], first = tree.v_index[b];
    const ParentMotion<Real> parent =
        p < 0 ? ground : ParentMotion<Real>{data.V[p], work.body[p].A};
    t.A = body_acceleration(tree, data, parent, b, a);
    if (b >= root_bodies(tree)) {
      for (int j = first; j < first + joint_nv(tree.joint[b]); ++j) {
        const Motion<Real>& S = data.S[j];
        const Motion<Real> psi_dot = motion_cross(parent.V, S);
        work.dof[j] = {psi_dot.angular,
                       motion_cross(parent.A, S) + motion_cross(parent.V, psi_dot),
                       psi_dot + motion_cross(data.V[b], S)};
      }
    }
    const Inertia<Real> I = body_inertia(parameters, data, b);
    const Force<Real> H = I * data.V[b];
    t.F = body_force(I, data.V[b], H, t.A);
    t.momentum = H.linear;
    t.N = coriolis_block(I, data.V[b]);
    t.constraint_wrench =
        constraint_wrench ? constraint_wrench[b] : Force<Real>{ground.V.linear, ground.V.linear};
  }
}

template <class Real>
inline void add_carried(const CarriedTerms<Real>& from, CarriedTerms<Real>& to) {
  to.F += from.F;
  to.constraint_wrench += from.constraint_wrench;
  to.momentum += from.momentum;
  to.N = {to.N.c0 + from.N.c0, to.N.c1 + from.N.c1, to.N.c2 + from.N.c2};
}

/// What row i has to be multiplied with.
template <class Real>
struct RowTerms {
  Vec3<Real> g;
  Force<Real> IS, turned;  ///< I S_i and S_i x* f
};

template <class Real>
inline RowTerms<Real> row_terms(const Inertia<Real>& I,
                                const CarriedTerms<Real>& t,
                                const Motion<Real>& S) {
  return {cross(t.momentum, S.linear) * Real(2.0) + transpose_times(t.N, S.angular),
          I * S,
          force_cross(S, t.constraint_wrench)};
}

/// Row i, the columns of a free root. Those of dv by linear dofs are zero.
template <class Real>
inline void root_columns(
    const Vec3<Real>& g_R, const Motion<Real>& V, const RowTerms<Real>& row, Real* dq, Real* dv) {
  const Vec3<Real> turn = cross(g_R, row.IS.linear) - row.turned.angular;
  const Vec3<Real> spin =
      row.g + cross(row.IS.linear, V.linear) * Real(2.0) + cross(row.IS.angular, V.angular);
  for (int k = 0; k < 3; ++k) {
    dq[k] = -row.turned.linear[k];
    dq[3 + k] = turn[k];
    dv[3 + k] = spin[k];
  }
}

/// Row i, column j of an ancestor or of the same joint.
template <class Real>
inline void chain_entry(const RowTerms<Real>& row,
                        const DofTerms<Real>& dof,
                        const Motion<Real>& S,
                        Real& dq,
                        Real& dv) {
  dq = dot(row.g, dof.psi_dot) + (dot(dof.psi_ddot, row.IS) - dot(S, row.turned));
  dv = dot(row.g, S.angular) + dot(dof.gamma, row.IS);
}

/// Rows and columns of the dofs of one body that is not a free root.
template <class Real>
inline void joint_derivatives(const TreeView& tree,
                              const TreeData<Real>& data,
                              const Vec3<Real>& g_R,
                              const InverseDynamicsWork<Real>& work,
                              int b,
                              const InverseDynamicsDerivatives<Real>& out) {
  const Inertia<Real>& I = data.inertia[b];
  const CarriedTerms<Real>& t = work.body[b];
  const int begin = tree.v_index[b], end = begin + joint_nv(tree.joint[b]), n = out.stride;
  const int* chain = tree.chain + tree.row[begin];
  for (int i = begin; i < end; ++i) {
    const Motion<Real>& S = data.S[i];
    const DofTerms<Real>& dof = work.dof[i];
    const RowTerms<Real> row = row_terms(I, t, S);
    Real *dq = out.dq + i * n, *dv = out.dv + i * n;
    if (tree.free_root) root_columns(g_R, data.V[0], row, dq, dv);
    Force<Real> by_q = coriolis_times(t, dof.psi_dot), by_v = coriolis_times(t, S.angular);
    by_q += I * dof.psi_ddot;
    by_q += force_cross(S, t.F);
    by_v += I * dof.gamma;
    Real root[2 * kRootDofs];
    const int m0 = root_products(tree, by_q, root);
    root_products(tree, by_v, root + m0);
    for (int k = 0; k < m0; ++k) {
      out.dq[k * n + i] = root[k];
      out.dv[k * n + i] = root[m0 + k];
    }
    for (int m = m0; m < tree.depth[begin]; ++m) {
      const int j = chain[m];
      chain_entry(row, work.dof[j], data.S[j], dq[j], dv[j]);
      out.dq[j * n + i] = dot(data.S[j], by_q);
      out.dv[j * n + i] = dot(data.S[j], by_v);
    }
    for (int j = begin; j < end; ++j) chain_entry(row, work.dof[j], data.S[j], dq[j], dv[j]);
  }
}

/// What wrenches of add_external_wrench add to dtau/dq. Moving by s, body k with the force f at x
/// has its wrench about the root's origin changed by (0, (s_v + s_w x x) x f). F and N of the work
/// become the wrench and x f^T - (x . f) 1.
template <class Real>
inline void external_wrench_derivatives(const TreeView& tree,
                                        const TreeData<Real>& data,
                                        const Force<Real>* wrench,
                                        const InverseDynamicsWork<Real>& work,
                                        const InverseDynamicsDerivatives<Real>& out) {
  for (int b = 0; b < tree.num_bodies; ++b) {
    CarriedTerms<Real>& t = work.body[b];
    const Vec3<Real>& x = data.X_RB[b].p;
    const Vec3<Real> f = transpose_times(data.X_WR.R, wrench[b].linear);
    const Real d = dot(x, f);
    t.F = {f, transpose_times(data.X_WR.R, wrench[b].angular) + cross(x, f)};
    t.N = {x * f.x, x * f.y, x * f.z};
    for (int k = 0; k < 3; ++k) t.N.column(k)[k] -= d;
  }
  const int n = out.stride;
  for (int b = tree.num_bodies - 1; b >= 0; --b) {
    const CarriedTerms<Real>& t = work.body[b];
    const auto moved = [&](const Motion<Real>& s, const Motion<Real>& other) {
      return dot(other.angular, cross(s.linear, t.F.linear) + t.N * s.angular);
    };
    const int begin = tree.v_index[b], end = begin + joint_nv(tree.joint[b]);
    const int* chain = tree.chain + tree.row[begin];
    const int above = tree.depth[begin];
    for (int i = begin; i < end; ++i) {
      const Motion<Real>& S = data.S[i];
      for (int m = 0; m < above + end - begin; ++m) {
        const int j = m < above ? chain[m] : begin + m - above;
        const Motion<Real>& S_j = data.S[j];
        out.dq[i * n + j] -= dot(motion_cross(S_j, S), t.F) + moved(S_j, S);
        if (m < above) out.dq[j * n + i] -= moved(S, S_j);
      }
    }
    if (tree.parent[b] >= 0) add_carried(t, work.body[tree.parent[b]]);
  }
}

/// d tau / dq and d tau / dv at fixed a [nv]; wrenches `constraint_wrench` [num_bodies, or null]
/// (force, moment about the root's origin, root axes) act on the bodies and stay in space; `wrench`
/// [num_bodies, or null] (force, moment about the body's origin, both in the world) are those of
/// add_external_wrench, whose point of application moves with the body. Data as compute_dynamics
/// leaves it; dt [s] is that of loose_body_bias. Entries of dofs neither of which is an ancestor
/// of the other are left alone, as are those of dv by the velocity of a free root's origin: all
/// zero. Of an articulated tree that turns by more than a radian a step, b is that of its full
/// velocities here.
template <class Real>
inline void inverse_dynamics_derivatives(const TreeView& tree,
                                         const TreeParameters<Real>& parameters,
                                         const TreeData<Real>& data,
                                         Real dt,
                                         const Real* a,
                                         const Force<Real>* constraint_wrench,
                                         const Force<Real>* wrench,
                                         const InverseDynamicsWork<Real>& work,
                                         const InverseDynamicsDerivatives<Real>& out) {
  if (is_loose_body(tree)) {
    loose_body_derivatives(
        parameters, data, dt, constraint_wrench, wrench, out.stride, out.dq, out.dv);
    return;
  }
  const Vec3<Real> g_R = transpose_times(data.X_WR.R, parameters.gravity);
  inverse_dynamics_terms(tree, parameters, data, a, constraint_wrench, work);
  for (int b = tree.num_bodies - 1; b >= root_bodies(tree); --b) {
    joint_derivatives(tree, data, g_R, work, b, out);
    if (tree.parent[b] >= 0) add_carried(work.body[b], work.body[tree.parent[b]]);
  }
  for (int i = 0; i < root_dofs(tree); ++i) {
    const RowTerms<Real> row = row_terms(data.inertia[0], work.body[0], data.S[i]);
    root_columns(g_R, data.V[0], row, out.dq + i * out.stride, out.dv + i * out.stride);
  }
  if (wrench) external_wrench_derivatives(tree, data, wrench, work, out);
}

}  // namespace STICTION_ISA
}  // namespace stiction
