#include "stiction/simulator/simulator.hpp"

#include "model/joint.hpp"
#include <boost/test/unit_test.hpp>

#include <cmath>
#include <string>
#include <vector>

using namespace stiction;

// Orders of convergence through switches of stick and slip, and feet of different materials.

namespace {

constexpr double kGravity = 9.81;

SimulatorSettings settings(const std::string& integrator, double dt) {
  SimulatorSettings s;
  s.integrator = integrator;
  s.dt = dt;
  return s;
}

double difference(const State& a, const State& b) {
  return std::max((a.q - b.q).cwiseAbs().maxCoeff(), (a.v - b.v).cwiseAbs().maxCoeff());
}

/// Slides of a robot in a row, each on the one before or on the world.
Robot slides(const std::string& name, const std::vector<Vec3d>& axes, double mass) {
  Robot robot;
  robot.name = name;
  robot.bodies.resize(axes.size());
  for (std::size_t b = 0; b < axes.size(); ++b) {
    BodyDescription& body = robot.bodies[b];
    body.name = body.joint_name = name + std::to_string(b);
    body.parent = static_cast<int>(b) - 1;
    body.joint = JointType::kPrismatic;
    body.axis = axes[b];
    body.mass = b + 1 == axes.size() ? mass : 1e-9 * mass;
    body.inertia = {1e-3, 0, 1e-3, 0, 0, 1e-3};
  }
  robot.dofs.resize(axes.size());
  robot.neutral.assign(axes.size(), 0.0);
  return robot;
}

// A block on a belt, held by a spring to the wall: m x'' = -k x - d x' + friction. The belt is so
// heavy that the block does not slow it. Coordinates: belt, x and z of the block.
struct Belt {
  static constexpr double mass = 1.0, speed = 0.2, spring = 40.0, damper = 0.4, mu = 0.3;
  static constexpr double stiffness = 1e5, damping = 300.0;
  Scene scene;

  Belt() {
    scene.add_robot(slides("belt", {{1, 0, 0}}, 1e9));
    scene.add_geometry("belt",
                       0,
                       Shape::box({40.0, 1.0, 0.5}),
                       {Mat3d::identity(), {0, 0, -0.5}},
                       {mu, 0, stiffness, damping});
    scene.add_robot(slides("block", {{1, 0, 0}, {0, 0, 1}}, mass));
    scene.add_geometry("block", 2, Shape::sphere(0.05), {Mat3d::identity(), {0, 0, 0.05}}, {mu});
    scene.set_gains(1, spring, damper);
  }
  /// Behind where friction holds it: it slides, meets the belt's speed, sticks, and slides again.
  State start() const {
    State state = Simulator(scene, settings("rk4", 1e-3)).initial_state();
    state.q << 0.0, 0.0, -mass * kGravity / stiffness;
    state.v << speed, 0.0, 0.0;
    return state;
  }
  State end(const std::string& integrator,
            double dt,
            double duration,
            int* switches = nullptr) const {
    Simulator sim(scene, settings(integrator, dt));
    State state = start();
    const Control control = sim.hold();
    for (int k = 0; k < std::lround(duration / dt); ++k) {
      const StepReport& report = sim.step(state, control);
      BOOST_TEST_REQUIRE((report.status == StepStatus::kOk));
      if (switches != nullptr) *switches += report.switches;
    }
    return state;
  }
};

}  // namespace

BOOST_AUTO_TEST_SUITE(stick_slip_test)

// It slides, sticks to the belt, slides again: two switches at second order; in the end the spring
// holds it against the friction of the belt that goes on.
BOOST_AUTO_TEST_CASE(block_on_a_belt) {
  const Belt belt;
  const double duration = 1.0;
  const State reference = belt.end("rk4", 5e-6, duration);
  int switches = 0;
  double first = 0.0, last = 0.0;
  for (const double dt : {20e-3, 10e-3, 5e-3, 2.5e-3}) {
    switches = 0;
    last = difference(belt.end("exponential", dt, duration, &switches), reference);
    if (first == 0.0) first = last;
    BOOST_TEST_MESSAGE("dt " << dt << " error " << last << " switches " << switches);
    BOOST_TEST(switches == 2);
  }
  BOOST_TEST(std::log2(first / last) / 3.0 >= 1.8, first << " " << last);
  BOOST_TEST(last <= 1e-4);
  const double coarse = difference(belt.end("implicit-euler", 1e-3, duration), reference);
  const double fine = difference(belt.end("implicit-euler", 2.5e-4, duration), reference);
  BOOST_TEST(std::log2(coarse / fine) / 2.0 >= 0.8, coarse << " " << fine);
  BOOST_TEST(last < 0.2 * fine);
  const State held = belt.end("exponential", 0.01, 100.0);
  BOOST_TEST(std::abs(held.q[1] - Belt::mu * Belt::mass * kGravity / Belt::spring) <= 1e-7);
}

