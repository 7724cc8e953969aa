#pragma once

#include "stiction/model/robot.hpp"

#include <array>
#include <stdexcept>
#include <string>
#include <vector>

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
/// The same inertia without a negative moment of the size of rounding (the tolerance of
/// inertia_defect), which parallel-axis sums of fixed links leave: all three are raised by it. One
/// that is really not positive is unchanged.
Sym3d without_rounding(double mass, const Sym3d& inertia);
std::string describe(InertiaDefect defect, const Sym3d& inertia);

/// What a joint moves, in a list with parents first.
struct MovedBody {
  int parent = -1;
  JointType joint = JointType::kRevolute;
  Vec3d axis;             ///< unit, joint frame
  Transform placement;    ///< of the joint frame in the parent
  double mass = 0.0;      ///< [kg]
  Vec3d com;              ///< body frame [m]
  Sym3d inertia;          ///< about the com [kg m^2]
  double armature = 0.0;  ///< of the first dof
};

/// The first body whose joint moves no inertia at neutral, the joints beyond it being free, so that
/// the mass matrix is singular; -1: none.
int first_without_inertia(const std::vector<MovedBody>& bodies);

/// Something is wrong with a body of a robot.
struct BodyError : std::runtime_error {
  BodyError(const std::string& text, const std::string& of) : std::runtime_error(text), body(of) {}
  std::string body;
};

/// Throws BodyError naming the first joint of the robot that moves no inertia at neutral
/// (the mass matrix would be singular), or the first body whose inertia (after welding its links)
/// is not positive. `source` heads the message.
void check_robot_inertia(const Robot& robot, const std::string& source);

}  // namespace stiction
