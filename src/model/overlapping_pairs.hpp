#pragma once

#include "stiction/model/robot.hpp"

namespace stiction {

/// Disables the pairs of the robot's shapes that overlap in its neutral configuration or in one of
/// its named ones, or in the neutral one whichever way a single joint moves by 0.02 rad or 1 mm
/// (plates face to face across its axis), and lists them by links in one message of kind kOverlap,
/// deepest first. No servo could hold such a pair: the shapes (most often hulls of meshes at a
/// joint) are fatter than the parts, and a contact there would push the links apart from the first
/// step on.
void disable_overlapping_pairs(Robot& robot, const std::string& file);

}  // namespace stiction
