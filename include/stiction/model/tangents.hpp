#pragma once

#include "stiction/model/scene.hpp"

#include <Eigen/Core>

namespace stiction {

/// q (+) x, x [nv] a tangent as of velocities, as a step moves q by dt v: of free-flyers straight
/// along and turned about the axes of the body.
Eigen::VectorXd integrate(const Scene& scene, const Eigen::VectorXd& q, const Eigen::VectorXd& x);
/// x with q1 = q0 (+) x, the shortest way.
Eigen::VectorXd difference(const Scene& scene,
                           const Eigen::VectorXd& q0,
                           const Eigen::VectorXd& q1);

}  // namespace stiction
