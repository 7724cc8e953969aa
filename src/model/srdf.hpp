#pragma once

#include "stiction/model/robot.hpp"

#include <string>

namespace stiction {

/// Adds to the robot what its SRDF says: pairs of links that never collide and named configurations
/// (base at neutral unless the state names the root joint). Appends messages.
void apply_srdf(const std::string& path, Robot& robot);

}  // namespace stiction
