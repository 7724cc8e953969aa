#include "model/urdf_document.hpp"

#include "math/elementary.hpp"

#include <cmath>

namespace stiction {
namespace {

Transform read_origin(XmlFile& file, const XmlElement& parent) {
  const XmlElement* origin = file.only_child(parent, "origin");
  if (!origin) return Transform::identity();
  file.expect(*origin, {"xyz", "rpy"}, {});
  return transform_from_xyz_rpy(file.vector3(*origin, "xyz", {0, 0, 0}),
                                file.vector3(*origin, "rpy", {0, 0, 0}));
}

double positive(XmlFile& file, const XmlElement& e, const char* attribute) {
  const double value = file.number(e, attribute);
  if (value > 0.0) return value;
  file.fail(e,
            std::string("<") + e.Name() + "> " + attribute + "='" + e.Attribute(attribute) +
                "' must be positive");
}

double not_negative(XmlFile& file, const XmlElement& e, const char* attribute, double otherwise) {
  const double value = file.number(e, attribute, otherwise);
  if (value >= 0.0) return value;
  file.fail(e,
            std::string("<") + e.Name() + "> " + attribute + "='" + e.Attribute(attribute) +
                "' must not be negative");
}

void read_inertial(XmlFile& file, const XmlElement& e, UrdfLink& link) {
  file.expect(e, {}, {"origin", "mass", "inertia"});
  link.inertial_line = e.GetLineNum();
  read_origin(file, e);
  const XmlElement* mass = file.only_child(e, "mass");
  const XmlElement* inertia = file.only_child(e, "inertia");
  if (!mass) file.fail(e, "link '" + link.name + "': <inertial> has no <mass>");
  if (!inertia) file.fail(e, "link '" + link.name + "': <inertial> has no <inertia>");
  file.expect(*mass, {"value"}, {});
  file.expect(*inertia, {"ixx", "ixy", "ixz", "iyy", "iyz", "izz"}, {});
  link.mass = file.number(*mass, "value");
  if (link.mass < 0.0) {
    file.fail(*mass, "link '" + link.name + "': mass " + mass->Attribute("value") + " is negative");
  }
  link.inertia = {file.number(*inertia, "ixx"),
                  file.number(*inertia, "ixy"),
                  file.number(*inertia, "iyy"),
                  file.number(*inertia, "ixz"),
                  file.number(*inertia, "iyz"),
                  file.number(*inertia, "izz")};
}

UrdfShape read_shape(XmlFile& file, const XmlElement& e, const std::string& link) {
  const XmlElement* shape = e.FirstChildElement();
  if (!shape) file.fail(e, "link '" + link + "': <geometry> is empty");
  const std::string tag = shape->Name();
  UrdfShape result;
  result.line = shape->GetLineNum();
  if (tag == "sphere") {
    file.expect(*shape, {"radius"}, {});
    result.kind = UrdfShape::Kind::kSphere;
    result.size.x = positive(file, *shape, "radius");
  } else if (tag == "box") {
    file.expect(*shape, {"size"}, {});
    result.kind = UrdfShape::Kind::kBox;
    file.required(*shape, "size");
    result.size = file.vector3(*shape, "size", {0, 0, 0});
    if (!(result.size.x > 0.0 && result.size.y > 0.0 && result.size.z > 0.0)) {
      file.fail(*shape,
                std::string("<box> size='") + shape->Attribute("size") + "' must be positive");
    }
  } else if (tag == "cylinder" || tag == "capsule") {
    file.expect(*shape, {"radius", "length"}, {});
    result.kind = tag == "capsule" ? UrdfShape::Kind::kCapsule : UrdfShape::Kind::kCylinder;
    result.size = {positive(file, *shape, "radius"), positive(file, *shape, "length"), 0.0};
  } else if (tag == "mesh") {
    file.expect(*shape, {"filename", "scale"}, {});
    result.kind = UrdfShape::Kind::kMesh;
    result.mesh = file.required(*shape, "filename");
    result.size = file.vector3(*shape, "scale", {1, 1, 1});
    if (result.size.x * result.size.y * result.size.z == 0.0) {
      file.fail(*shape,
                std::string("<mesh> scale='") + shape->Attribute("scale") + "' must not be zero");
    }
  } else {
    file.fail(*shape,
              "link '" + link + "': geometry <" + tag +
                  "> is not one of sphere, box, cylinder, capsule, mesh");
  }
  if (const XmlElement* second = shape->NextSiblingElement()) {
    file.fail(*second,
              "link '" + link + "': <geometry> holds a second shape <" + second->Name() + ">");
  }
  return result;
}

UrdfLink read_link(XmlFile& file, const XmlElement& e) {
  UrdfLink link;
  link.line = e.GetLineNum();
  link.name = file.required(e, "name");
  file.expect(e, {"name"}, {"inertial", "visual", "collision"});
  if (const XmlElement* inertial = file.only_child(e, "inertial")) {
    read_inertial(file, *inertial, link);
  }
  for (const XmlElement* c = e.FirstChildElement("collision"); c;
       c = c->NextSiblingElement("collision")) {
    file.expect(*c, {"name"}, {"origin", "geometry"});
    const XmlElement* geometry = file.only_child(*c, "geometry");
    if (!geometry) file.fail(*c, "link '" + link.name + "': <collision> has no <geometry>");
    UrdfCollision collision;
    collision.placement = read_origin(file, *c);
    collision.shape = read_shape(file, *geometry, link.name);
    link.collisions.push_back(collision);
  }
  return link;
}

void read_limit(XmlFile& file, const XmlElement& e, UrdfJoint& joint) {
  file.expect(e, {"lower", "upper", "effort", "velocity"}, {});
  joint.limit_line = e.GetLineNum();
  // 0 stands for "not known" in many exported files; a joint that can exert nothing has no motor.
  const auto limit = [&](const char* attribute) {
    file.required(e, attribute);
    const double value = not_negative(file, e, attribute, 0.0);
    if (value > 0.0) return value;
    file.warn(e.GetLineNum(),
              "joint '" + joint.name + "': " + attribute + " limit 0 is taken as no limit");
    return kInfinity;
  };
  joint.effort = limit("effort");
  joint.velocity = limit("velocity");
  const double lower = file.number(e, "lower", 0.0), upper = file.number(e, "upper", 0.0);
  if (joint.type != "revolute" && joint.type != "prismatic") {
    if (joint.type == "continuous" && (lower != 0.0 || upper != 0.0))
      file.unused(e.GetLineNum(), "lower and upper of a continuous joint");
    return;
  }
  if (lower > upper) {
    file.fail(e,
              "joint '" + joint.name + "': limit lower=" + format_number(lower) +
                  " is above upper=" + format_number(upper));
  }
  if (!file.has(e, "lower") && !file.has(e, "upper")) {
    file.warn(e.GetLineNum(),
              "joint '" + joint.name +
                  "': <limit> without lower and upper locks the joint at 0 "
                  "(both are 0 by the URDF specification)");
  }
}

void read_mimic(XmlFile& file, const XmlElement& e, UrdfJoint& joint) {
  file.expect(e, {"joint", "multiplier", "offset"}, {});
  UrdfMimic mimic;
  mimic.line = e.GetLineNum();
  mimic.joint = file.required(e, "joint");
  mimic.multiplier = file.number(e, "multiplier", 1.0);
  mimic.offset = file.number(e, "offset", 0.0);
  if (joint.type == "fixed") {
    file.unused(mimic.line, "<mimic> on a fixed joint");
  } else {
    joint.mimic = mimic;
  }
}

void check_joint_type(XmlFile& file, const XmlElement& e, const UrdfJoint& joint) {
  const std::string& t = joint.type;
  if (t == "revolute" || t == "continuous" || t == "prismatic" || t == "fixed") return;
  if (t == "floating" || t == "planar") return;
  file.fail(e,
            "joint '" + joint.name + "': type '" + t +
                "' is not one of revolute, continuous, prismatic, planar, fixed, floating");
}

/// Its limits and damping would be of two units at once; Pinocchio's parser leaves them out too.
void note_planar(XmlFile& file, const XmlElement& e, const UrdfJoint& joint) {
  for (const char* tag : {"limit", "dynamics"}) {
    if (const XmlElement* unread = file.only_child(e, tag))
      file.unused(unread->GetLineNum(),
                  std::string("<") + tag + "> of planar joint '" + joint.name + "'");
  }
  if (file.only_child(e, "axis")) return;
  file.warn(joint.line,
            "planar joint '" + joint.name +
                "' has no <axis>: the normal of its plane is x, the default of URDF");
}

UrdfJoint read_joint(XmlFile& file, const XmlElement& e) {
  UrdfJoint joint;
  joint.line = e.GetLineNum();
  joint.name = file.required(e, "name");
  joint.type = file.required(e, "type");
  file.expect(
      e, {"name", "type"}, {"origin", "parent", "child", "axis", "dynamics", "limit", "mimic"});
  check_joint_type(file, e, joint);
  read_origin(file, e);
  const XmlElement* parent = file.only_child(e, "parent");
  const XmlElement* child = file.only_child(e, "child");
  if (!parent) file.fail(e, "joint '" + joint.name + "' has no <parent>");
  if (!child) file.fail(e, "joint '" + joint.name + "' has no <child>");
  file.expect(*parent, {"link"}, {});
  file.expect(*child, {"link"}, {});
  joint.parent = file.required(*parent, "link");
  joint.child = file.required(*child, "link");
  const bool has_axis = joint.type == "revolute" || joint.type == "continuous" ||
                        joint.type == "prismatic" || joint.type == "planar";
  if (const XmlElement* axis = file.only_child(e, "axis")) {
    file.expect(*axis, {"xyz"}, {});
    file.required(*axis, "xyz");
    joint.axis = file.vector3(*axis, "xyz", joint.axis);
    if (has_axis && !(norm(joint.axis) > 1e-9)) {
      file.fail(*axis,
                "joint '" + joint.name + "': axis xyz='" + axis->Attribute("xyz") + "' is zero");
    }
  }
  if (const XmlElement* dynamics = file.only_child(e, "dynamics")) {
    file.expect(*dynamics, {"damping", "friction"}, {});
    not_negative(file, *dynamics, "damping", 0.0);
    not_negative(file, *dynamics, "friction", 0.0);
  }
  if (joint.type == "planar") {
    note_planar(file, e, joint);
  } else if (const XmlElement* limit = file.only_child(e, "limit")) {
    read_limit(file, *limit, joint);
  } else if (joint.type == "revolute" || joint.type == "prismatic") {
    file.fail(e,
              "joint '" + joint.name + "' of type " + joint.type +
                  " has no <limit> (use type continuous for an unlimited rotation)");
  }
  if (const XmlElement* mimic = file.only_child(e, "mimic")) read_mimic(file, *mimic, joint);
  return joint;
}

}  // namespace

Transform transform_from_xyz_rpy(const Vec3d& xyz, const Vec3d& rpy) {
  const double cr = cosine(rpy.x), sr = sine(rpy.x), cp = cosine(rpy.y), sp = sine(rpy.y),
               cy = cosine(rpy.z), sy = sine(rpy.z);
  // Rz(yaw) Ry(pitch) Rx(roll), by columns.
  const Mat3d R{{cy * cp, sy * cp, -sp},
                {cy * sp * sr - sy * cr, sy * sp * sr + cy * cr, cp * sr},
                {cy * sp * cr + sy * sr, sy * sp * cr - cy * sr, cp * cr}};
  return {R, xyz};
}

UrdfDocument parse_urdf(XmlFile& file) {
  const XmlElement& root = file.root();
  if (std::string(root.Name()) != "robot") {
    file.fail(root, std::string("the root element is <") + root.Name() + ">, not <robot>");
  }
  UrdfDocument document;
  document.robot_name = file.required(root, "name");
  file.expect(root, {"name", "version"}, {"link", "joint", "material"});  // colours: the replay's
  for (const XmlElement* e = root.FirstChildElement("link"); e; e = e->NextSiblingElement("link")) {
    document.links.push_back(read_link(file, *e));
  }
  for (const XmlElement* e = root.FirstChildElement("joint"); e;
       e = e->NextSiblingElement("joint")) {
    document.joints.push_back(read_joint(file, *e));
  }
  if (document.links.empty()) file.fail(root, "the robot has no <link>");
  return document;
}

}  // namespace stiction
