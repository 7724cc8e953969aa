#include "batch/lane_batch.hpp"
#include "support/recovery.hpp"
#include <boost/test/unit_test.hpp>

#include <cmath>
#include <string>

// Springs of joints against closed forms: m x'' = k (rest - x) on a rail, and what holds them.

namespace stiction::test {
namespace {

constexpr double kMass = 2.0, kStiffness = 50.0, kRest = 0.3;

/// A mass on a rail along x or, turning, of inertia kMass about x.
Scene sprung(JointType joint = JointType::kPrismatic) {
  Robot robot;
  robot.name = "cart";
  BodyDescription b;
  b.name = "cart";
  b.joint = joint;
  b.axis = {1, 0, 0};
  b.mass = kMass;
  b.inertia = {kMass, 0, kMass, 0, 0, kMass};
  robot.bodies = {b};
  robot.dofs.resize(1);
  robot.neutral =
      joint == JointType::kContinuous ? std::vector<double>{1.0, 0.0} : std::vector<double>{0.0};
  Scene scene;
  scene.add_robot(robot);
  scene.parameters.spring_stiffness[0] = kStiffness;
  scene.parameters.spring_rest[0] = kRest;
  return scene;
}

SimulatorSettings settings(const std::string& integrator, double dt) {
  SimulatorSettings s;
  s.integrator = integrator;
  s.dt = dt;
  return s;
}

/// Error of the position after a second from rest at 0.
double error(const std::string& integrator, double dt) {
  Simulator sim(sprung(), settings(integrator, dt));
  State state = sim.initial_state();
  const int steps = static_cast<int>(std::round(1.0 / dt));
  for (int k = 0; k < steps; ++k) sim.step(state, {});
  return std::abs(state.q[0] - kRest * (1.0 - std::cos(std::sqrt(kStiffness / kMass))));
}

}  // namespace

BOOST_AUTO_TEST_SUITE(joint_springs_test)

// v+ = v + dt k (rest - q - dt v+) / m, q+ = q + dt v+.
BOOST_AUTO_TEST_CASE(a_rigid_step_has_the_spring_at_its_end) {
  const double dt = 0.05;
  Simulator sim(sprung(), settings("semi-implicit-euler", dt));
  State state = sim.initial_state();
  double q = 0.0, v = 0.0;
  for (int k = 0; k < 100; ++k) {
    sim.step(state, {});
    v = (v + dt * kStiffness / kMass * (kRest - q)) / (1.0 + dt * dt * kStiffness / kMass);
    q += dt * v;
    BOOST_TEST(std::abs(state.q[0] - q) < 1e-14);
    BOOST_TEST(std::abs(state.v[0] - v) < 1e-13);
  }
}

BOOST_AUTO_TEST_CASE(oscillators_converge_with_the_order_of_their_integrator) {
  const struct {
    const char* integrator;
    double order, error;  // at 1 ms [m]
  } cases[] = {{"semi-implicit-euler", 1.0, 2e-3},
               {"explicit-euler", 2.0, 2e-5},
               {"implicit-euler", 1.0, 2e-3},
               {"exponential", 2.0, 2e-6},
               {"rk4", 4.0, 1e-10}};
  for (const auto& c : cases) {
    BOOST_TEST_CONTEXT(c.integrator) {
      const double coarse = error(c.integrator, 4e-3), fine = error(c.integrator, 2e-3);
      BOOST_TEST(std::abs(std::log2(coarse / fine) - c.order) < 0.1);
      BOOST_TEST(error(c.integrator, 1e-3) < c.error);
    }
  }
}

BOOST_AUTO_TEST_CASE(a_spring_is_a_servo_without_an_effort_limit) {
  const double dt = 1e-2;
  Scene servo = sprung();
  servo.parameters.spring_stiffness[0] = 0.0;
  servo.set_gains(0, kStiffness, 0.0);
  Control control;
  control.position_target = Eigen::VectorXd::Constant(1, kRest);
  Scene weak = sprung();
  weak.parameters.effort_limit[0] = 1e-3;
  for (const char* integrator : {"semi-implicit-euler", "implicit-euler", "exponential", "rk4"}) {
    Simulator by_servo(servo, settings(integrator, dt)), by_spring(weak, settings(integrator, dt));
    State a = by_servo.initial_state(), b = by_spring.initial_state();
    for (int k = 0; k < 50; ++k) {
      by_servo.step(a, control);
      by_spring.step(b, {});
    }
    BOOST_TEST(std::abs(a.q[0] - b.q[0]) < 1e-12);
    BOOST_TEST(std::abs(a.v[0]) > 1e-2);
  }
}

BOOST_AUTO_TEST_CASE(a_continuous_joint_takes_the_shortest_way_round) {
  Scene scene = sprung(JointType::kContinuous);
  scene.parameters.spring_rest[0] = 3.0;
  Simulator sim(scene, settings("semi-implicit-euler", 1e-3));
  State state = sim.initial_state();
  state.q << std::cos(-3.0), std::sin(-3.0);
  sim.step(state, {});
  BOOST_TEST(state.v[0] < 0.0);  // on to 3 - 2 pi, the nearer one
  const double away = 2.0 * std::acos(-1.0) - 6.0;
  BOOST_TEST(sim.report().potential_energy == 0.5 * kStiffness * away * away,
             boost::test_tools::tolerance(1e-12));
}

/// The energy of the spring goes into the mass: reports and balances have it.
BOOST_AUTO_TEST_CASE(energy_has_the_spring) {
  for (const char* integrator : {"semi-implicit-euler", "rk4", "exponential"}) {
    Simulator sim(sprung(), settings(integrator, 1e-4));
    State state = sim.initial_state();
    double least = 1e9;
    for (int k = 0; k < 10000; ++k) {
      sim.step(state, {});
      const StepReport& r = sim.report();
      const double total = 0.5 * kStiffness * kRest * kRest;
      BOOST_REQUIRE(std::abs(r.kinetic_energy + r.potential_energy - total) < 5e-3 * total);
      least = std::min(least, r.potential_energy);
    }
    BOOST_TEST(least < 1e-3);
    const Balance balance = sim.balance(state, {});
    BOOST_TEST(balance.energy_after == balance.energy_before, boost::test_tools::tolerance(1e-4));
    BOOST_TEST(balance.energy_before == sim.report().kinetic_energy + sim.report().potential_energy,
               boost::test_tools::tolerance(1e-12));
  }
}

BOOST_AUTO_TEST_CASE(springs_of_joints_with_several_dofs_are_refused_by_name) {
  Scene scene;
  scene.add_body("loose", Shape::sphere(0.1), 1.0, {Mat3d::identity(), {0, 0, 1}});
  Parameters p = scene.parameters;
  p.spring_stiffness[4] = 1.0;
  try {
    scene.validate(p);
    BOOST_FAIL("taken");
  } catch (const std::invalid_argument& e) {
    BOOST_TEST(std::string(e.what()).find("parameters.spring_stiffness[4] = 1 of \"loose") !=
               std::string::npos);
  }
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace stiction::test
