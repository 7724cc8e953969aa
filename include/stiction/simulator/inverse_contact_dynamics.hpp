#pragma once

#include "stiction/contact/contact_mode.hpp"
#include "stiction/derivatives/step_derivatives.hpp"

#include <Eigen/Core>

#include <vector>

namespace stiction {

/// What moves a scene from a state to a velocity at the end of a step
/// (Simulator::inverse_contact_dynamics).
struct InverseContactDynamics {
  Eigen::VectorXd torque;          ///< [nv, N m or N] beside the control; 0 where not actuated
  std::vector<double> impulse;     ///< [rows, N s] of the step's problem
  std::vector<double> velocity;    ///< [rows, m/s] at the asked velocity
  std::vector<ContactMode> modes;  ///< by set, from that velocity
  Eigen::VectorXd residual;  ///< [nv, N m or N] missing where nothing is actuated: 0 if forces of
                             ///< contact explain the motion
  double violation = 0.0;    ///< [m/s] fastest approach at a surface, which no force allows
};

/// How torques and residual of InverseContactDynamics move with what was asked for, the modes of
/// contacts held: what sticks may carry any force of its set, moved or not.
/// Of forces that are not unique those that are nearly the least move as the least.
struct InverseContactDerivatives {
  InverseContactDynamics at;
  RowMajorMatrix torque, residual;  ///< [nv x 3 nv] by q (tangents at `state`), v and v_next
  int num_inexact = 0;              ///< contacts whose point moves in a way that is not known
  int num_at_bounds = 0;  ///< sets whose impulse just reaches a bound of what it may be: one-sided
  /// Of how impulses act where nothing is actuated, among those that count, relative to their mean:
  /// below 1e-5 the impulses themselves are found to fewer digits.
  double smallest_eigenvalue = 1.0;
};

}  // namespace stiction
