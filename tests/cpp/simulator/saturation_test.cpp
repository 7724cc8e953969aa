#include "stiction/simulator/simulator.hpp"

#include "integrator/step_record.hpp"
#include "scenes/scenes.hpp"
#include "support/random_tree.hpp"
#include "support/recovery.hpp"
#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <cmath>

// A servo's torque is tau + kp (q* - q+) + kd (v* - v+), at the end of the step, or its limit.

namespace stiction::test {
namespace {

/// A joint of small inertia about the vertical, as in a gripper.
Scene light_joint(double inertia, double kp, double kd, double limit) {
  Robot robot;
  robot.name = "gripper";
  BodyDescription b;
  b.name = "finger";
  b.joint = JointType::kRevolute;
  b.axis = {0, 0, 1};
  b.mass = 0.01;
  b.inertia = {inertia, 0, inertia, 0, 0, inertia};
  robot.bodies = {b};
  robot.dofs.resize(1);
  robot.neutral = {0.0};
  Scene scene;
  scene.add_robot(robot);
  scene.set_gains(0, kp, kd);
  scene.parameters.effort_limit[0] = limit;
  return scene;
}

double asked(const Scene& scene, const State& state, const Control& control, int dof) {
  const std::vector<double> q = scene.dof_positions({state.q.begin(), state.q.end()});
  const Parameters& p = scene.parameters;
  return control.torque[dof] + p.kp[dof] * (control.position_target[dof] - q[dof]) +
         p.kd[dof] * (control.velocity_target[dof] - state.v[dof]);
}

}  // namespace

BOOST_AUTO_TEST_SUITE(saturation_test)

// Full torque would turn the joint by radians in a step: judged at the start alone it chatters
// between its limits for ever.
BOOST_AUTO_TEST_CASE(a_light_joint_under_a_strong_servo_comes_to_rest) {
  const double inertia = 1e-5, dt = 1e-3, target = 1.0;
  const Scene scene = light_joint(inertia, 20.0, 0.0, 10.0);
  SimulatorSettings settings;
  settings.dt = dt;
  Simulator sim(scene, settings);
  State state = sim.initial_state();
  Control control = sim.hold();
  control.position_target[0] = target;
  for (int k = 0; k < 50; ++k) {
    sim.step(state, control);
    BOOST_TEST(std::abs(state.q[0]) < 1.5 * target);
  }
  BOOST_TEST(std::abs(state.q[0] - target) < 1e-6);
  BOOST_TEST(std::abs(state.v[0]) < 1e-3);
}

// What a servo gives is what it asks for at the end of the step, or its limit; hardly more than the
// limit, and not the limit where it asks for more than that the other way.
BOOST_AUTO_TEST_CASE(one_servo_obeys_the_law_in_every_step) {
  Rng rng(11);
  int sides[3] = {};
  for (int trial = 0; trial < 300; ++trial) {
    const double inertia = std::pow(10.0, rng.uniform(-6.0, 0.0)), dt = 2e-3;
    const Scene scene = light_joint(inertia,
                                    std::pow(10.0, rng.uniform(-1.0, 3.0)),
                                    rng.below(2) * std::pow(10.0, rng.uniform(-3.0, 1.0)),
                                    std::pow(10.0, rng.uniform(-2.0, 2.0)));
    SimulatorSettings settings;
    settings.dt = dt;
    Simulator sim(scene, settings);
    State state = sim.initial_state();
    state.v[0] = rng.uniform(-10.0, 10.0);
    Control control = sim.hold();
    control.torque = Eigen::VectorXd::Zero(1);
    control.velocity_target = Eigen::VectorXd::Zero(1);
    control.position_target[0] = rng.uniform(-1.0, 1.0);
    for (int k = 0; k < 10; ++k) {
      const double before = state.v[0], limit = scene.parameters.effort_limit[0];
      sim.step(state, control);
      const double given = inertia * (state.v[0] - before) / dt;
      const double wanted = asked(scene, state, control, 0);
      const int side = sim.record().dynamics.saturated[0];
      const double rounding = 1e-6 * (limit + inertia * std::abs(before) / dt);
      BOOST_TEST(std::abs(given - (side ? side * limit : wanted)) <= rounding);
      BOOST_TEST(std::abs(given) <= 1.25 * limit + rounding);
      if (side != 0) BOOST_TEST(side * wanted >= -limit - rounding);
      ++sides[1 + side];
    }
  }
  for (const int n : sides) BOOST_TEST(n > 100);
}

// A step with the torques that the law gives at its end, and no servos, has the same end.
BOOST_AUTO_TEST_CASE(servos_are_the_torques_of_their_end) {
  Rng rng(12);
  int changed = 0, compared = 0;
  for (int trial = 0; trial < 60; ++trial) {
    Scene scene;
    if (trial % 2 == 0) {
      scene = make_scene("solo12");
    } else {
      scene.add_robot(random_robot(random_tree(rng)));
    }
    Control control;
    control.torque = control.position_target = control.velocity_target =
        Eigen::VectorXd::Zero(scene.nv());
    for (int dof = 0; dof < scene.nv(); ++dof) {
      if (!scene.takes_servo(dof)) continue;
      scene.set_gains(dof, rng.uniform(10.0, 500.0), rng.uniform(0.1, 5.0));
      scene.parameters.effort_limit[dof] = rng.uniform(0.5, 20.0);
      control.torque[dof] = rng.uniform(-1.0, 1.0);
      control.position_target[dof] = rng.uniform(-0.5, 0.5);
    }
    SimulatorSettings settings;
    settings.dt = 4e-3;
    settings.solver.tolerance = 1e-11;
    Scene bare = scene;
    for (int dof = 0; dof < scene.nv(); ++dof) {
      if (!scene.takes_servo(dof)) continue;
      bare.set_gains(dof, 0.0, 0.0);
      bare.parameters.effort_limit[dof] *= 2.0;
    }
    Simulator sim(scene, settings), other(bare, settings);
    State state = trial % 2 == 0 ? sim.initial_state("standing") : sim.initial_state();
    for (int step = 0; step < 20; ++step) {
      const State start = state;
      if (sim.step(state, control).num_fast_trees > 0) continue;  // ends at other speeds
      ++compared;
      Control torques;
      torques.torque = control.torque;
      double largest = 1.0;
      for (int dof = 0; dof < scene.nv(); ++dof) {
        largest = std::max(largest, std::abs(state.v[dof]));
        if (!scene.takes_servo(dof)) continue;
        const double limit = scene.parameters.effort_limit[dof];
        const double wanted = asked(scene, state, control, dof);
        const int side = sim.record().dynamics.saturated[dof];
        torques.torque[dof] = side ? side * limit : wanted;
        const bool begins = std::abs(asked(scene, start, control, dof)) > limit;
        changed += begins != (side != 0);
      }
      State twin = start;
      other.step(twin, torques);
      for (int dof = 0; dof < scene.nv(); ++dof)
        BOOST_TEST(std::abs(twin.v[dof] - state.v[dof]) < 1e-7 * largest);
    }
  }
  BOOST_TEST(changed > 50);
  BOOST_TEST(compared > 400);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace stiction::test
