#include "model/adjacent_pairs.hpp"
#include "model/collision_shapes.hpp"
#include "model/joint.hpp"
#include "model/overlapping_pairs.hpp"
#include "model/physical_inertia.hpp"
#include "model/pinocchio_urdf.hpp"
#include "model/srdf.hpp"
#include "model/urdf_document.hpp"

#include <algorithm>
#include <map>
#include <stdexcept>

// A URDF in four steps: read and audit the text with line numbers (urdf_document, urdf_audit),
// build kinematics and inertias with Pinocchio (pinocchio_urdf), add collision shapes, mimic rows
// and the SRDF, report what was not used.

namespace stiction {
namespace {

// Links whose inertia no solid has, with their mean principal moment (a third of the trace).
std::map<std::string, double> links_to_balance(const UrdfDocument& document) {
  std::map<std::string, double> result;
  for (const UrdfLink& link : document.links) {
    const Sym3d& I = link.inertia;
    if (inertia_defect(link.mass, I) != InertiaDefect::kTriangle) continue;
    result[link.name] = (I.xx + I.yy + I.zz) / 3.0;
  }
  return result;
}

std::map<std::string, Vec3d> normals_of_planes(const UrdfDocument& document) {
  std::map<std::string, Vec3d> result;
  for (const UrdfJoint& joint : document.joints) {
    if (joint.type == "planar") result[joint.name] = joint.axis;
  }
  return result;
}

void set_moments(XmlElement& inertia, double moment) {
  for (const char* name : {"ixx", "iyy", "izz"}) {
    inertia.SetAttribute(name, format_number(moment).c_str());
  }
  for (const char* name : {"ixy", "ixz", "iyz"}) inertia.SetAttribute(name, "0");
}

// Only what carries kinematics and inertia: urdfdom refuses whole files over a bad visual or
// sensor.
std::string kinematic_text(const XmlFile& file, const std::map<std::string, double>& balanced) {
  tinyxml2::XMLDocument copy;
  tinyxml2::XMLNode* robot = copy.InsertEndChild(file.root().ShallowClone(&copy));
  for (const XmlElement* e = file.root().FirstChildElement(); e; e = e->NextSiblingElement()) {
    const std::string tag = e->Name();
    if (tag == "joint") {
      tinyxml2::XMLNode* joint = robot->InsertEndChild(e->DeepClone(&copy));
      XmlElement* dynamics = joint->FirstChildElement("dynamics");
      const bool empty =
          dynamics && !dynamics->Attribute("damping") && !dynamics->Attribute("friction");
      if (empty) joint->DeleteChild(dynamics);  // legal, but urdfdom refuses it
    }
    if (tag != "link") continue;
    tinyxml2::XMLNode* link = robot->InsertEndChild(e->ShallowClone(&copy));
    const XmlElement* inertial = e->FirstChildElement("inertial");
    if (!inertial) continue;
    tinyxml2::XMLNode* kept = link->InsertEndChild(inertial->DeepClone(&copy));
    const auto mean = balanced.find(e->Attribute("name"));
    if (mean != balanced.end()) set_moments(*kept->FirstChildElement("inertia"), mean->second);
  }
  tinyxml2::XMLPrinter printer;
  copy.Print(&printer);
  return printer.CStr();
}

void append_geometries(const UrdfDocument& document,
                       XmlFile& file,
                       const LoadOptions& options,
                       Robot& robot) {
  ShapeBuilder builder(file, options);
  std::map<std::string, const FrameDescription*> frames;
  for (const FrameDescription& f : robot.frames) frames.try_emplace(f.name, &f);
  for (const UrdfLink& link : document.links) {
    if (link.collisions.empty()) continue;
    const FrameDescription& frame = *frames.at(link.name);
    int count = 0;
    for (const UrdfCollision& collision : link.collisions) {
      GeometryDescription g;
      const std::string name = link.name + "_" + std::to_string(count++);  // Pinocchio's names
      g.link = link.name;
      g.body = frame.body;
      g.placement = frame.placement * collision.placement;
      g.material = options.material;
      const std::vector<Shape> shapes = builder.build(collision.shape, link.name);
      for (std::size_t part = 0; part < shapes.size(); ++part) {
        g.name = shapes.size() == 1 ? name : name + "." + std::to_string(part);
        g.shape = shapes[part];
        robot.geometries.push_back(g);
      }
    }
  }
}

void append_gears(const UrdfDocument& document, Robot& robot) {
  std::map<std::string, int> dof;
  int v = 0;
  for (const BodyDescription& b : robot.bodies) {
    dof[b.joint_name] = v;
    v += joint_nv(b.joint);
  }
  for (const UrdfJoint& joint : document.joints) {
    if (!joint.mimic) continue;
    robot.gears.push_back({dof.at(joint.name),
                           dof.at(joint.mimic->joint),
                           joint.mimic->multiplier,
                           joint.mimic->offset});
  }
}

// "0 means unknown" of read_limit; continuous joints may have no <limit> at all.
void apply_limits(const UrdfDocument& document, Robot& robot) {
  std::map<std::string, const UrdfJoint*> joints;
  for (const UrdfJoint& joint : document.joints) joints[joint.name] = &joint;
  int v = 0;
  for (const BodyDescription& b : robot.bodies) {
    const auto found = joints.find(b.joint_name);
    for (int k = 0; k < joint_nv(b.joint); ++k, ++v) {
      if (found == joints.end()) continue;
      robot.dofs[v].effort_limit = found->second->effort;
      robot.dofs[v].velocity_limit = found->second->velocity;
    }
  }
}

void refuse_unused(const std::vector<LoadMessage>& messages) {
  for (const LoadMessage& m : messages) {
    if (m.kind != LoadMessage::Kind::kUnused) continue;
    throw std::runtime_error(m.file + ":" + std::to_string(m.line) + ": " + m.text +
                             " (strict loading)");
  }
}

void disable_all_pairs(Robot& robot) {
  const int n = static_cast<int>(robot.geometries.size());
  for (int a = 0; a < n; ++a) {
    for (int b = a + 1; b < n; ++b) robot.disabled_pairs.push_back({a, b});
  }
}

void make_unique(std::vector<std::pair<int, int>>& pairs) {
  for (auto& [a, b] : pairs) {
    if (a > b) std::swap(a, b);
  }
  std::sort(pairs.begin(), pairs.end());
  pairs.erase(std::unique(pairs.begin(), pairs.end()), pairs.end());
}

/// Line of a link's <inertial>, else of the link.
int line_of(const UrdfDocument& document, const std::string& link_name) {
  for (const UrdfLink& link : document.links) {
    if (link.name == link_name) return link.inertial_line.value_or(link.line);
  }
  return 1;
}

}  // namespace

Robot load_urdf_string(const std::string& xml,
                       const std::string& name,
                       const LoadOptions& options) {
  XmlFile file(xml, name);
  UrdfDocument document = parse_urdf(file);
  audit_urdf(document, file, options);

  Robot robot;
  try {
    std::map<std::string, double> balanced;
    if (options.balance_inertia) balanced = links_to_balance(document);
    robot = kinematics_from_urdf(kinematic_text(file, balanced),
                                 options.free_flyer,
                                 normals_of_planes(document),
                                 options.material);
  } catch (const BodyError& e) {
    file.fail(line_of(document, e.body), e.what());
  } catch (const std::exception& e) {
    throw std::runtime_error(one_line(name + ": " + e.what()));
  }
  robot.name = document.robot_name;
  apply_limits(document, robot);
  append_gears(document, robot);
  if (options.collision_geometry) append_geometries(document, file, options, robot);

  disable_adjacent_pairs(robot);
  for (LoadMessage& m : file.take_messages()) robot.messages.push_back(std::move(m));
  if (!options.srdf.empty()) apply_srdf(options.srdf, robot);
  if (!options.self_collision) {
    disable_all_pairs(robot);
  } else if (!options.keep_overlapping_pairs) {
    disable_overlapping_pairs(robot, name);
  }
  make_unique(robot.disabled_pairs);
  if (options.strict) refuse_unused(robot.messages);
  return robot;
}

Robot load_urdf(const std::string& path, const LoadOptions& options) {
  Robot robot = load_urdf_string(read_text_file(path), path, options);
  robot.path = path;
  return robot;
}

}  // namespace stiction
