#pragma once

#include "stiction/model/robot.hpp"

#include "model/joint.hpp"

#include <string>
#include <vector>

namespace stiction {

/// Pose of each body in the base's frame at q.
std::vector<Transform> body_poses(const Robot& robot, const std::vector<double>& q);
/// Height to give to the base of a free-flyer so that its lowest geometry touches z = 0.
double standing_height(const Robot& robot, const std::vector<double>& q);
/// Index of a joint's first entry in q.
int q_index(const Robot& robot, const std::string& joint_name);
/// Sphere on a link, centre in the link's frame.
void add_sphere(Robot& robot,
                const std::string& name,
                const std::string& link,
                const Vec3d& centre,
                double radius,
                const Material& material);

}  // namespace stiction
