#pragma once

#include "stiction/model/robot.hpp"

namespace stiction {

/// Lowest z of the robot's shapes in its neutral configuration, base at the origin [m]; 0 without
/// shapes on bodies. Of surfaces that of their box.
double lowest_point(const Robot& robot);

/// Where to place a robot so that it stands on z = 0: scene.add_robot(robot, on_ground(robot)).
Transform on_ground(const Robot& robot);

}  // namespace stiction
