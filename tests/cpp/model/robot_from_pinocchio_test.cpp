#include "stiction/model/robot.hpp"

#include "model/joint.hpp"
#include "model/pinocchio_robot.hpp"
#include "scenes/data_paths.hpp"
#include <boost/test/unit_test.hpp>
#include <pinocchio/algorithm/joint-configuration.hpp>
#include <pinocchio/parsers/urdf.hpp>

#include <string>

using namespace stiction;

BOOST_AUTO_TEST_SUITE(robot_from_pinocchio_test)

BOOST_AUTO_TEST_CASE(round_trip_against_pinocchio) {
  const std::string path = data_file("solo12/solo12.urdf");
  LoadOptions options;
  options.collision_geometry = false;
  const Robot robot = load_urdf(path, options);
  pinocchio::Model model;
  pinocchio::urdf::buildModel(path, pinocchio::JointModelFreeFlyer(), model);
  BOOST_TEST(robot.nq() == model.nq);
  BOOST_TEST(robot.nv() == model.nv);
  BOOST_TEST(robot.path == path);
  BOOST_REQUIRE(robot.model);
  BOOST_TEST(robot.model->model.nq == model.nq);
  for (int j = 1; j < model.njoints; ++j) {
    const BodyDescription& body = robot.bodies[j - 1];
    BOOST_TEST(body.joint_name == model.names[j]);
    BOOST_TEST(body.parent == static_cast<int>(model.parents[j]) - 1);
    BOOST_TEST(body.mass == model.inertias[j].mass());
    BOOST_TEST(body.inertia.xz == model.inertias[j].inertia().matrix()(0, 2));
    const Eigen::Vector3d p = model.jointPlacements[j].translation();
    BOOST_TEST(norm(body.placement.p - Vec3d{p.x(), p.y(), p.z()}) == 0.0);
    if (j == 1) continue;
    const int v = model.idx_vs[j];
    BOOST_TEST(robot.dofs[v].lower == model.lowerPositionLimit[model.idx_qs[j]]);
    BOOST_TEST(robot.dofs[v].upper == model.upperPositionLimit[model.idx_qs[j]]);
    BOOST_TEST(robot.dofs[v].effort_limit == model.upperEffortLimit[v]);
    BOOST_TEST(robot.dofs[v].velocity_limit == model.upperVelocityLimit[v]);
  }
  BOOST_TEST(robot.bodies[0].name == "base_link");
  BOOST_TEST(robot.body("FL_FOOT") == robot.body("FL_LOWER_LEG"));
}

BOOST_AUTO_TEST_CASE(geometry_models) {
  namespace pin = pinocchio;
  pin::Model model;
  const auto a = model.addJoint(0, pin::JointModelRX(), pin::SE3::Identity(), "a");
  model.appendBodyToJoint(a, pin::Inertia::Random(), pin::SE3::Identity());
  const auto b = model.addJoint(a, pin::JointModelRX(), pin::SE3::Identity(), "b");
  model.appendBodyToJoint(b, pin::Inertia::Random(), pin::SE3::Identity());
  pin::GeometryModel geometry;
  const auto add = [&](const char* name, pin::JointIndex joint, auto shape) {
    geometry.addGeometryObject(pin::GeometryObject(name, joint, pin::SE3::Identity(), shape));
  };
  add("floor", 0, std::make_shared<coal::Box>(2.0, 4.0, 6.0));
  add("ball", a, std::make_shared<coal::Sphere>(0.5));
  add("pill", b, std::make_shared<coal::Capsule>(0.5, 3.0));
  add("can", b, std::make_shared<coal::Cylinder>(0.5, 3.0));
  add("hat", b, std::make_shared<coal::Cone>(0.5, 3.0));
  add("egg", b, std::make_shared<coal::Ellipsoid>(0.5, 1.0, 3.0));
  // All of them overlap.
  const Robot robot = robot_from_pinocchio(model, &geometry, {}, true);
  BOOST_REQUIRE(robot.geometries.size() == 6u);
  BOOST_TEST(robot.geometries[0].shape.size.z == 3.0);
  BOOST_TEST(robot.geometries[0].body == -1);
  BOOST_TEST(robot.geometries[1].body == 0);
  BOOST_TEST(robot.geometries[2].shape.size.y == 1.5);
  const auto check = [&](int g, ShapeType type, double x, double y, double z) {
    const Shape& shape = robot.geometries[g].shape;
    BOOST_TEST((shape.type == type));
    BOOST_TEST(norm(shape.size - Vec3d{x, y, z}) == 0.0);
  };
  check(3, ShapeType::kCylinder, 0.5, 1.5, 0.0);
  check(4, ShapeType::kCone, 0.5, 1.5, 0.0);
  check(5, ShapeType::kEllipsoid, 0.5, 1.0, 3.0);
  BOOST_TEST(robot.messages.empty());

  geometry.addCollisionPair(pin::CollisionPair(0, 2));
  const Robot selected = robot_from_pinocchio(model, &geometry, {}, true);
  for (const auto& pair : selected.disabled_pairs) BOOST_TEST((pair != std::pair{0, 2}));
  BOOST_TEST(selected.disabled_pairs.size() >= 5u);
  const Robot pruned = robot_from_pinocchio(model, &geometry, {});
  BOOST_TEST(pruned.disabled_pairs.size() == selected.disabled_pairs.size() + 1u);
  BOOST_TEST((pruned.disabled_pairs.back() == std::pair{0, 2}));
  BOOST_REQUIRE(pruned.messages.size() == 1u);
  BOOST_TEST((pruned.messages[0].kind == LoadMessage::Kind::kOverlap));

  add("spike", b, std::make_shared<coal::TriangleP>());
  BOOST_CHECK_EXCEPTION(
      robot_from_pinocchio(model, &geometry, {}), std::invalid_argument, [](const auto& error) {
        return std::string(error.what()).find("geometry 'spike'") != std::string::npos;
      });
}

