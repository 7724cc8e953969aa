#include "stiction/simulator/simulator.hpp"

#include "model/joint.hpp"
#include "support/compliant_scenes.hpp"
#include <boost/test/unit_test.hpp>

#include <cmath>
#include <string>
#include <vector>

// Joint limits, dry friction, gears, closures and contacts of rigid pairs beside compliant ones.

using namespace stiction;
using namespace stiction::test;

namespace {

BodyDescription part(const std::string& name, int parent, JointType joint, double mass, Vec3d com) {
  BodyDescription b;
  b.name = name;
  b.joint_name = name;
  b.parent = parent;
  b.joint = joint;
  b.axis = {0, 1, 0};
  b.mass = mass;
  b.com = com;
  b.inertia = {0.01 * mass, 0, 0.01 * mass, 0, 0, 0.01 * mass};
  return b;
}

/// A box of 4 kg on soft ground that carries two arms of 0.5 kg, hinges about y, centre of mass
/// 0.2 m along x; level at zero, positive angles point down.
Scene box_with_arms() {
  Robot robot;
  robot.name = "r";
  robot.bodies = {part("base", -1, JointType::kFreeFlyer, 4.0, {0, 0, 0}),
                  part("left", 0, JointType::kRevolute, 0.5, {0.2, 0, 0}),
                  part("right", 0, JointType::kRevolute, 0.5, {-0.2, 0, 0})};
  robot.bodies[1].placement = at(0.1, 0.1, 0.0);
  robot.bodies[2].placement = at(-0.1, -0.1, 0.0);
  robot.dofs.resize(8);
  robot.neutral = {0, 0, 0, 0, 0, 0, 1, 0, 0};
  Scene scene;
  scene.add_ground({0.9, 0.0, 2e4, 300.0});
  scene.add_robot(robot, at(0, 0, 0.1));
  scene.add_geometry("box", 0, Shape::box({0.3, 0.3, 0.1}), Transform::identity(), {0.9});
  return scene;
}

double height_at_rest() { return 0.1 - 5.0 * kGravity / 2e4; }

}  // namespace

BOOST_AUTO_TEST_SUITE(rigid_rows_test)

// The left arm falls onto its limit while the box stands on its springs.
BOOST_AUTO_TEST_CASE(limit_while_standing) {
  for (const std::string& integrator : compliant_integrators()) {
    Scene scene = box_with_arms();
    scene.parameters.upper[6] = 0.3;
    scene.parameters.lower[7] = -0.3;
    Simulator sim(scene, settings(integrator, 5e-4));
    State state = sim.initial_state();
    double beyond = 0.0;
    for (int k = 0; k < 6000; ++k) {
      sim.step(state, {});
      BOOST_TEST_REQUIRE((sim.report().status == StepStatus::kOk));
      beyond = std::max(beyond, state.q[7] - 0.3);
    }
    BOOST_TEST_CONTEXT(integrator) {
      BOOST_TEST(beyond < 1e-3);
      BOOST_TEST(std::abs(state.q[7] - 0.3) < 1e-6);
      BOOST_TEST(std::abs(state.q[8] + 0.3) < 1e-6);
      BOOST_TEST(state.v.norm() < 1e-6);
      BOOST_TEST(std::abs(state.q[2] - height_at_rest()) < 1e-5);
      BOOST_TEST(sim.report().num_rows == 2);
      BOOST_TEST(sim.report().residuals.relative < 1e-8);
      // Each limit holds its arm's weight: m g l cos(0.3) dt.
      const double impulse = 0.5 * kGravity * 0.2 * std::cos(0.3) * sim.settings().dt;
      BOOST_TEST(state.constraint_impulse[8 + 6] == impulse, boost::test_tools::tolerance(1e-3));
    }
  }
}

// Dry friction above the weight's torque holds the arm without creep; below it, the arm falls at
// the rate of the difference.
BOOST_AUTO_TEST_CASE(dry_friction) {
  const double weight = 0.5 * kGravity * 0.2;
  for (const std::string& integrator : compliant_integrators()) {
    Scene scene = box_with_arms();
    scene.parameters.dry_friction[6] = scene.parameters.dry_friction[7] = 1.5 * weight;
    Simulator sim(scene, settings(integrator, 5e-4));
    State state = sim.initial_state();
    sim.run(state, {}, 4000);
    const double before = state.q[7];
    sim.run(state, {}, 4000);
    BOOST_TEST_CONTEXT(integrator) {
      BOOST_TEST(std::abs(state.q[7] - before) < 1e-10);
      BOOST_TEST(std::abs(state.q[2] - height_at_rest()) < 1e-6);
    }
  }
}

