#pragma once

#include "model/pinocchio_robot.hpp"

#include <vector>

namespace stiction {

/// A model whose joints are all of kinds that stiction has.
struct SingleJoints {
  pinocchio::Model model;
  std::vector<pinocchio::JointIndex> joint;  ///< by joint of the given model
};

/// Whether a model has joints that are chains of others: composite, translation, planar, universal,
/// and spherical by Euler angles.
bool has_compound_joints(const pinocchio::Model& model);

/// Such joints as chains of joints, between which stand links without mass. q and v have the same
/// numbers in the same order, but that of a planar joint v is along the axes of its placement,
/// where Pinocchio's turns with the body. The last joint of a chain keeps the name.
SingleJoints with_single_joints(const pinocchio::Model& model);

}  // namespace stiction