BOOST_AUTO_TEST_CASE(models_built_in_pinocchio) {
  namespace pin = pinocchio;
  pin::Model model;
  const pin::Inertia unit = pin::Inertia::Random();
  const auto a = model.addJoint(0, pin::JointModelFreeFlyer(), pin::SE3::Identity(), "root");
  model.appendBodyToJoint(a, unit, pin::SE3::Identity());
  const auto b = model.addJoint(a, pin::JointModelSpherical(), pin::SE3::Random(), "ball");
  model.appendBodyToJoint(b, unit, pin::SE3::Identity());
  const auto c = model.addJoint(
      b, pin::JointModelPrismaticUnaligned(0.0, 0.6, 0.8), pin::SE3::Random(), "slider");
  model.appendBodyToJoint(c, unit, pin::SE3::Identity());
  model.rotorInertia[9] = 2.0;
  model.rotorGearRatio[9] = 3.0;
  const Robot robot = robot_from_pinocchio(model, nullptr, {});
  BOOST_TEST((robot.bodies[1].joint == JointType::kSpherical));
  BOOST_TEST((robot.bodies[2].joint == JointType::kPrismatic));
  BOOST_TEST(robot.bodies[2].axis.z == 0.8);
  BOOST_TEST(robot.dofs[9].armature == 18.0);
  BOOST_TEST(robot.neutral.size() == 12u);
  const Eigen::VectorXd neutral = pin::neutral(model);
  for (int i = 0; i < 12; ++i) BOOST_TEST(robot.neutral[i] == neutral[i]);

  pin::Model wrong_order = model;
  const auto d = wrong_order.addJoint(a, pin::JointModelRX(), pin::SE3::Identity(), "side");
  wrong_order.appendBodyToJoint(d, unit, pin::SE3::Identity());
  const auto e = wrong_order.addJoint(c, pin::JointModelRX(), pin::SE3::Identity(), "late");
  wrong_order.appendBodyToJoint(e, unit, pin::SE3::Identity());
  BOOST_CHECK_EXCEPTION(
      robot_from_pinocchio(wrong_order, nullptr, {}), std::invalid_argument, [](const auto& error) {
        return std::string(error.what()).find("joint 'late'") != std::string::npos;
      });
  pin::Model screw = model;
  screw.addJoint(c, pin::JointModelHZ(0.1), pin::SE3::Identity(), "lift");
  BOOST_CHECK_EXCEPTION(
      robot_from_pinocchio(screw, nullptr, {}), std::invalid_argument, [](const auto& error) {
        const std::string text = error.what();
        return text.find("'lift' is a JointModelHZ") != std::string::npos;
      });
}

BOOST_AUTO_TEST_SUITE_END()
