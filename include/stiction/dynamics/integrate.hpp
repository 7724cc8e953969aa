#pragma once

#include "stiction/dynamics/tree_data.hpp"

namespace stiction {
inline namespace STICTION_ISA {

/// A free-flyer over dt, from the velocity at which the step ends, in axes of its start: the point
/// c of the body moves on a straight line, p_c += dt R (v + w x c), and R <- R exp(dt w). v is then
/// turned into the new axes so that the world velocity of c is kept. c is the centre of mass of a
/// loose body, whose linear momentum is thus exact and whose motion does not depend on where its
/// frame lies; of an articulated tree it is the origin of the first body (see forward_kinematics).
template <class Real>
inline void integrate_free_flyer(const Vec3<Real>& c, Real dt, Real* q, Real* v) {
  const Mat3<Real> R = rotation_from_quaternion(q + 3);
  const Vec3<Real> w{v[3], v[4], v[5]}, about_c = cross(w, c);
  const Vec3<Real> u = R * (Vec3<Real>{v[0], v[1], v[2]} + about_c);
  integrate_quaternion(q + 3, w * dt);
  const Mat3<Real> R_new = rotation_from_quaternion(q + 3);
  const Vec3<Real> moved = u * dt + (R * c - R_new * c);
  const Vec3<Real> v_new = transpose_times(R_new, u) - about_c;
  for (int k = 0; k < 3; ++k) {
    q[k] += moved[k];
    v[k] = v_new[k];
  }
}

/// q <- q advanced by v over dt, in place; v is re-expressed where its frame turned.
template <class Real>
inline void integrate_configuration(
    const TreeView& tree, const TreeParameters<Real>& parameters, Real dt, Real* q, Real* v) {
  for (int b = 0; b < tree.num_bodies; ++b) {
    Real* qb = q + tree.q_index[b];
    Real* vb = v + tree.v_index[b];
    switch (tree.joint[b]) {
      case JointType::kFreeFlyer: {
        const Real o(0.0);
        integrate_free_flyer(
            is_loose_body(tree) ? parameters.com[0] : Vec3<Real>{o, o, o}, dt, qb, vb);
        break;
      }
      case JointType::kSpherical:
        integrate_quaternion(qb, Vec3<Real>{dt * vb[0], dt * vb[1], dt * vb[2]});
        break;
      case JointType::kContinuous: {
        Real s, c;
        sincos(dt * vb[0], s, c);
        const Real x = qb[0] * c - qb[1] * s, y = qb[0] * s + qb[1] * c;
        const Real scale = Real(1.5) - Real(0.5) * (x * x + y * y);
        qb[0] = x * scale;
        qb[1] = y * scale;
        break;
      }
      case JointType::kRevolute:
      case JointType::kPrismatic:
        qb[0] += dt * vb[0];
        break;
    }
  }
}

}  // namespace STICTION_ISA
}  // namespace stiction
