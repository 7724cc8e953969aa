#pragma once

#include "dynamics/free_root.hpp"
#include "model/joint.hpp"

namespace stiction {
inline namespace STICTION_ISA {

/// Slower speeds [m/s, rad/s] move nothing in the life of the universe, and their products would
/// underflow: what decays exponentially ends here.
inline constexpr double kLeastSpeed = 1e-30;
template <class Real>
inline Real settled(Real v) {
  return select(abs(v) < Real(kLeastSpeed), Real(0.0), v);
}

/// q <- q (+) dt v, in place, for the bodies from `first` on.
template <class Real>
inline void integrate_joints(const TreeView& tree, int first, Real dt, Real* q, const Real* v) {
  for (int b = first; b < tree.num_bodies; ++b) {
    visit_joint(tree.joint[b],
                [&](auto joint) { joint.integrate(q + tree.q_index[b], v + tree.v_index[b], dt); });
  }
}

/// q advanced by the velocity v at which the step ends, in axes of its start; v is then turned into
/// the axes of its end. A free root moves its point c on a straight line, root_point() in a step.
template <class Real>
inline void integrate_configuration(
    const TreeView& tree, const Vec3<Real>& c, Real dt, Real* q, Real* v) {
  const Mat3<Real> before = root_rotation(tree, q);
  if (tree.free_root) FreeFlyerJoint::integrate_about(c, q, v, dt);
  turn_root_velocity(tree, before, root_rotation(tree, q), c, v);
  integrate_joints(tree, root_bodies(tree), dt, q, v);
}

}  // namespace STICTION_ISA
}  // namespace stiction
