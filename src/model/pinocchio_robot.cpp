#include "model/pinocchio_robot.hpp"

#include "model/adjacent_pairs.hpp"
#include "model/joint.hpp"
#include "model/overlapping_pairs.hpp"
#include "model/physical_inertia.hpp"
#include "model/single_joints.hpp"
#include <coal/BVH/BVH_model.h>
#include <coal/shape/convex.h>
#include <coal/shape/geometric_shapes.h>

#include <cmath>
#include <set>
#include <stdexcept>

namespace stiction {
namespace {

namespace pin = pinocchio;

[[noreturn]] void fail(const std::string& text) { throw std::invalid_argument(text); }

Vec3d to_vec3(const Eigen::Ref<const Eigen::Vector3d>& v) { return {v.x(), v.y(), v.z()}; }

Transform to_transform(const pin::SE3& X) {
  const Eigen::Matrix3d& R = X.rotation();
  return {{to_vec3(R.col(0)), to_vec3(R.col(1)), to_vec3(R.col(2))}, to_vec3(X.translation())};
}

template <class T>
const T* as(const pin::JointModel& joint) {
  return boost::get<T>(&joint.toVariant());
}

template <class X, class Y, class Z, class Unaligned>
bool one_axis(const pin::JointModel& joint, Vec3d& axis) {
  if (as<X>(joint)) axis = {1, 0, 0};
  if (as<Y>(joint)) axis = {0, 1, 0};
  if (as<Z>(joint)) axis = {0, 0, 1};
  if (const auto* u = as<Unaligned>(joint)) axis = to_vec3(u->axis);
  return as<X>(joint) || as<Y>(joint) || as<Z>(joint) || as<Unaligned>(joint);
}

JointType joint_type(const pin::JointModel& joint, const std::string& name, Vec3d& axis) {
  if (one_axis<pin::JointModelRX,
               pin::JointModelRY,
               pin::JointModelRZ,
               pin::JointModelRevoluteUnaligned>(joint, axis)) {
    return JointType::kRevolute;
  }
  if (one_axis<pin::JointModelRUBX,
               pin::JointModelRUBY,
               pin::JointModelRUBZ,
               pin::JointModelRevoluteUnboundedUnaligned>(joint, axis)) {
    return JointType::kContinuous;
  }
  if (one_axis<pin::JointModelPX,
               pin::JointModelPY,
               pin::JointModelPZ,
               pin::JointModelPrismaticUnaligned>(joint, axis)) {
    return JointType::kPrismatic;
  }
  if (as<pin::JointModelFreeFlyer>(joint)) return JointType::kFreeFlyer;
  if (as<pin::JointModelSpherical>(joint)) return JointType::kSpherical;
  const std::string head = "joint '" + name + "' is a " + joint.shortname() + ": ";
  if (as<pin::JointModelMimic>(joint)) {
    fail(head +
         "build the model without Pinocchio's mimic joints (mimic = false), and couple the "
         "two ordinary joints by a gear row (add_gear, or Robot::gears)");
  }
  fail(head + "not supported; use a chain of revolute, continuous, prismatic or spherical joints");
}

void check_order(const pin::Model& model) {
  // Depth first: each joint hangs on the chain that ends at the joint before it.
  for (int j = 1; j < model.njoints; ++j) {
    int k = j - 1;
    while (k > 0 && k != static_cast<int>(model.parents[j])) k = static_cast<int>(model.parents[k]);
    if (k == static_cast<int>(model.parents[j])) continue;
    fail("joint '" + model.names[j] +
         "' is numbered after another branch began: joints must be in "
         "depth-first order (as Pinocchio's URDF loader makes them)");
  }
}

void check_free_flyer(const pin::Model& model, int j) {
  const std::string head = "joint '" + model.names[j] + "' is a free-flyer: ";
  if (model.parents[j] != 0) fail(head + "only the root may be one");
  if (j != 1) fail(head + "it must be the first joint");
  if (!model.jointPlacements[j].isIdentity(1e-12))
    fail(head + "its placement must be the identity");
}

/// By joint, the name of the first link that moves with it; else its own.
std::vector<std::string> body_names(const pin::Model& model) {
  std::vector<std::string> names(model.names.begin(), model.names.end());
  std::vector<bool> named(names.size(), false);
  for (const pin::Frame& f : model.frames) {
    if (f.type != pin::BODY || named[f.parentJoint]) continue;
    names[f.parentJoint] = f.name;
    named[f.parentJoint] = true;
  }
  return names;
}

BodyDescription body_description(const pin::Model& model, int j, const std::string& name) {
  BodyDescription body;
  body.joint_name = model.names[j];
  body.name = name;
  body.parent = static_cast<int>(model.parents[j]) - 1;
  body.joint = joint_type(model.joints[j], model.names[j], body.axis);
  if (joint_facts(body.joint).free) check_free_flyer(model, j);
  body.placement = to_transform(model.jointPlacements[j]);
  const pin::Inertia& Y = model.inertias[j];
  body.mass = Y.mass();
  body.com = to_vec3(Y.lever());
  const Eigen::Matrix3d I = Y.inertia().matrix();
  body.inertia =
      without_rounding(body.mass, {I(0, 0), I(0, 1), I(1, 1), I(0, 2), I(1, 2), I(2, 2)});
  return body;
}

// Pinocchio's algorithms use `armature` alone; a rotor that was set without it counts as well.
double armature(const pin::Model& model, int v) {
  if (model.armature[v] > 0.0) return model.armature[v];
  const double reflected =
      model.rotorInertia[v] * model.rotorGearRatio[v] * model.rotorGearRatio[v];
  return std::isfinite(reflected) ? reflected : 0.0;
}

double limit_or_infinity(double value) { return value < 1e300 ? value : kInfinity; }

void append_dofs(const pin::Model& model, int j, JointType type, Robot& robot) {
  const int q = model.idx_qs[j], v0 = model.idx_vs[j];
  for (int v = v0; v < v0 + joint_nv(type); ++v) {
    DofDescription dof;
    if (joint_facts(type).limited) {
      dof.lower = -limit_or_infinity(-model.lowerPositionLimit[q]);
      dof.upper = limit_or_infinity(model.upperPositionLimit[q]);
    }
    dof.effort_limit = limit_or_infinity(model.upperEffortLimit[v]);
    dof.velocity_limit = limit_or_infinity(model.upperVelocityLimit[v]);
    dof.damping = model.damping[v];
    dof.dry_friction = model.upperDryFrictionLimit[v];
    dof.armature = armature(model, v);
    robot.dofs.push_back(dof);
  }
}

void append_neutral(JointType type, std::vector<double>& q) {
  q.resize(q.size() + joint_nq(type));
  visit_joint(type, [&](auto joint) { joint.neutral(&q[q.size() - joint.facts.nq]); });
}

// Link frames first: a joint may bear the name of a link.
void append_frames(const pin::Model& model, Robot& robot) {
  std::set<std::string> taken = {"universe"};
  for (const bool bodies : {true, false}) {
    for (const pin::Frame& f : model.frames) {
      if ((f.type == pin::BODY) != bodies || !taken.insert(f.name).second) continue;
      robot.frames.push_back(
          {f.name, static_cast<int>(f.parentJoint) - 1, to_transform(f.placement), bodies});
    }
  }
}

std::vector<Vec3d> to_points(const std::vector<coal::Vec3s>& source, const Eigen::Vector3d& scale) {
  std::vector<Vec3d> points;
  for (const coal::Vec3s& p : source) points.push_back(to_vec3(p.cwiseProduct(scale)));
  return points;
}

Shape shape_of(const pin::GeometryObject& object, LoadMessage& message) {
  const coal::CollisionGeometry* g = object.geometry.get();
  const Eigen::Vector3d one = Eigen::Vector3d::Ones();
  if (const auto* s = dynamic_cast<const coal::Sphere*>(g)) return Shape::sphere(s->radius);
  if (const auto* s = dynamic_cast<const coal::Box*>(g)) return Shape::box(to_vec3(s->halfSide));
  if (const auto* s = dynamic_cast<const coal::Capsule*>(g)) {
    return Shape::capsule(s->radius, s->halfLength);
  }
  if (const auto* s = dynamic_cast<const coal::Cylinder*>(g)) {
    return Shape::cylinder(s->radius, s->halfLength);
  }
  if (const auto* s = dynamic_cast<const coal::Cone*>(g)) {
    return Shape::cone(s->radius, s->halfLength);
  }
  if (const auto* s = dynamic_cast<const coal::Ellipsoid*>(g)) {
    return Shape::ellipsoid(to_vec3(s->radii));
  }
  if (const auto* s = dynamic_cast<const coal::ConvexBase*>(g); s && s->points) {
    return Shape::convex_mesh(to_points(*s->points, one));
  }
  if (const auto* s = dynamic_cast<const coal::BVHModelBase*>(g); s && s->vertices) {
    message.text = "mesh is replaced by its convex hull";
    return Shape::convex_mesh(to_points(*s->vertices, one));
  }
  fail(
      "its shape is not a sphere, box, capsule, cylinder, cone, ellipsoid, convex or mesh; remove "
      "it "
      "or give a convex one");
}

void append_geometries(const pin::GeometryModel& source, const Material& material, Robot& robot) {
  for (const pin::GeometryObject& object : source.geometryObjects) {
    GeometryDescription g;
    g.name = object.name;
    g.body = static_cast<int>(object.parentJoint) - 1;
    g.link = g.body < 0 ? "" : robot.bodies[g.body].name;
    g.placement = to_transform(object.placement);
    g.material = material;
    LoadMessage message{LoadMessage::Kind::kMesh, robot.name, 0, ""};
    try {
      g.shape = shape_of(object, message);
    } catch (const std::exception& e) {
      fail("geometry '" + object.name + "': " + e.what());
    }
    if (!message.text.empty()) {
      message.text = "geometry '" + object.name + "': " + message.text;
      robot.messages.push_back(message);
    }
    robot.geometries.push_back(g);
  }
  disable_adjacent_pairs(robot);
  if (source.collisionPairs.empty()) return;
  const int n = static_cast<int>(robot.geometries.size());
  for (int a = 0; a < n; ++a) {
    for (int b = a + 1; b < n; ++b) {
      if (!source.existCollisionPair(pin::CollisionPair(a, b)))
        robot.disabled_pairs.push_back({a, b});
    }
  }
}

}  // namespace

Robot robot_from_pinocchio(const pin::Model& model,
                           const pin::GeometryModel* geometry,
                           const Material& material,
                           bool keep_overlapping_pairs) {
  if (has_compound_joints(model)) {
    const SingleJoints single = with_single_joints(model);
    pin::GeometryModel moved;
    if (geometry) moved = *geometry;
    for (pin::GeometryObject& object : moved.geometryObjects)
      object.parentJoint = single.joint[object.parentJoint];
    return robot_from_pinocchio(
        single.model, geometry ? &moved : nullptr, material, keep_overlapping_pairs);
  }
  Robot robot;
  robot.name = model.name;
  check_order(model);
  const std::vector<std::string> names = body_names(model);
  for (int j = 1; j < model.njoints; ++j) {
    robot.bodies.push_back(body_description(model, j, names[j]));
    append_dofs(model, j, robot.bodies.back().joint, robot);
    append_neutral(robot.bodies.back().joint, robot.neutral);
  }
  append_frames(model, robot);
  if (geometry) append_geometries(*geometry, material, robot);
  check_robot_inertia(robot, "robot '" + robot.name + "'");
  if (!keep_overlapping_pairs) disable_overlapping_pairs(robot, robot.name);
  robot.model = std::make_shared<pinocchio_handle::Model>(pinocchio_handle::Model{model});
  return robot;
}

}  // namespace stiction
