#pragma once

#include "stiction/model/robot.hpp"

#include <pinocchio/geometry.hpp>
#include <pinocchio/multibody.hpp>

// The only bridge between Pinocchio's types and ours.

namespace pinocchio_handle {
struct Model {
  pinocchio::Model model;
};
}  // namespace pinocchio_handle

namespace stiction {

/// Same q and v layout. With a geometry model: its objects become geometries (meshes
/// as convex hulls), and if it lists collision pairs only these stay enabled; those that overlap in
/// the neutral configuration are disabled unless they are to be kept. Throws
/// std::invalid_argument naming the joint or the geometry that cannot be represented.
Robot robot_from_pinocchio(const pinocchio::Model& model,
                           const pinocchio::GeometryModel* geometry,
                           const Material& material,
                           bool keep_overlapping_pairs = false);

/// The robot's own model; if it has none, one of its description: the same q and v layout, joints,
/// inertias, limits, links and frames. It has no inertias of links apart and no types of frames but
/// link, joint and other; frames are numbered otherwise.
pinocchio::Model pinocchio_model_of(const Robot& robot);

}  // namespace stiction
