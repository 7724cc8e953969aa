#pragma once

#include "stiction/model/robot.hpp"

#include <map>
#include <string>

namespace stiction {

/// Kinematics and inertias of a URDF text that has been audited, through pinocchio::urdf. Throws
/// std::runtime_error with what urdfdom said; prints nothing. `normals`: of the planes of planar
/// joints by name, any length but 0, where Pinocchio takes z.
Robot kinematics_from_urdf(const std::string& xml,
                           bool free_flyer,
                           const std::map<std::string, Vec3d>& normals,
                           const Material& material);

}  // namespace stiction
