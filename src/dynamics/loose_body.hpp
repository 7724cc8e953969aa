#pragma once

#include "dynamics/tree_data.hpp"

// The free flight of a loose body, a tree of one free body. Explicitly evaluated, its gyroscopic
// torque gives a tumbling body energy without bound. Here rotations carry its momentum instead.
//
// A step turns R_{k+1} = R_k exp(dt [w_k]) with the velocity w_k it ends with, so w_k belongs to
// the whole interval [t_k, t_{k+1}], and so does the angular momentum about the centre of mass. It
// is put in the world by the orientation half way, where the scheme looks the same from both ends:
//
//   L_k = R_k exp(dt/2 [w_k]) I w_k = R_{k+1} exp(-dt/2 [w_k]) I w_k        [kg m^2/s].
//
// Euler's equations, L_k - L_{k-1} = dt R_k tau, are then in axes of R_k
//
//   exp(dt/2 [w']) I w' = exp(-dt/2 [w]) I w + dt tau                                         (1)
//
// for the new velocity w' from the old one w. Without torque |I w| is constant and the energy lies
// between L^2/2 I_max and L^2/2 I_min, at any dt. Equation (1) is its own inverse under dt -> -dt,
// hence of second order, and its energy error does not grow with time but oscillates as
// (|w| dt)^2. With the momentum at the end of the interval, exp(dt [w']) I w' = I w, the direction
// of L too would be seen at the nodes, but that is a backward Euler step: it turns a tumbling coin
// into one that spins about one axis within seconds.
//
// The kicks of contacts, of damping and of control.torque come after (1), at w': the bodies move
// with w+ = I^-1 (I w' + kick). They act at the node, where the step begins, so that the momentum
// of the next step is that of the node with them,
//
//   exp(-dt/2 [w]) I w = exp(-dt [w+]) (exp(dt/2 [w']) I w' + kick),                           (2)
//
// in axes of its end. The step leaves this w, which differs from w+ by about dt/2 w x kick.

