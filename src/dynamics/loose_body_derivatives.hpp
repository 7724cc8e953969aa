#pragma once

#include "dynamics/loose_body.hpp"
#include "math/rotation_jacobian.hpp"

namespace stiction {
inline namespace STICTION_ISA {

/// The bias of a loose body (loose_body.hpp) differentiated. With s = dt / 2 and the momentum half
/// way m = exp(-s [w']) l = I w', equation (1) gives
///
///   (I - s [m] J_r(s w')) dw' = exp(-s [w']) dl,
///   dl = (exp(-s [w]) I + s [exp(-s [w]) I w] J_r(s w)) dw + dt dtau.
template <class Real>
struct LooseBodyTurn {
  Mat3<Real> I, K;                ///< I, I (I - s [m] J_r(s w'))^-1
  Mat3<Real> half, half_next, J;  ///< exp(-s [w]), exp(-s [w']), J_r(s w)
  Vec3<Real> l, next;             ///< exp(-s [w]) I w, w'
  Real s;

  /// From the bias that loose_body_bias left.
  LooseBodyTurn(const TreeParameters<Real>& parameters, const TreeData<Real>& data, Real dt)
      : I(full_matrix(parameters.inertia[0])), s(Real(0.5) * dt) {
    const Vec3<Real>& w = data.V[0].angular;
    const Vec3<Real> Iw = parameters.inertia[0] * w, m = free_momentum(parameters, data, dt);
    next = solve(I, m);
    half = turn_matrix(w * -s);
    half_next = turn_matrix(next * -s);
    l = half * Iw;
    J = right_jacobian(w * s);
    const Mat3<Real> J_next = right_jacobian(next * s), one = Mat3<Real>::identity();
    Mat3<Real> implicit;
    for (int k = 0; k < 3; ++k) implicit.column(k) = I.column(k) - cross(m, J_next.column(k)) * s;
    for (int k = 0; k < 3; ++k) K.column(k) = I * solve(implicit, one.column(k));
  }
  /// d(I w') of dl, and of a change of I: dI w'.
  Vec3<Real> next_momentum(const Vec3<Real>& dl) const { return K * (half_next * dl); }
  Vec3<Real> next_momentum(const Vec3<Real>& dl, const Vec3<Real>& dIw) const {
    return dIw + K * (half_next * dl - dIw);
  }
  /// dl of the dw that is axis k.
  Vec3<Real> momentum(int k) const { return half * I.column(k) + cross(l, J.column(k)) * s; }
};

/// Equation (2) of loose_body.hpp differentiated. With N the momentum at the node, E = exp(-dt
/// [w+]), P = dt J_r(dt w+) and y = E N,
///
///   (exp(-s [w]) I + s [y] J_r(s w)) dw = E dN + y x (P dw+) - exp(-s [w]) dI w,
///   dN = I dw+ + dI w+ + dl - d(I w'),
///
/// dl that of LooseBodyTurn.
template <class Real>
struct KickTurn {
  LooseBodyTurn<Real> turn;
  Vec3<Real> moved, after;           ///< w+, w
  Mat3<Real> by_moved, by_momentum;  ///< dw of dw+ and of dl

  KickTurn(const TreeParameters<Real>& parameters,
           const TreeData<Real>& data,
           const Vec3<Real>& moved,
           Real dt)
      : turn(parameters, data, dt), moved(moved), E_(turn_matrix(moved * -dt)) {
    const Sym3<Real>& I = parameters.inertia[0];
    const Real s = turn.s;
    const Vec3<Real> m = I * turn.next;
    const Vec3<Real> y = E_ * (turned(turn.next * s, m) + (I * moved - m));
    after = velocity_after_kick(I, m, moved, dt);
    half_ = turn_matrix(after * -s);
    const Mat3<Real> J = right_jacobian(after * s), P = right_jacobian(moved * dt);
    for (int k = 0; k < 3; ++k)
      left_.column(k) = half_ * turn.I.column(k) + cross(y, J.column(k)) * s;
    const Mat3<Real> one = Mat3<Real>::identity();
    for (int k = 0; k < 3; ++k) {
      by_moved.column(k) = solve(left_, E_ * turn.I.column(k) + cross(y, P.column(k)) * dt);
      const Vec3<Real>& e = one.column(k);
      by_momentum.column(k) = solve(left_, E_ * (e - turn.next_momentum(e)));
    }
  }
  /// dw of a change of I, with w the velocity at the start.
  Vec3<Real> by_inertia(const Sym3<Real>& dI, const Vec3<Real>& w) const {
    const Vec3<Real> dl = turn.half * (dI * w);
    const Vec3<Real> dN = dI * moved + dl - turn.next_momentum(dl, dI * turn.next);
    return solve(left_, E_ * dN - half_ * (dI * after));
  }

 private:
  Mat3<Real> E_, half_, left_;
};

/// inverse_dynamics_derivatives() of a loose body. M a is constant in its axes, force and moment of
/// gravity and of wrenches are constant in the world.
template <class Real>
inline void loose_body_derivatives(const TreeParameters<Real>& parameters,
                                   const TreeData<Real>& data,
                                   Real dt,
                                   const Force<Real>* constraint_wrench,
                                   const Force<Real>* wrench,
                                   int stride,
                                   Real* dq,
                                   Real* dv) {
  const Real o(0.0), inverse = Real(1.0) / dt;
  const Vec3<Real> zero{o, o, o};
  const Vec3<Real>& c = parameters.com[0];
  const LooseBodyTurn<Real> turn(parameters, data, dt);
  const Force<Real> f = constraint_wrench ? constraint_wrench[0] : Force<Real>{zero, zero};
  Vec3<Real> force = parameters.gravity * parameters.mass[0], moment = zero;
  Vec3<Real> acting = zero;  // of the wrench alone
  if (wrench) {
    acting = transpose_times(data.X_WR.R, wrench[0].linear);
    force += wrench[0].linear;
    moment = transpose_times(data.X_WR.R, wrench[0].angular);
  }
  force = transpose_times(data.X_WR.R, force);
  for (int k = 0; k < 3; ++k) {
    const Vec3<Real>& e = data.S[3 + k].angular;
    const Vec3<Real> df = cross(e, force);  // b_v = -force in the world
    const Vec3<Real> dtau = cross(moment, e) - cross(c, cross(acting, e));
    const Vec3<Real> dm = turn.next_momentum(dtau * dt),
                     dm_v = turn.next_momentum(turn.momentum(k));
    const Vec3<Real> dn = cross(c, df) - dm * inverse;
    const Vec3<Real> spin = (turn.I.column(k) - dm_v) * inverse;
    const Vec3<Real> slide = cross(e, f.linear), twist = cross(e, f.angular);
    for (int i = 0; i < 3; ++i) {
      dq[(3 + i) * stride + k] = slide[i];
      dq[i * stride + 3 + k] = df[i] + slide[i];
      dq[(3 + i) * stride + 3 + k] = dn[i] + twist[i];
      dv[(3 + i) * stride + 3 + k] = spin[i];
    }
  }
}

/// p^T of both matrices.
template <class Real>
inline void loose_body_vjp(const TreeParameters<Real>& parameters,
                           const TreeData<Real>& data,
                           Real dt,
                           const Force<Real>* constraint_wrench,
                           const Force<Real>* wrench,
                           const Real* p,
                           Real* by_q,
                           Real* by_v) {
  Real dq[36], dv[36];
  for (int k = 0; k < 36; ++k) dq[k] = dv[k] = Real(0.0);
  loose_body_derivatives(parameters, data, dt, constraint_wrench, wrench, 6, dq, dv);
  for (int j = 0; j < 6; ++j) {
    Real q(0.0), v(0.0);
    for (int i = 0; i < 6; ++i) {
      q += p[i] * dq[6 * i + j];
      v += p[i] * dv[6 * i + j];
    }
    by_q[j] = q;
    by_v[j] = v;
  }
}

/// d tau of tangents of q and v.
template <class Real>
inline void loose_body_jvp(const TreeParameters<Real>& parameters,
                           const TreeData<Real>& data,
                           Real dt,
                           const Force<Real>* constraint_wrench,
                           const Force<Real>* wrench,
                           const Real* dq,
                           const Real* dv,
                           Real* dtau) {
  Real q[36], v[36];
  for (int k = 0; k < 36; ++k) q[k] = v[k] = Real(0.0);
  loose_body_derivatives(parameters, data, dt, constraint_wrench, wrench, 6, q, v);
  for (int i = 0; i < 6; ++i) {
    dtau[i] = Real(0.0);
    for (int j = 0; j < 6; ++j) dtau[i] += q[6 * i + j] * dq[j] + v[6 * i + j] * dv[j];
  }
}

}  // namespace STICTION_ISA
}  // namespace stiction