namespace {

// A table on four balls of rubber, wood, steel and something soft.
struct Table {
  static constexpr double mass = 4.0, radius = 0.02;
  const std::vector<double> stiffness{2e4, 3e5, 5e6, 6e3}, damping{60.0, 200.0, 900.0, 30.0};
  const std::vector<Vec3d> feet{
      {0.2, 0.15, -0.1}, {-0.2, 0.15, -0.1}, {0.2, -0.15, -0.1}, {-0.2, -0.15, -0.1}};
  Scene scene;

  Table() {
    scene.add_ground({0.8});
    const MassProperties top{mass, {0, 0, 0}, {0.05, 0, 0.08, 0, 0, 0.12}};
    scene.add_body("table", top, {Mat3d::identity(), {0, 0, 0.1 + radius - 1e-4}});
    for (std::size_t i = 0; i < feet.size(); ++i)
      scene.add_geometry("foot" + std::to_string(i),
                         0,
                         Shape::sphere(radius),
                         {Mat3d::identity(), feet[i]},
                         {0.8, 0.0, stiffness[i], damping[i]});
  }
  /// Pushed from rest.
  State end(const std::string& integrator, double dt, double duration, double push) const {
    Simulator sim(scene, settings(integrator, dt)), resting(scene, settings("exponential", 0.02));
    State state = sim.initial_state();
    resting.run(state, {}, 500);
    state.v[0] = push;
    state.v[5] = 2.0 * push;
    sim.run(state, {}, static_cast<int>(std::lround(duration / dt)));
    BOOST_TEST((sim.report().status == StepStatus::kOk));
    return state;
  }
};

}  // namespace

// At rest every foot is f / k deep, its own f and k, at steps far beyond the contacts' periods.
BOOST_AUTO_TEST_CASE(four_materials_at_rest) {
  const Table table;
  for (const char* integrator : {"exponential", "implicit-euler"}) {
    Simulator sim(table.scene, settings(integrator, 0.02));
    State state = sim.initial_state();
    sim.run(state, {}, 500);
    double total = 0.0, about_x = 0.0, about_y = 0.0;
    for (const ContactReport& c : sim.contacts()) {
      const double force = c.force_on_b_world.z, k = table.stiffness[c.geometry_b - 1];
      BOOST_TEST(std::abs(-c.gap - force / k) <= 1e-12);
      total += force;
      about_x += force * (c.position.y - state.q[1]);
      about_y += force * (c.position.x - state.q[0]);
    }
    BOOST_TEST(std::abs(total - table.mass * kGravity) <= 1e-7, integrator << " " << total);
    BOOST_TEST(std::abs(about_x) + std::abs(about_y) <= 1e-2);  // what tangential springs leave
    BOOST_TEST(state.v.norm() <= 1e-8);
  }
}

// Sticking on all four, their stiffness a thousand times apart: second order.
BOOST_AUTO_TEST_CASE(four_materials_second_order) {
  const Table table;
  const double duration = 0.06, push = 0.002;
  const State reference = table.end("rk4", 2e-6, duration, push);
  double last = 0.0;
  for (const double dt : {1e-2, 5e-3, 2.5e-3, 1.25e-3}) {
    const double error = difference(table.end("exponential", dt, duration, push), reference);
    BOOST_TEST_MESSAGE("dt " << dt << " error " << error);
    if (last > 0.0) BOOST_TEST(std::log2(last / error) >= 1.6, last << " " << error);
    last = error;
  }
  BOOST_TEST(last <= 1e-6);
}

BOOST_AUTO_TEST_SUITE_END()
