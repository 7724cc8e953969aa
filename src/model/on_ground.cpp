#include "stiction/model/on_ground.hpp"

#include "stiction/collision/scene_distances.hpp"

#include <algorithm>
#include <cmath>

namespace stiction {

double lowest_point(const Robot& robot) {
  Scene scene;
  scene.add_robot(robot);
  const Eigen::Map<const Eigen::VectorXd> q(scene.default_q().data(), scene.nq());
  const std::vector<Transform> poses = geometry_poses(scene, scene.parameters, q);
  double lowest = kInfinity;
  for (std::size_t g = 0; g < poses.size(); ++g) {
    const Geometry& geometry = scene.geometries()[g];
    if (geometry.body < 0) continue;
    lowest = std::min(lowest, bounding_box(geometry.shape, poses[g]).lower.z);
  }
  return std::isfinite(lowest) ? lowest : 0.0;
}

Transform on_ground(const Robot& robot) {
  return {Mat3d::identity(), {0.0, 0.0, -lowest_point(robot)}};
}

}  // namespace stiction
