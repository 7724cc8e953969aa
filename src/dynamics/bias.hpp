#pragma once

#include "dynamics/free_root.hpp"
#include "model/joint.hpp"

namespace stiction {
inline namespace STICTION_ISA {

/// [rad in a step] Of the fastest body of an articulated tree: where it turns by more, the bias is
/// that of velocities at which it does not.
inline constexpr double kFastestTurn = 1.0;
/// [rad in a step] Where a body of an articulated tree turns by more, the mass matrix changes too
/// much within the step for its kinetic energy to come out right by itself.
inline constexpr double kBalancedTurn = 0.1;
/// Whether a body may turn by more at the mean velocity: an upper bound, with its turn at the start
/// [rad] and the sum over dofs of the change of speed within the step [rad/s].
template <class Real>
inline Mask<Real> may_turn_fast(Real turn, Real change, Real dt) {
  return turn + Real(0.5) * dt * change > Real(kBalancedTurn);
}
template <class Real>
inline Real fastest_turn(const TreeView& tree, const TreeData<Real>& data, Real dt) {
  Real fastest(0.0);
  for (int b = 0; b < tree.num_bodies; ++b) fastest = max(fastest, squared_norm(data.V[b].angular));
  return dt * square_root(fastest);
}

/// One body's centre of mass c, its velocity there and its inertia about it, in root axes.
template <class Real>
struct BodyAtCom {
  Real mass;
  Vec3<Real> c;
  Sym3<Real> central;
  Vec3<Real> velocity, angular_momentum;

  BodyAtCom(const TreeParameters<Real>& parameters, const TreeData<Real>& data, int b)
      : mass(parameters.mass[b]),
        c(data.X_RB[b] * parameters.com[b]),
        central(rotate(data.X_RB[b].R, parameters.inertia[b])),
        velocity(data.V[b].linear + cross(data.V[b].angular, c)),
        angular_momentum(central * data.V[b].angular) {}

  /// What moves it at zero joint acceleration.
  Force<Real> force(const TreeData<Real>& data, int b) const {
    const Motion<Real>&V = data.V[b], &A = data.A[b];
    // Classical acceleration of the centre of mass from the spatial one about the origin.
    const Vec3<Real> a_c = A.linear + cross(A.angular, c) + cross(V.angular, velocity);
    const Vec3<Real> f = a_c * mass;
    const Vec3<Real> n = central * A.angular + cross(V.angular, angular_momentum);
    return {f, n + cross(c, f)};
  }
  Real twice_kinetic(const Motion<Real>& V) const {
    return mass * dot(velocity, velocity) + dot(V.angular, angular_momentum);
  }
};

/// Inertias about the root origin, body forces at zero joint acceleration, and the energies.
template <class Real>
inline void body_inertias_and_forces(const TreeView& tree,
                                     const TreeParameters<Real>& parameters,
                                     TreeData<Real>& data) {
  Real kinetic(0.0), potential(0.0);
  const Vec3<Real> g = transpose_times(data.X_WR.R, parameters.gravity);
  Real mass(0.0);
  for (int b = 0; b < tree.num_bodies; ++b) {
    const BodyAtCom<Real> body(parameters, data, b);
    data.inertia[b] = inertia_about_origin(body.mass, body.c, body.central);
    data.F[b] = body.force(data, b);
    kinetic += body.twice_kinetic(data.V[b]);
    potential -= body.mass * dot(g, body.c);
    mass += body.mass;
  }
  data.kinetic_energy = Real(0.5) * kinetic;
  data.potential_energy = potential - mass * dot(parameters.gravity, data.X_WR.p);
}

/// The forces alone. Returns twice the kinetic energy.
template <class Real>
inline Real body_forces(const TreeView& tree,
                        const TreeParameters<Real>& parameters,
                        TreeData<Real>& data) {
  Real kinetic(0.0);
  for (int b = 0; b < tree.num_bodies; ++b) {
    const BodyAtCom<Real> body(parameters, data, b);
    data.F[b] = body.force(data, b);
    kinetic += body.twice_kinetic(data.V[b]);
  }
  return kinetic;
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
