#pragma once

#include "dynamics/inverse_dynamics_derivatives.hpp"

// Products with the matrices of inverse_dynamics_derivatives.hpp in time linear in the bodies.
//
// p^T tau is the power of the forces F - f at the velocities P_k, the sums of S_i p_i along the
// chains. With Q = I P and Gamma = (0, 2 p x P_v + N^T P_w), so that P . 2B s = Gamma . s, and sums
// over the bodies that j carries, psi', psi'' and gamma put in,
//
//   p^T dtau/dq_j = S_j . (V_p x* (V_p x* Q - Gamma) - A_p x* Q - P_p x* (F - f) - R)
//   p^T dtau/dv_j = S_j . (Gamma - (V_p + V_b) x* Q),      R = sum of P x* f.
//
// The other way, with the displacements X_k = sum of S_i dq_i, s_k = sum of psi'_i dq_i + S_i dv_i
// and r_k = sum of psi''_i dq_i + gamma_i dv_i of the chains,
//
//   dtau_i = S_i . (T - X_b x* (F - f)),      T = sum of X x* F + 2B s + I r.
//
// A wrench of add_external_wrench is an f whose point x moves with the body: with y = f x P_w it
// adds (y, x x y) to R, and takes (0, (X_v + X_w x x) x f) from T.

