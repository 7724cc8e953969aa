#pragma once

#include "dynamics/inverse_dynamics_products.hpp"

// Inverse dynamics differentiated by the masses, centres of mass and inertias of the bodies and by
// gravity. The force I A + V x* I V is linear in a body's inertia I = (m, h, J) about the root's
// origin, from which the chain rule leads to Parameters: h = m c, J = R I_c R^T + m (|c|^2 1 - c
// c^T), c the centre of mass seen from the root. Loose bodies obey equation (1) of loose_body.hpp
// instead.

namespace stiction {
inline namespace STICTION_ISA {

/// A change of what Parameters hold of a body, or derivatives by it: those by the six entries of
/// the inertia, of which one off the diagonal stands twice in the matrix.
template <class Real>
struct InertialParameters {
  Real mass;
  Vec3<Real> com;      ///< body frame
  Sym3<Real> inertia;  ///< about the centre of mass, body axes
};
inline constexpr int kInertialParameters = 10;

/// The k-th parameter: mass, com x y z, inertia xx xy yy xz yz zz.
template <class Real>
inline Real& entry(InertialParameters<Real>& d, int k) {
  static_assert(reals_in<InertialParameters<Real>, Real>() == kInertialParameters);
  return (&d.mass)[k];
}

/// The k-th parameter alone.
template <class Real>
inline InertialParameters<Real> inertial_unit(int k) {
  const Real o(0.0);
  InertialParameters<Real> d{o, {o, o, o}, {o, o, o, o, o, o}};
  entry(d, k) = Real(1.0);
  return d;
}

/// Change of the inertia about the root's origin.
template <class Real>
inline Inertia<Real> inertia_change(const TreeParameters<Real>& parameters,
                                    const TreeData<Real>& data,
                                    int b,
                                    const InertialParameters<Real>& d) {
  const RigidTransform<Real>& X = data.X_RB[b];
  const Vec3<Real> c = X * parameters.com[b], dc = X.R * d.com;
  const Vec3<Real> dh = c * d.mass + dc * parameters.mass[b], mc = c * parameters.mass[b];
  // m (|c|^2 1 - c c^T) = (h . c) 1 - h c^T.
  const Real xx = dh.x * c.x + mc.x * dc.x, yy = dh.y * c.y + mc.y * dc.y,
             zz = dh.z * c.z + mc.z * dc.z;
  const Sym3<Real> moved{yy + zz,
                         -(dh.x * c.y + mc.x * dc.y),
                         xx + zz,
                         -(dh.x * c.z + mc.x * dc.z),
                         -(dh.y * c.z + mc.y * dc.z),
                         xx + yy};
  return {d.mass, dh, moved + rotate(X.R, d.inertia)};
}

/// d tau of a change of a loose body.
template <class Real>
inline Force<Real> loose_body_inertial_change(const TreeParameters<Real>& parameters,
                                              const TreeData<Real>& data,
                                              Real dt,
                                              const Real* a,
                                              const LooseBodyTurn<Real>& turn,
                                              const InertialParameters<Real>& d) {
  const Vec3<Real>& c = parameters.com[0];
  const Vec3<Real> g = transpose_times(data.X_WR.R, parameters.gravity);
  const Vec3<Real> f{data.bias[0], data.bias[1], data.bias[2]};  // -m g - wrenches
  const Vec3<Real> wrenches = -f - g * parameters.mass[0];
  const Vec3<Real> dl = d.inertia * data.V[0].angular;
  const Vec3<Real> next =
      turn.next_momentum(turn.half * dl - cross(d.com, wrenches) * dt, d.inertia * turn.next);
  const Force<Real> Ma =
      inertia_change(parameters, data, 0, d) * Motion<Real>{{a[0], a[1], a[2]}, {a[3], a[4], a[5]}};
  return {Ma.linear - g * d.mass,
          Ma.angular + cross(d.com, f) - cross(c, g) * d.mass + (dl - next) * (Real(1.0) / dt)};
}

/// A of all bodies with a [nv], minus gravity.
template <class Real>
inline void body_accelerations(const TreeView& tree,
                               const TreeParameters<Real>& parameters,
                               const TreeData<Real>& data,
                               const Real* a,
                               Motion<Real>* A) {
  const ParentMotion<Real> ground = ground_motion(parameters, data);
  for (int b = 0; b < tree.num_bodies; ++b) {
    const int up = tree.parent[b];
    A[b] = body_acceleration(
        tree, data, up < 0 ? ground : ParentMotion<Real>{data.V[up], A[up]}, b, a);
  }
}

/// d tau / d(the ten parameters of one body), [nv x 10] row-major with rows `stride` apart: the
/// rows of the body's chain; the others, all zero, are left alone. A of body_accelerations(), of
/// loose bodies not read.
template <class Real>
inline void inertial_columns(const TreeView& tree,
                             const TreeParameters<Real>& parameters,
                             const TreeData<Real>& data,
                             Real dt,
                             const Real* a,
                             const Motion<Real>* A,
                             int b,
                             int stride,
                             Real* out) {
  Force<Real> dF[kInertialParameters];
  if (is_loose_body(tree)) {
    const LooseBodyTurn<Real> turn(parameters, data, dt);
    for (int k = 0; k < kInertialParameters; ++k)
      dF[k] = loose_body_inertial_change(parameters, data, dt, a, turn, inertial_unit<Real>(k));
  } else {
    for (int k = 0; k < kInertialParameters; ++k) {
      const Inertia<Real> dI = inertia_change(parameters, data, b, inertial_unit<Real>(k));
      dF[k] = body_force(dI, data.V[b], dI * data.V[b], A[b]);
    }
  }
  const int last = tree.v_index[b] + joint_nv(tree.joint[b]) - 1;
  const int* chain = tree.chain + tree.row[last];
  for (int m = 0; m <= tree.depth[last]; ++m) {
    for (int k = 0; k < kInertialParameters; ++k)
      out[chain[m] * stride + k] = dot(data.S[chain[m]], dF[k]);
  }
}

/// d tau / d gravity, [nv x 3] row-major with rows `stride` apart. `data` with composite inertias.
template <class Real>
inline void gravity_columns(const TreeView& tree,
                            const TreeData<Real>& data,
                            int stride,
                            Real* out) {
  for (int b = 0; b < tree.num_bodies; ++b) {
    for (int j = tree.v_index[b]; j < tree.v_index[b] + joint_nv(tree.joint[b]); ++j) {
      const Vec3<Real> f = data.X_WR.R * (data.inertia[b] * data.S[j]).linear;
      for (int k = 0; k < 3; ++k) out[j * stride + k] = -f[k];
    }
  }
}

}  // namespace STICTION_ISA
}  // namespace stiction
