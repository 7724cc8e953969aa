#pragma once

#include "dynamics/free_root.hpp"
#include "math/rotation_jacobian.hpp"
#include "model/joint.hpp"

// The end of a step differentiated: integrate_configuration() and what its turn makes of v.
//
// Rows are those of matrices [nv x width], row-major with rows `stride` apart: of q the tangents
// (shifts and turns in the axes of the body), of v the components in the axes of q. With E =
// exp(-dt [w]), P = dt J_r(dt w), u = v + w x c and a point c that moves straight on,
//
//   turn'  = E turn + P dw
//   shift' = E (shift + turn x (c + dt u) + dt (dv + dw x c)) - turn' x c
//   dv'    = E (dv + dw x c) + (E u) x (P dw) - dw x c,   dw' = dw.

namespace stiction {
inline namespace STICTION_ISA {

/// Three rows of a matrix.
template <class Real>
struct Rows3 {
  Real* at;
  int stride;
  Vec3<Real> operator()(int k) const { return {at[k], at[stride + k], at[2 * stride + k]}; }
  void set(int k, const Vec3<Real>& x) const {
    at[k] = x.x;
    at[stride + k] = x.y;
    at[2 * stride + k] = x.z;
  }
};

/// One turn by dt w: E and P.
template <class Real>
struct TurnDerivatives {
  Mat3<Real> E, P;

  TurnDerivatives(const Vec3<Real>& w, Real dt) {
    const Vec3<Real> turn = w * dt;
    const Mat3<Real> J = right_jacobian(turn);
    E = turn_matrix(-turn);
    P = {J.c0 * dt, J.c1 * dt, J.c2 * dt};
  }
};

/// A free root's: what the formulas above need besides the columns.
template <class Real>
struct RootTurn {
  TurnDerivatives<Real> turn;
  Vec3<Real> c, arm, Eu;  ///< c, c + dt u, E u

  RootTurn(const Real* v, const Vec3<Real>& c, Real dt)
      : turn(Vec3<Real>{v[3], v[4], v[5]}, dt), c(c) {
    const Vec3<Real> u = Vec3<Real>{v[0], v[1], v[2]} + cross(Vec3<Real>{v[3], v[4], v[5]}, c);
    arm = c + u * dt;
    Eu = turn.E * u;
  }
};

template <class Real>
inline void root_tangents(
    const RootTurn<Real>& root, Real dt, int width, int stride, Real* dq, Real* dv) {
  const RootTurn<Real> r = root;  // a copy, which the stores below cannot reach
  const Rows3<Real> shift{dq, stride}, turn{dq + 3 * stride, stride};
  const Rows3<Real> linear{dv, stride}, angular{dv + 3 * stride, stride};
#pragma GCC ivdep
  for (int k = 0; k < width; ++k) {
    const Vec3<Real> dw = angular(k), theta = turn(k), about = cross(dw, r.c);
    const Vec3<Real> Pw = r.turn.P * dw, du = linear(k) + about;
    const Vec3<Real> end = r.turn.E * theta + Pw;
    const Vec3<Real> moved = r.turn.E * (shift(k) + cross(theta, r.arm) + du * dt);
    turn.set(k, end);
    shift.set(k, moved - cross(end, r.c));
    linear.set(k, r.turn.E * du + cross(r.Eu, Pw) - about);
  }
}

template <class Real>
inline void spherical_tangents(
    const TurnDerivatives<Real>& joint, int width, int stride, Real* dq, const Real* dv) {
  const TurnDerivatives<Real> t = joint;
  const Rows3<Real> turn{dq, stride};
#pragma GCC ivdep
  for (int k = 0; k < width; ++k) {
    const Vec3<Real> dw{dv[k], dv[stride + k], dv[2 * stride + k]};
    turn.set(k, t.E * turn(k) + t.P * dw);
  }
}

/// Tangents of (q, v) before the end of a step, v being that it ends with in axes of its start, to
/// those after it, in axes of its end. In place, each column on its own.
template <class Real>
inline void integrate_tangents(const TreeView& tree,
                               const Vec3<Real>& c,
                               Real dt,
                               const Real* v,
                               int width,
                               int stride,
                               Real* dq,
                               Real* dv) {
  if (tree.free_root) root_tangents(RootTurn<Real>(v, c, dt), dt, width, stride, dq, dv);
  for (int b = root_bodies(tree); b < tree.num_bodies; ++b) {
    const int j = tree.v_index[b];
    Real* q_row = dq + j * stride;
    const Real* v_row = dv + j * stride;
    if (tree.joint[b] == JointType::kSpherical) {
      const TurnDerivatives<Real> turn(Vec3<Real>{v[j], v[j + 1], v[j + 2]}, dt);
      spherical_tangents(turn, width, stride, q_row, v_row);
    } else {
#pragma GCC ivdep
      for (int k = 0; k < width; ++k) q_row[k] += dt * v_row[k];
    }
  }
}

template <class Real>
inline void root_cotangents(
    const RootTurn<Real>& root, Real dt, int width, int stride, Real* dq, Real* dv) {
  const RootTurn<Real> r = root;
  const Rows3<Real> shift{dq, stride}, turn{dq + 3 * stride, stride};
  const Rows3<Real> linear{dv, stride}, angular{dv + 3 * stride, stride};
#pragma GCC ivdep
  for (int k = 0; k < width; ++k) {
    const Vec3<Real> by_shift = shift(k), by_v = linear(k);
    const Vec3<Real> by_end = turn(k) - cross(r.c, by_shift);
    const Vec3<Real> moved = transpose_times(r.turn.E, by_shift);
    const Vec3<Real> by_u = moved * dt + transpose_times(r.turn.E, by_v);
    const Vec3<Real> by_turn = transpose_times(r.turn.P, by_end + cross(by_v, r.Eu));
    shift.set(k, moved);
    turn.set(k, transpose_times(r.turn.E, by_end) + cross(r.arm, moved));
    angular.set(k, angular(k) + by_turn + cross(r.c, by_u - by_v));
    linear.set(k, by_u);
  }
}

/// The transpose of integrate_tangents(): derivatives of something by the (q, v) after the end of a
/// step to those by the (q, v) before it. In place.
template <class Real>
inline void integrate_cotangents(const TreeView& tree,
                                 const Vec3<Real>& c,
                                 Real dt,
                                 const Real* v,
                                 int width,
                                 int stride,
                                 Real* dq,
                                 Real* dv) {
  if (tree.free_root) root_cotangents(RootTurn<Real>(v, c, dt), dt, width, stride, dq, dv);
  for (int b = root_bodies(tree); b < tree.num_bodies; ++b) {
    const int j = tree.v_index[b];
    Real *q_row = dq + j * stride, *v_row = dv + j * stride;
    if (tree.joint[b] == JointType::kSpherical) {
      const TurnDerivatives<Real> t(Vec3<Real>{v[j], v[j + 1], v[j + 2]}, dt);
      const Rows3<Real> turn{q_row, stride}, angular{v_row, stride};
      for (int k = 0; k < width; ++k) {
        const Vec3<Real> by_end = turn(k);
        angular.set(k, angular(k) + transpose_times(t.P, by_end));
        turn.set(k, transpose_times(t.E, by_end));
      }
    } else {
      for (int k = 0; k < width; ++k) v_row[k] += dt * q_row[k];
    }
  }
}

/// Changes of q+ and v+ of a free root, its linear parts, by a change dc of the point that moves
/// straight on: of a loose body that of its centre of mass.
template <class Real>
struct RootLinear {
  Vec3<Real> q, v;
};
template <class Real>
inline RootLinear<Real> root_point_tangent(const Real* v, Real dt, const Vec3<Real>& dc) {
  const Vec3<Real> w{v[3], v[4], v[5]}, about = cross(w, dc);
  return {turned(w * -dt, dc + about * dt) - dc, turned(w * -dt, about) - about};
}
/// The transpose.
template <class Real>
inline Vec3<Real> root_point_cotangent(const Real* v, Real dt, const RootLinear<Real>& by) {
  const Vec3<Real> w{v[3], v[4], v[5]}, q = turned(w * dt, by.q);
  return q - by.q + cross(q * dt + turned(w * dt, by.v) - by.v, w);
}

}  // namespace STICTION_ISA
}  // namespace stiction
