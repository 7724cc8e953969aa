#pragma once

#include "dynamics/free_root.hpp"
#include "model/joint.hpp"

namespace stiction {
inline namespace STICTION_ISA {

/// [rad in a step] Of the fastest body of an articulated tree: where it turns by more, the bias is
/// that of velocities at which it does not.
inline constexpr double kFastestTurn = 1.0;
template <class Real>
inline Real fastest_turn(const TreeView& tree, const TreeData<Real>& data, Real dt) {
  Real fastest(0.0);
  for (int b = 0; b < tree.num_bodies; ++b) fastest = max(fastest, squared_norm(data.V[b].angular));
  return dt * square_root(fastest);
}

/// Inertias about the root origin, body forces at zero joint acceleration, and the energies.
template <class Real>
inline void body_inertias_and_forces(const TreeView& tree,
                                     const TreeParameters<Real>& parameters,
                                     TreeData<Real>& data) {
  Real kinetic(0.0), potential(0.0);
  const Vec3<Real> g = transpose_times(data.X_WR.R, parameters.gravity);
  Real mass(0.0);
  for (int b = 0; b < tree.num_bodies; ++b) {
    const RigidTransform<Real>& X = data.X_RB[b];
    const Real m = parameters.mass[b];
    const Vec3<Real> c = X * parameters.com[b];
    const Sym3<Real> central = rotate(X.R, parameters.inertia[b]);
    data.inertia[b] = inertia_about_origin(m, c, central);

    const Motion<Real>& V = data.V[b];
    const Motion<Real>& A = data.A[b];
    const Vec3<Real> v_c = V.linear + cross(V.angular, c);
    const Vec3<Real> angular_momentum = central * V.angular;
    // Classical acceleration of the centre of mass from the spatial one about the origin.
    const Vec3<Real> a_c = A.linear + cross(A.angular, c) + cross(V.angular, v_c);
    const Vec3<Real> f = a_c * m;
    const Vec3<Real> n = central * A.angular + cross(V.angular, angular_momentum);
    data.F[b] = {f, n + cross(c, f)};

    kinetic += m * dot(v_c, v_c) + dot(V.angular, angular_momentum);
    potential -= m * dot(g, c);
    mass += m;
  }
  data.kinetic_energy = Real(0.5) * kinetic;
  data.potential_energy = potential - mass * dot(parameters.gravity, data.X_WR.p);
}

/// Inertia of one body about the root's origin.
template <class Real>
inline Inertia<Real> body_inertia(const TreeParameters<Real>& parameters,
                                  const TreeData<Real>& data,
                                  int b) {
  const RigidTransform<Real>& X = data.X_RB[b];
  return inertia_about_origin(
      parameters.mass[b], X * parameters.com[b], rotate(X.R, parameters.inertia[b]));
}

/// The inertias alone, which need no velocity.
template <class Real>
inline void body_inertias(const TreeView& tree,
                          const TreeParameters<Real>& parameters,
                          TreeData<Real>& data) {
  for (int b = 0; b < tree.num_bodies; ++b) data.inertia[b] = body_inertia(parameters, data, b);
}

/// Adds a wrench (force, moment about the body's origin, both in the world) to a body.
template <class Real>
inline void add_external_wrench(int body,
                                const Vec3<Real>& force_W,
                                const Vec3<Real>& moment_W,
                                TreeData<Real>& data) {
  const Vec3<Real> f = transpose_times(data.X_WR.R, force_W);
  const Vec3<Real> n = transpose_times(data.X_WR.R, moment_W) + cross(data.X_RB[body].p, f);
  data.F[body].linear -= f;
  data.F[body].angular -= n;
}

/// b = S^T (sum of the body forces above each joint), leaves to root. Of a loose body:
/// loose_body_bias.
template <class Real>
inline void bias_forces(const TreeView& tree, TreeData<Real>& data) {
  for (int b = tree.num_bodies - 1; b >= root_bodies(tree); --b) {
    const int j = tree.v_index[b];
    const Force<Real>& F = data.F[b];
    for (int k = 0; k < joint_nv(tree.joint[b]); ++k) data.bias[j + k] = dot(data.S[j + k], F);
    if (tree.parent[b] >= 0) data.F[tree.parent[b]] += F;
  }
  root_products(tree, data.F[0], data.bias);
}

}  // namespace STICTION_ISA
}  // namespace stiction
