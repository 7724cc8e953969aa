#pragma once

#include "stiction/math/constants.hpp"

#include "dynamics/bias.hpp"
#include "dynamics/kinematics.hpp"
#include "dynamics/mass_matrix.hpp"

// The bias of an articulated tree at the mean velocity of the step,
//   M^ (v+ - v) = dt (force - b(q, (v + v+) / 2)),
// for trees that no row acts on. At v alone the rule is an explicit Euler step, which feeds
// Coriolis forces energy without bound; at the mean it has order two.

namespace stiction {
inline namespace STICTION_ISA {

/// The equation is solved by substitution. Each pass shrinks the error of v+ by about the angle
/// that the tree turns by in half a step, so that `kEnough` [of the velocities, in the norm of M^]
/// is what is left behind.
inline constexpr int kMostBiasPasses = 16;
inline constexpr double kEnough = 1e-13;

/// What substitution reads and writes, by dof.
template <class Real>
struct MeanBias {
  const Real* v;      ///< at the start
  const Real* force;  ///< explicit, without the bias
  Real* w;            ///< in, out: L^-T dt (force - bias)
  Real* change;       ///< in, out: v+ - v = L^-1 D^-1 w
  Real* mean;         ///< scratch
};

/// Takes w and change of the lanes in `at` to the bias at the mean velocity. add_wrenches(data)
/// adds the forces from outside. Leaves V, A and the bias of data those of the last mean velocity.
/// Returns the lanes in which passes did not converge.
template <class Real, class AddWrenches>
inline Mask<Real> centre_bias(const TreeView& tree,
                              const TreeParameters<Real>& parameters,
                              Real dt,
                              int passes,
                              Mask<Real> at,
                              AddWrenches&& add_wrenches,
                              const MeanBias<Real>& x,
                              TreeData<Real>& data) {
  constexpr double kRounding = 1e-14;  // of w
  Mask<Real> left = at;
  Real last(kInfinity);
  for (int pass = 0; pass < passes && any(at); ++pass) {
    for (int k = 0; k < tree.nv; ++k) x.mean[k] = x.v[k] + Real(0.5) * x.change[k];
    forward_velocities(tree, parameters, x.mean, data);
    const Real energy = body_forces(tree, parameters, data);
    const Real turn = fastest_turn(tree, data, dt);
    add_wrenches(data);
    bias_forces(tree, data);
    for (int k = 0; k < tree.nv; ++k) x.mean[k] = dt * (x.force[k] - data.bias[k]);
    solve_transposed(tree, data, x.mean);
    Real moved(0.0), size(0.0);
    for (int k = 0; k < tree.nv; ++k) {
      const Real d = x.mean[k] - x.w[k];
      moved += d * d * data.D_inverse[k];
      size += x.mean[k] * x.mean[k] * data.D_inverse[k];
    }
    at = at & (moved < last);
    last = select(at, moved, last);
    for (int k = 0; k < tree.nv; ++k) {
      x.w[k] = select(at, x.mean[k], x.w[k]);
      x.mean[k] = x.w[k];
    }
    solve_scaled_lower(tree, data, x.mean);
    for (int k = 0; k < tree.nv; ++k) x.change[k] = select(at, x.mean[k], x.change[k]);
    const Mask<Real> done = (turn * turn * moved <= Real(kEnough * kEnough) * energy) |
                            (moved <= Real(kRounding * kRounding) * size);
    left = left & negated(at & done);
    at = at & negated(done);
  }
  return left;
}

}  // namespace STICTION_ISA
}  // namespace stiction