namespace stiction {
inline namespace STICTION_ISA {

/// Of one body: A with a, P. Then summed over those that its joint carries: F - f and the rest.
template <class Real>
struct AdjointTerms {
  Motion<Real> A, P;
  Force<Real> F, Q, R;
  Vec3<Real> Gamma;
};

/// Of one body: A with a, X, s and r. Then summed: F - f and T.
template <class Real>
struct TangentTerms {
  Motion<Real> A, X, s, r;
  Force<Real> F, T;
};

/// What acts on a body and does not turn with it, and the force of the part whose point moves.
template <class Real>
struct ActingWrench {
  Force<Real> total;
  Vec3<Real> force;
};
template <class Real>
inline ActingWrench<Real> acting_wrench(const TreeData<Real>& data,
                                        const Force<Real>* constraint_wrench,
                                        const Force<Real>* wrench,
                                        int b) {
  const Real o(0.0);
  const Vec3<Real> zero{o, o, o};
  const Force<Real> f = constraint_wrench ? constraint_wrench[b] : Force<Real>{zero, zero};
  if (!wrench) return {f, zero};
  const Vec3<Real> force = transpose_times(data.X_WR.R, wrench[b].linear);
  const Vec3<Real> moment = transpose_times(data.X_WR.R, wrench[b].angular);
  return {f + Force<Real>{force, moment + cross(data.X_RB[b].p, force)}, force};
}

/// 2B s of a body with the momentum H = I V.
template <class Real>
inline Force<Real> coriolis_times(const Inertia<Real>& I,
                                  const Motion<Real>& V,
                                  const Force<Real>& H,
                                  const Vec3<Real>& s) {
  const Vec3<Real>& w = V.angular;
  const Vec3<Real> turn = cross(w, I.rotational * s) - I.rotational * cross(w, s);
  const Vec3<Real> rest =
      cross(s, I.rotational * w) - cross(I.moment, cross(V.linear, s)) * Real(2.0);
  return {cross(s, H.linear) * Real(2.0), turn + rest};
}

/// The angular part of Gamma, 2B P from the left.
template <class Real>
inline Vec3<Real> times_coriolis(const Inertia<Real>& I,
                                 const Motion<Real>& V,
                                 const Force<Real>& H,
                                 const Motion<Real>& P) {
  const Vec3<Real>&w = V.angular, &s = P.angular;
  const Vec3<Real> turn = cross(w, I.rotational * s) - I.rotational * cross(w, s);
  const Vec3<Real> rest =
      cross(I.rotational * w, s) - cross(V.linear, cross(I.moment, s)) * Real(2.0);
  return cross(H.linear, P.linear) * Real(2.0) + (turn + rest);
}

/// A and P of body b, those of its parent being known.
template <class Real>
inline void set_adjoint_motions(const TreeView& tree,
                                const TreeData<Real>& data,
                                const ParentMotion<Real>& ground,
                                const Real* a,
                                const Real* p,
                                int b,
                                AdjointTerms<Real>* work) {
  const int up = tree.parent[b];
  const ParentMotion<Real> parent = up < 0 ? ground : ParentMotion<Real>{data.V[up], work[up].A};
  work[b].A = body_acceleration(tree, data, parent, b, a);
  work[b].P = joint_motion(tree, data, b, p);
  if (up >= 0) work[b].P = work[up].P + work[b].P;
}

template <class Real>
inline void adjoint_terms(const TreeView& tree,
                          const TreeParameters<Real>& parameters,
                          const TreeData<Real>& data,
                          const Real* a,
                          const Force<Real>* constraint_wrench,
                          const Force<Real>* wrench,
                          const Real* p,
                          AdjointTerms<Real>* work) {
  const ParentMotion<Real> ground = ground_motion(parameters, data);
  for (int b = 0; b < tree.num_bodies; ++b) {
    AdjointTerms<Real>& t = work[b];
    const Motion<Real>& V = data.V[b];
    set_adjoint_motions(tree, data, ground, a, p, b, work);
    const Inertia<Real> I = body_inertia(parameters, data, b);
    const Force<Real> H = I * V;
    const ActingWrench<Real> f = acting_wrench(data, constraint_wrench, wrench, b);
    t.F = body_force(I, V, H, t.A) - f.total;
    t.Q = I * t.P;
    t.Gamma = times_coriolis(I, V, H, t.P);
    const Vec3<Real> y = cross(f.force, t.P.angular);
    t.R = force_cross(t.P, f.total) + Force<Real>{y, cross(data.X_RB[b].p, y)};
  }
}

/// p^T d tau / dq and p^T d tau / dv [nv], of p [nv]: see inverse_dynamics_derivatives(). work:
/// [num_bodies], scratch.
template <class Real>
inline void inverse_dynamics_vjp(const TreeView& tree,
                                 const TreeParameters<Real>& parameters,
                                 const TreeData<Real>& data,
                                 Real dt,
                                 const Real* a,
                                 const Force<Real>* constraint_wrench,
                                 const Force<Real>* wrench,
                                 const Real* p,
                                 AdjointTerms<Real>* work,
                                 Real* by_q,
                                 Real* by_v) {
  if (is_loose_body(tree)) {
    loose_body_vjp(parameters, data, dt, constraint_wrench, wrench, p, by_q, by_v);
    return;
  }
  const ParentMotion<Real> ground = ground_motion(parameters, data);
  adjoint_terms(tree, parameters, data, a, constraint_wrench, wrench, p, work);
  for (int b = tree.num_bodies - 1; b >= root_bodies(tree); --b) {
    const AdjointTerms<Real>& t = work[b];
    const int up = tree.parent[b], j = tree.v_index[b];
    const Force<Real> Gamma{ground.V.linear, t.Gamma};
    const Motion<Real>& V_p = up < 0 ? ground.V : data.V[up];
    Force<Real> q = force_cross(V_p, force_cross(V_p, t.Q) - Gamma) - t.R;
    q = q - force_cross(up < 0 ? ground.A : work[up].A, t.Q);
    if (up >= 0) q = q - force_cross(work[up].P, t.F);
    const Force<Real> v = Gamma - force_cross(V_p + data.V[b], t.Q);
    for (int k = j; k < j + joint_nv(tree.joint[b]); ++k) {
      by_q[k] = dot(data.S[k], q);
      by_v[k] = dot(data.S[k], v);
    }
    if (up < 0) continue;
    work[up].F += t.F;
    work[up].Q += t.Q;
    work[up].R += t.R;
    work[up].Gamma += t.Gamma;
  }
  if (!tree.free_root) return;
  const AdjointTerms<Real>& t = work[0];
  root_products(
      tree, Force<Real>{ground.V.linear, ground.V.linear} - force_cross(ground.A, t.Q) - t.R, by_q);
  const Vec3<Real> spin = t.Gamma + cross(t.Q.linear, data.V[0].linear) * Real(2.0) +
                          cross(t.Q.angular, data.V[0].angular);
  root_products(tree, Force<Real>{ground.V.linear, spin}, by_v);
}

template <class Real>
inline void tangent_terms(const TreeView& tree,
                          const TreeParameters<Real>& parameters,
                          const TreeData<Real>& data,
                          const Real* a,
                          const Force<Real>* constraint_wrench,
                          const Force<Real>* wrench,
                          const Real* dq,
                          const Real* dv,
                          TangentTerms<Real>* work) {
  const ParentMotion<Real> ground = ground_motion(parameters, data);
  for (int b = 0; b < tree.num_bodies; ++b) {
    TangentTerms<Real>& t = work[b];
    const int up = tree.parent[b];
    const Motion<Real>& V = data.V[b];
    const ParentMotion<Real> parent = up < 0 ? ground : ParentMotion<Real>{data.V[up], work[up].A};
    t.A = body_acceleration(tree, data, parent, b, a);
    const Motion<Real> x = joint_motion(tree, data, b, dq), y = joint_motion(tree, data, b, dv);
    const Motion<Real> psi_dot = motion_cross(parent.V, x);
    t.X = x;
    t.s = psi_dot + y;
    t.r = motion_cross(parent.A, x) + motion_cross(parent.V, psi_dot);
    if (b < root_bodies(tree)) {
      t.r = t.r + Motion<Real>{cross(V.linear, y.angular) * Real(2.0), cross(V.angular, y.angular)};
    } else {
      t.r = t.r + motion_cross(parent.V + V, y);
    }
    if (up >= 0) {
      t.X = t.X + work[up].X;
      t.s = t.s + work[up].s;
      t.r = t.r + work[up].r;
    }
    const Inertia<Real> I = body_inertia(parameters, data, b);
    const Force<Real> H = I * V, F = body_force(I, V, H, t.A);
    const ActingWrench<Real> f = acting_wrench(data, constraint_wrench, wrench, b);
    const Vec3<Real> moved = t.X.linear + cross(t.X.angular, data.X_RB[b].p);
    t.F = F - f.total;
    t.T = force_cross(t.X, F) + coriolis_times(I, V, H, t.s.angular) + I * t.r;
    t.T.angular -= cross(moved, f.force);
  }
}

/// d tau [nv] of tangents dq, dv [nv]. work: [num_bodies], scratch.
template <class Real>
inline void inverse_dynamics_jvp(const TreeView& tree,
                                 const TreeParameters<Real>& parameters,
                                 const TreeData<Real>& data,
                                 Real dt,
                                 const Real* a,
                                 const Force<Real>* constraint_wrench,
                                 const Force<Real>* wrench,
                                 const Real* dq,
                                 const Real* dv,
                                 TangentTerms<Real>* work,
                                 Real* dtau) {
  if (is_loose_body(tree)) {
    loose_body_jvp(parameters, data, dt, constraint_wrench, wrench, dq, dv, dtau);
    return;
  }
  tangent_terms(tree, parameters, data, a, constraint_wrench, wrench, dq, dv, work);
  for (int b = tree.num_bodies - 1; b >= 0; --b) {
    const TangentTerms<Real>& t = work[b];
    const Force<Real> total = t.T - force_cross(t.X, t.F);
    const int up = tree.parent[b], j = tree.v_index[b];
    if (b < root_bodies(tree)) {
      root_products(tree, total, dtau);
    } else {
      for (int k = j; k < j + joint_nv(tree.joint[b]); ++k) dtau[k] = dot(data.S[k], total);
    }
    if (up < 0) continue;
    work[up].F += t.F;
    work[up].T += t.T;
  }
}

}  // namespace STICTION_ISA
}  // namespace stiction
