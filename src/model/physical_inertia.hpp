#pragma once

#include "stiction/model/robot.hpp"

#include <array>
#include <string>

namespace stiction {

enum class InertiaDefect {
  kNone,
  kNotPositive,  ///< a principal moment is negative
  kTriangle,     ///< one principal moment exceeds the sum of the others: no solid has it
};

/// Principal moments, ascending.
std::array<double, 3> principal_moments(const Sym3d& inertia);

/// Inertia about the centre of mass. Moments below 1e-6 of the largest, or of a gyration radius
/// below 1 um, count as zero: files hold rounded numbers.
InertiaDefect inertia_defect(double mass, const Sym3d& inertia);
std::string describe(InertiaDefect defect, const Sym3d& inertia);

/// Throws std::runtime_error naming the first joint of the robot that moves no inertia at neutral
/// (the mass matrix would be singular), or the first body whose inertia (after welding its links)
/// is not positive. `source` heads the message.
void check_robot_inertia(const Robot& robot, const std::string& source);

}  // namespace stiction
