#pragma once

#include "stiction/model/robot.hpp"

#include "model/xml_file.hpp"

#include <optional>
#include <string>
#include <vector>

namespace stiction {

// A URDF as it is written, every number checked, with lines. Kinematics and inertias go to
// Pinocchio from the same text; collision shapes, mimic rows and messages come from here.

struct UrdfShape {
  enum class Kind { kSphere, kBox, kCylinder, kCapsule, kMesh } kind = Kind::kSphere;
  Vec3d size{0, 0, 0};  ///< (radius), (full sides) or (radius, length) [m]; mesh: scale
  std::string mesh;     ///< as written
  int line = 0;
};

struct UrdfCollision {
  Transform placement = Transform::identity();  ///< in the link
  UrdfShape shape;
};

struct UrdfLink {
  std::string name;
  int line = 0;
  std::optional<int> inertial_line;
  double mass = 0.0;
  Sym3d inertia{0, 0, 0, 0, 0, 0};
  std::vector<UrdfCollision> collisions;
};

struct UrdfMimic {
  std::string joint;
  double multiplier = 1.0, offset = 0.0;
  int line = 0;
};

struct UrdfJoint {
  std::string name, type, parent, child;
  int line = 0;
  Vec3d axis{1, 0, 0};
  std::optional<UrdfMimic> mimic;
  std::optional<int> limit_line;
  double effort = kInfinity, velocity = kInfinity;
};

struct UrdfDocument {
  std::string robot_name;
  std::vector<UrdfLink> links;
  std::vector<UrdfJoint> joints;
  const UrdfLink* root = nullptr;
};

/// Reads and checks the elements one by one.
UrdfDocument parse_urdf(XmlFile& file);
/// Checks what involves several elements or physics: names, tree, inertias. Sets `root`.
void audit_urdf(UrdfDocument& document, XmlFile& file, const LoadOptions& options);

Transform transform_from_xyz_rpy(const Vec3d& xyz, const Vec3d& rpy);

}  // namespace stiction
