#pragma once

#include "stiction/model/robot.hpp"

#include <string>

namespace stiction {

/// Kinematics and inertias of a URDF text that has been audited, through pinocchio::urdf. Throws
/// std::runtime_error with what urdfdom said; prints nothing.
Robot kinematics_from_urdf(const std::string& xml, bool free_flyer, const Material& material);

}  // namespace stiction
