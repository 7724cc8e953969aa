#pragma once

#include "stiction/contact/contact_mode.hpp"

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

}  // namespace stiction
