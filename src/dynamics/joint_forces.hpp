#pragma once

#include "stiction/model/state.hpp"

#include "dynamics/forest.hpp"

namespace stiction {

/// Torques, servos, springs and dampers of a tree's dofs: work.force, work.saturated (unless known)
/// and work.implicit_diagonal, as below.
void tree_forces(const Tree& tree,
                 const Parameters& parameters,
                 const double* q,
                 const double* v,
                 const Control& control,
                 double s,
                 Saturation saturation,
                 DynamicsWorkspace& work);

/// A servo's torque is that of the end of the step, tau + kp (q* - q - dt v+) + kd (v* - v+),
/// beyond its effort limit by kEffortExcess at most, and M^ holds either the law or the limit:
/// compute_dynamics() chooses by the start of the step. Takes those that v+ = v + dv shows on the
/// wrong side to the right one; whether there is one and the step must be solved again.
bool saturate_at_end(const Scene& scene,
                     const Parameters& parameters,
                     const State& state,
                     const double* dv,
                     const Control& control,
                     double dt,
                     DynamicsWorkspace& work);

/// Torques, servos, springs and dampers of all dofs at (q, v) in work.force, work.saturated, and
/// work.implicit_diagonal = armature + s (d + kd) + s^2 (kp + k), the gains only where not
/// saturated.
void joint_forces(const Scene& scene,
                  const Parameters& parameters,
                  const double* q,
                  const double* v,
                  const Control& control,
                  double s,
                  DynamicsWorkspace& work);

/// How far a dof of a one-dof joint is from its spring's rest, the shortest way round [rad or m];
/// `q`: of the joint.
double spring_error(const Parameters& parameters, JointType joint, int dof, const double* q);
/// Of the springs of all joints at q [J].
double spring_energy(const Scene& scene, const Parameters& parameters, const double* q);
/// Of rotors (armature), which the bodies' kinetic energy leaves out [J].
double rotor_energy(const Parameters& parameters, const double* v);

}  // namespace stiction
