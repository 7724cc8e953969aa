#include "scenes/posture.hpp"

#include "math/elementary.hpp"
#include "model/joint.hpp"

#include <cmath>
#include <stdexcept>

namespace stiction {
namespace {

Mat3d rotation_about(const Vec3d& a, double c, double s) {
  // Rodrigues: R e = c e + s a x e + (1 - c) (a . e) a.
  const auto column = [&](const Vec3d& e) {
    return e * c + cross(a, e) * s + a * ((1.0 - c) * dot(a, e));
  };
  return {column({1, 0, 0}), column({0, 1, 0}), column({0, 0, 1})};
}

Transform joint_motion(const BodyDescription& body, const double* q) {
  const Vec3d origin{0, 0, 0};
  switch (body.joint) {
    case JointType::kFreeFlyer:
      return {rotation_from_quaternion(q + 3), {q[0], q[1], q[2]}};
    case JointType::kSpherical:
      return {rotation_from_quaternion(q), origin};
    case JointType::kRevolute:
      return {rotation_about(body.axis, cosine(q[0]), sine(q[0])), origin};
    case JointType::kContinuous:
      return {rotation_about(body.axis, q[0], q[1]), origin};
    case JointType::kPrismatic:
      break;
  }
  return {Mat3d::identity(), body.axis * q[0]};
}

}  // namespace

std::vector<Transform> body_poses(const Robot& robot, const std::vector<double>& q) {
  std::vector<Transform> poses;
  const double* entry = q.data();
  for (const BodyDescription& body : robot.bodies) {
    const Transform parent = body.parent < 0 ? Transform::identity() : poses[body.parent];
    poses.push_back(parent * body.placement * joint_motion(body, entry));
    entry += joint_nq(body.joint);
  }
  return poses;
}

double standing_height(const Robot& robot, const std::vector<double>& q) {
  const std::vector<Transform> poses = body_poses(robot, q);
  double lowest = kInfinity;
  for (const GeometryDescription& g : robot.geometries) {
    if (g.body < 0) continue;
    const Transform X = poses[g.body] * g.placement;
    const Vec3d down = transpose_times(X.R, Vec3d{0, 0, -1});
    lowest = std::min(lowest, (X * support(g.shape, down)).z);
  }
  if (std::isinf(lowest))
    throw std::invalid_argument("robot \"" + robot.name + "\" has no geometry");
  return q[2] - lowest;
}

int q_index(const Robot& robot, const std::string& joint_name) {
  int index = 0;
  for (const BodyDescription& body : robot.bodies) {
    if (body.joint_name == joint_name) return index;
    index += joint_nq(body.joint);
  }
  throw std::invalid_argument("robot \"" + robot.name + "\" has no joint \"" + joint_name + "\"");
}

void add_sphere(Robot& robot,
                const std::string& name,
                const std::string& link,
                const Vec3d& centre,
                double radius,
                const Material& material) {
  const FrameDescription& frame = robot.frames[robot.frame(link)];
  GeometryDescription g;
  g.name = name;
  g.link = link;
  g.body = frame.body;
  g.shape = Shape::sphere(radius);
  g.placement = frame.placement * Transform{Mat3d::identity(), centre};
  g.material = material;
  robot.geometries.push_back(g);
}

}  // namespace stiction