// A sliding joint with a friction force loses speed at f / m; second order where the position rule
// is, not one step of drift.
BOOST_AUTO_TEST_CASE(dry_friction_slows_a_slider) {
  for (const std::string& integrator : compliant_integrators()) {
    Robot robot;
    robot.name = "r";
    robot.bodies = {part("slider", -1, JointType::kPrismatic, 2.0, {0, 0, 0})};
    robot.bodies[0].axis = {1, 0, 0};
    robot.dofs.resize(1);
    robot.dofs[0].dry_friction = 3.0;
    robot.neutral = {0.0};
    Scene scene;
    scene.add_robot(robot);
    Simulator sim(scene, settings(integrator, 1e-2));
    State state = sim.initial_state();
    state.v[0] = 1.0;
    sim.run(state, {}, 20);
    const double t = 0.2, x = t - 0.5 * 1.5 * t * t;
    const bool second = integrator == "explicit-euler" || integrator == "rk4";
    BOOST_TEST_CONTEXT(integrator) {
      BOOST_TEST(std::abs(state.v[0] - (1.0 - 1.5 * t)) < 1e-12);
      BOOST_TEST(std::abs(state.q[0] - x) < (second ? 1e-12 : 2e-3));
      sim.run(state, {}, 100);  // stopped at v^2 / (2 f / m)
      BOOST_TEST(state.v[0] == 0.0);
      BOOST_TEST(std::abs(state.q[0] - 1.0 / 3.0) < 6e-3);
    }
  }
}

BOOST_AUTO_TEST_CASE(gear) {
  for (const std::string& integrator : compliant_integrators()) {
    Scene scene = box_with_arms();
    scene.add_gear("g", 7, 6, -1.0, 0.0);
    scene.parameters.damping[6] = 0.05;
    Simulator sim(scene, settings(integrator, 5e-4));
    State state = sim.initial_state();
    state.v[6] = 0.5;
    state.v[7] = -0.5;
    double worst = 0.0;
    for (int k = 0; k < 2000; ++k) {
      sim.step(state, {});
      worst = std::max(worst, std::abs(state.q[8] + state.q[7]));
    }
    BOOST_TEST_CONTEXT(integrator) {
      BOOST_TEST(worst < 1e-5);
      BOOST_TEST(std::abs(state.v[7] + state.v[6]) < 1e-6);
      BOOST_TEST(std::abs(state.q[7]) > 0.1);  // they do swing
    }
  }
}

// Two rigid surfaces keep their rigid contact on top of a soft one.
BOOST_AUTO_TEST_CASE(rigid_pair_on_soft_ground) {
  for (const std::string& integrator : compliant_integrators()) {
    Scene scene;
    scene.add_ground({0.6, 0.0, 2e4, 300.0});
    scene.add_body("box", Shape::box({0.1, 0.1, 0.1}), 2.0, at(0, 0, 0.1), {0.6});
    scene.add_body("top", Shape::box({0.1, 0.1, 0.05}), 1.0, at(0, 0, 0.25), {0.6});
    Simulator sim(scene, settings(integrator, 5e-4));
    State state = sim.initial_state();
    sim.run(state, {}, 6000);
    BOOST_TEST_CONTEXT(integrator) {
      BOOST_TEST((sim.report().status == StepStatus::kOk));
      BOOST_TEST(std::abs(state.q[2] - (0.1 - 3.0 * kGravity / 2e4)) < 1e-5);
      BOOST_TEST(std::abs(state.q[9] - state.q[2] - 0.15) < 1e-5);
      BOOST_TEST(std::abs(sim.wrench_on(1).force.z - kGravity) < 1e-3);
      BOOST_TEST(std::abs(sim.wrench_on(0).force.z - 2.0 * kGravity) < 1e-3);
      BOOST_TEST((sim.contacts().size() == 8));
    }
  }
}

// A scene of rigid pairs only is a mistake of the caller.
BOOST_AUTO_TEST_CASE(all_rigid_is_refused) {
  Scene scene;
  scene.add_ground();
  scene.add_body("box", Shape::box({0.1, 0.1, 0.1}), 2.0, at(0, 0, 0.1));
  try {
    Simulator sim(scene, settings("rk4", 5e-4));
    BOOST_ERROR("not refused");
  } catch (const std::invalid_argument& e) {
    const std::string text = e.what();
    for (const char* word :
         {"\"rk4\"", "\"ground\"", "\"box\"", "stiffness", "semi-implicit-euler"})
      BOOST_TEST(text.find(word) != std::string::npos, word);
  }
  Scene empty;  // nothing to touch: any integrator
  empty.add_body("box", Shape::box({0.1, 0.1, 0.1}), 2.0, at(0, 0, 0.1));
  Simulator sim(empty, settings("rk4", 5e-4));
  State state = sim.initial_state();
  sim.run(state, {}, 100);
  BOOST_TEST(state.v[2] == -kGravity * 0.05, boost::test_tools::tolerance(1e-12));
}

BOOST_AUTO_TEST_SUITE_END()