namespace stiction {
inline namespace STICTION_ISA {

/// I w' of exp(s [w']) I w' = l, the root near the guess w: Newton on f = I w' - m with m =
/// exp(-s [w']) l, whose derivative is I - s [m] (1 - s/2 [w'] + ...), (s [w'])^2 being left out.
/// Three steps leave f at rounding for s|w'| <= 0.05 and at 1e-6 |l| for 0.5 (medians over
/// inertias up to 100 : 1). Beyond s|w'| = 1 the term in s^2 is left out as well, as I - s [m] is
/// never singular. The result is l turned, so its norm is that of l, converged or not.
template <class Real>
inline Vec3<Real> momentum_of_turn(const Sym3<Real>& I, const Vec3<Real>& l, Vec3<Real> w, Real s) {
  for (int k = 0; k < 3; ++k) {
    const Vec3<Real> m = turned(w * -s, l);
    const Real h = select(s * s * squared_norm(w) < Real(1.0), Real(0.5) * s * s, Real(0.0));
    // [m][w] = w m^T - (m . w) 1.
    const Vec3<Real> n = m * s, u = m * h;
    const Real d = dot(u, w);
    const Mat3<Real> J{{I.xx - d + w.x * u.x, I.xy - n.z + w.y * u.x, I.xz + n.y + w.z * u.x},
                       {I.xy + n.z + w.x * u.y, I.yy - d + w.y * u.y, I.yz - n.x + w.z * u.y},
                       {I.xz - n.y + w.x * u.z, I.yz + n.x + w.y * u.z, I.zz - d + w.z * u.z}};
    const Vec3<Real> change = solve(J, I * w - m), next = w - change;
    const Vec3<Real> moved = next - w;
    w = next;
    // What does not move w repeats itself to the bit: bodies at rest.
    if (all(abs(moved.x) + abs(moved.y) + abs(moved.z) <= Real(0.0))) break;
  }
  return turned(w * -s, l);
}

/// Bias of a loose body such that v - dt M^-1 b obeys equation (1) and moves the centre of mass by
/// m a_c = m g + wrenches. Instead of bias_forces; after body_inertias_and_forces and
/// add_external_wrench.
template <class Real>
inline void loose_body_bias(const TreeParameters<Real>& parameters, Real dt, TreeData<Real>& data) {
  const Vec3<Real>& c = parameters.com[0];
  const Sym3<Real>& I = parameters.inertia[0];
  const Vec3<Real>& w = data.V[0].angular;
  const Vec3<Real> l = I * w;
  const Vec3<Real> torque = cross(w, l) + cross(c, data.F[0].linear) - data.F[0].angular;
  const Real s = Real(0.5) * dt;
  const Vec3<Real> next = momentum_of_turn(I, turned(w * -s, l) + torque * dt, w, s);
  // Of the force m a_c the body frame's own share m w x (w x c) is left out: see
  // integrate_configuration.
  const Vec3<Real> f = data.F[0].linear - cross(w, cross(w, c)) * parameters.mass[0];
  const Vec3<Real> n = cross(c, f) + (l - next) * (Real(1.0) / dt);
  for (int k = 0; k < 3; ++k) {
    data.bias[k] = f[k];
    data.bias[3 + k] = n[k];
  }
}

template <class Real>
inline Mat3<Real> full_matrix(const Sym3<Real>& s) {
  return {{s.xx, s.xy, s.xz}, {s.xy, s.yy, s.yz}, {s.xz, s.yz, s.zz}};
}

/// I w' of equation (1), from the bias that loose_body_bias() left.
template <class Real>
inline Vec3<Real> free_momentum(const TreeParameters<Real>& parameters,
                                const TreeData<Real>& data,
                                Real dt) {
  const Vec3<Real> f{data.bias[0], data.bias[1], data.bias[2]};
  const Vec3<Real> n{data.bias[3], data.bias[4], data.bias[5]};
  return parameters.inertia[0] * data.V[0].angular - (n - cross(parameters.com[0], f)) * dt;
}

/// Whether a body turns enough for its kicks to count, from the velocities at the start and of the
/// step: by less its momentum at the node is that of w+ to rounding. Bodies at rest do not.
template <class Real>
inline Mask<Real> turns_between_nodes(const Vec3<Real>& start, const Vec3<Real>& moved, Real dt) {
  constexpr double kStill = 1e-12;  // [rad]
  const auto size = [](const Vec3<Real>& x) { return abs(x.x) + abs(x.y) + abs(x.z); };
  return dt * (size(start) + size(moved)) > Real(kStill);
}

/// w of equation (2), from m = I w' and w+.
template <class Real>
inline Vec3<Real> velocity_after_kick(const Sym3<Real>& I,
                                      const Vec3<Real>& m,
                                      const Vec3<Real>& moved,
                                      Real dt) {
  const Real s = Real(0.5) * dt;
  const Mat3<Real> full = full_matrix(I);
  const Vec3<Real> node = turned(solve(full, m) * s, m) + (I * moved - m);
  return solve(full, momentum_of_turn(I, turned(moved * -dt, node), moved, -s));
}

/// The same for the flight between two nodes, at which closures act too (closure_curvature.hpp): v
/// is that of a node, I w its angular momentum in axes of the node, `kick` [N m s] what else acts
/// on it there,
///
///   exp(dt/2 [w']) I w' = I w + dt tau + kick.
///
/// The bias is such that the kick, applied to w', makes it w'.
template <class Real>
inline void loose_body_bias_at_node(const TreeParameters<Real>& parameters,
                                    Real dt,
                                    const Vec3<Real>& kick,
                                    TreeData<Real>& data) {
  const Vec3<Real>& c = parameters.com[0];
  const Sym3<Real>& I = parameters.inertia[0];
  const Vec3<Real>& w = data.V[0].angular;
  const Vec3<Real> l = I * w;
  const Vec3<Real> torque = cross(w, l) + cross(c, data.F[0].linear) - data.F[0].angular;
  const Vec3<Real> next = momentum_of_turn(I, l + torque * dt + kick, w, Real(0.5) * dt) - kick;
  const Vec3<Real> f = data.F[0].linear - cross(w, cross(w, c)) * parameters.mass[0];
  const Vec3<Real> n = cross(c, f) + (l - next) * (Real(1.0) / dt);
  for (int k = 0; k < 3; ++k) {
    data.bias[k] = f[k];
    data.bias[3 + k] = n[k];
  }
}

}  // namespace STICTION_ISA
}  // namespace stiction
