#pragma once

#include "stiction/math/spatial.hpp"

#include <Eigen/Core>

#include <vector>

namespace stiction {

/// A force and moment on a body, applied at the origin of the body frame, in world axes.
struct ExternalWrench {
  int body = 0;
  Vec3d force{0, 0, 0};   ///< [N]
  Vec3d moment{0, 0, 0};  ///< [N m]
};

/// What a controller may say at each step. Empty vectors mean zero.
struct Control {
  Eigen::VectorXd torque;  ///< [nv] generalised force, added to the servo's [N m or N]; free-flyer:
                           ///< force and moment about its origin, body axes
  Eigen::VectorXd position_target;  ///< [nv] servo target of one-dof joints [rad or m]
  Eigen::VectorXd velocity_target;  ///< [nv] servo target of one-dof joints [rad/s or m/s]
  std::vector<ExternalWrench> wrenches;
};

}  // namespace stiction
