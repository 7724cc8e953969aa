#pragma once

#include "dynamics/mass_matrix.hpp"

// How fast a motion u of a tree makes its bodies and joints, and what of it is within the caps of
// what corrects position errors: see contact/recovery.cpp.

namespace stiction {

/// recovery_speed [m/s], recovery_angular_speed [rad/s].
struct SpeedCaps {
  double linear, angular;
};

inline namespace STICTION_ISA {

/// Squares of the fastest that moves; of speeds between 1e-150 and 1e150.
template <class Real>
struct SquaredSpeeds {
  Real linear{0.0}, angular{0.0};

  void add(const SquaredSpeeds& other) {
    linear = max(linear, other.linear);
    angular = max(angular, other.angular);
  }
};

/// A tree at a configuration.
template <class Real>
struct PlacedTree {
  const TreeView& tree;
  const Vec3<Real>* com;  ///< [num_bodies] body frame
  const TreeData<Real>& data;
  Motion<Real>* V;  ///< [num_bodies] room for velocities
};

/// Calls visit(body, squared speeds) for the bodies of a tree that moves with u [nv]: of its
/// centre of mass and its rotation, or of its joint, whichever is faster.
template <class Real, class Visit>
inline void each_body_speed(const PlacedTree<Real>& placed, const Real* u, Visit&& visit) {
  const auto& [t, com, data, V] = placed;
  const Real zero(0.0);
  for (int b = 0; b < t.num_bodies; ++b) {
    const int first = t.v_index[b];
    const JointFacts& facts = joint_facts(t.joint[b]);
    Motion<Real> joint{{zero, zero, zero}, {zero, zero, zero}};
    for (int k = first; k < first + facts.nv; ++k) joint = joint + data.S[k] * u[k];
    V[b] = t.parent[b] < 0 ? joint : V[t.parent[b]] + joint;
    const Vec3<Real> centre = V[b].linear + cross(V[b].angular, data.X_RB[b] * com[b]);
    SquaredSpeeds<Real> speeds{squared_norm(centre), squared_norm(V[b].angular)};
    if (!facts.free) {
      for (int k = first; k < first + facts.linear_dofs; ++k)
        speeds.linear = max(speeds.linear, u[k] * u[k]);
      speeds.angular = max(speeds.angular, squared_norm(joint.angular));
    }
    visit(b, speeds);
  }
}

/// The fastest of them, and of `most`.
template <class Real>
inline void add_speeds(const PlacedTree<Real>& placed, const Real* u, SquaredSpeeds<Real>& most) {
  each_body_speed(placed, u, [&](int, const SquaredSpeeds<Real>& body) { most.add(body); });
}

/// The share of a motion that is within the caps.
template <class Real>
inline Real harmless_share(const SpeedCaps& caps, const SquaredSpeeds<Real>& most) {
  const Real linear = square_root(most.linear), angular = square_root(most.angular);
  const Real fastest(caps.linear), turning(caps.angular), one(1.0);
  const Real share = select(linear > fastest, fastest / linear, one);
  return select(angular > turning, min(share, turning / angular), share);
}

/// A step of one tree.
template <class Real>
struct PushedTree {
  const Real *v, *w, *pushed;  ///< [nv] at the start; L^-T dt (force - bias); by the impulses
  Real* after;                 ///< [nv] room for the end
  Real *linear, *angular;      ///< [num_bodies] room
};

/// Whether a body ends the step faster than a cap, and impulses have their part in it.
template <class Real>
inline Mask<Real> is_pushed_fast(const PlacedTree<Real>& placed,
                                 const SpeedCaps& caps,
                                 const PushedTree<Real>& step) {
  constexpr double kPushed = 0.25;  // of a cap: by the impulses alone
  const int nv = placed.tree.nv;
  for (int k = 0; k < nv; ++k) step.after[k] = step.w[k];
  solve_scaled_lower(placed.tree, placed.data, step.after);
  for (int k = 0; k < nv; ++k) step.after[k] += step.v[k] + step.pushed[k];
  each_body_speed(placed, step.after, [&](int b, const SquaredSpeeds<Real>& speeds) {
    step.linear[b] = speeds.linear;
    step.angular[b] = speeds.angular;
  });
  const Real linear(caps.linear * caps.linear), angular(caps.angular * caps.angular),
      share(kPushed * kPushed);
  Mask<Real> fast = share < Real(0.0);
  each_body_speed(placed, step.pushed, [&](int b, const SquaredSpeeds<Real>& speeds) {
    fast = fast | ((speeds.linear > share * linear) & (step.linear[b] > linear)) |
           ((speeds.angular > share * angular) & (step.angular[b] > angular));
  });
  return fast;
}

}  // namespace STICTION_ISA
}  // namespace stiction
