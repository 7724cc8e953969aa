#pragma once

#include "stiction/model/tree_view.hpp"

#include "math/assert.hpp"
#include "math/spatial_algebra.hpp"

namespace stiction {
inline namespace STICTION_ISA {

/// Parameters of one tree as lane-valued arrays: views into Parameters (double) or a packed copy.
template <class Real>
struct TreeParameters {
  const RigidTransform<Real>* placement;  ///< [num_bodies] joint frame in the parent body
  const Vec3<Real>* axis;                 ///< [num_bodies] unit joint axis, joint frame
  const Real* mass;                       ///< [num_bodies] [kg]
  const Vec3<Real>* com;                  ///< [num_bodies] body frame [m]
  const Sym3<Real>* inertia;              ///< [num_bodies] about the com, body axes [kg m^2]
  RigidTransform<Real> base;              ///< root frame in the world (fixed base); unused if free
  Vec3<Real> gravity;                     ///< world [m/s^2]
};

/// Quantities of one tree at (q, v), in axes of the root frame R about its origin. Cache: functions
/// of (q, v), valid until the next forward_kinematics. Pointers into the caller's workspace.
template <class Real>
struct TreeData {
  RigidTransform<Real> X_WR;   ///< root frame in the world
  RigidTransform<Real>* X_RB;  ///< [num_bodies] body frames
  Motion<Real>* S;             ///< [nv] joint axes
  Motion<Real>* V;             ///< [num_bodies] body velocities
  Motion<Real>* A;         ///< [num_bodies] accelerations at zero joint acceleration, minus gravity
  Inertia<Real>* inertia;  ///< [num_bodies] composite after mass_matrix
  Force<Real>* F;          ///< [num_bodies] body forces, accumulated by bias_forces
  Real* bias;              ///< [nv] Coriolis, centrifugal and gravity forces
  Real* L;                 ///< [packed_size] mass matrix, then its L factor (unit diagonal)
  Real* D_inverse;         ///< [nv] 1 / D of M = L^T D L
  Real kinetic_energy;     ///< [J]
  Real potential_energy;   ///< [J] against gravity, zero at the world origin
};

}  // namespace STICTION_ISA
}  // namespace stiction
