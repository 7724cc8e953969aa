#pragma once

#include "stiction/dynamics/tree_data.hpp"

namespace stiction {
inline namespace STICTION_ISA {

/// q <- q advanced by v over dt, in place; v is re-expressed where its frame turned.
///
/// Free-flyer: the step's velocity is that of the origin in axes frozen at the start (see
/// forward_kinematics), so p += dt R v, R <- R exp(dt w), and the linear part of v is turned into
/// the new body axes: R_new v_new = R_old v. Linear momentum of a free body is thus exact.
template <class Real>
inline void integrate_configuration(const TreeView& tree, Real dt, Real* q, Real* v) {
  for (int b = 0; b < tree.num_bodies; ++b) {
    Real* qb = q + tree.q_index[b];
    Real* vb = v + tree.v_index[b];
    switch (tree.joint[b]) {
      case JointType::kFreeFlyer: {
        const Vec3<Real> u = rotation_from_quaternion(qb + 3) * Vec3<Real>{vb[0], vb[1], vb[2]};
        for (int k = 0; k < 3; ++k) qb[k] += dt * u[k];
        integrate_quaternion(qb + 3, Vec3<Real>{dt * vb[3], dt * vb[4], dt * vb[5]});
        const Vec3<Real> turned = transpose_times(rotation_from_quaternion(qb + 3), u);
        for (int k = 0; k < 3; ++k) vb[k] = turned[k];
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
