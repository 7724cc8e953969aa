#include "stiction/model/state_io.hpp"
#include "stiction/simulator/simulator.hpp"

#include "model/joint.hpp"
#include "support/compliant_scenes.hpp"
#include <boost/test/unit_test.hpp>

#include <cmath>
#include <string>
#include <vector>

using namespace stiction;
using namespace stiction::test;

namespace {

/// World velocity and configuration after `duration`.
std::vector<double> end_of(const Scene& scene,
                           SimulatorSettings s,
                           const std::vector<double>& v,
                           double duration) {
  Simulator sim(scene, s);
  State state = sim.initial_state();
  for (std::size_t k = 0; k < v.size(); ++k) state.v[k] = v[k];
  const Control none;
  const int steps = static_cast<int>(std::lround(duration / s.dt));
  for (int k = 0; k < steps; ++k) {
    sim.step(state, none);
    BOOST_TEST_REQUIRE((sim.report().status == StepStatus::kOk));
  }
  std::vector<double> out(state.q.data(), state.q.data() + state.q.size());
  const Vec3d world =
      rotation_from_quaternion(state.q.data() + 3) * Vec3d{state.v[0], state.v[1], state.v[2]};
  for (int k = 0; k < 3; ++k) out.push_back(world[k]);
  for (int k = 3; k < 6; ++k) out.push_back(state.v[k]);
  return out;
}

double distance(const std::vector<double>& a, const std::vector<double>& b) {
  double worst = 0.0;
  for (std::size_t k = 0; k < a.size(); ++k) worst = std::max(worst, std::abs(a[k] - b[k]));
  return worst;
}

/// Observed orders at dt, dt / 2, dt / 4 against a fine reference.
void check_order(const Scene& scene,
                 const std::string& law,
                 const std::vector<double>& v,
                 double duration,
                 const std::string& integrator,
                 double dt,
                 double order,
                 double slack) {
  SimulatorSettings fine = settings("rk4", duration / 4096.0);
  fine.compliant.law = law;
  const std::vector<double> reference = end_of(scene, fine, v, duration);
  double last = 0.0;
  for (int k = 0; k < 3; ++k) {
    SimulatorSettings s = settings(integrator, dt / (1 << k));
    s.compliant.law = law;
    const double error = distance(end_of(scene, s, v, duration), reference);
    if (k > 0) {
      const double seen = std::log2(last / error);
      BOOST_TEST(std::abs(seen - order) < slack,
                 integrator << " " << law << ": order " << seen << ", error " << error);
    }
    last = error;
  }
}

}  // namespace

BOOST_AUTO_TEST_SUITE(compliant_motion_test)

// A ball that sticks, and a box whose four corners stick, on springs: no switch of mode.
BOOST_AUTO_TEST_CASE(order_while_sticking) {
  const Scene ball = body_on_ground(Shape::sphere(0.1), 2.0, 0.099, {1.0, 0.0, 1e4, 100.0});
  const Scene box =
      body_on_ground(Shape::box({0.1, 0.15, 0.05}), 2.0, 0.0495, {1.0, 0.0, 1e4, 100.0});
  const std::vector<double> v{0.001, 0.002, -0.01, 0.01, 0.02, 0.1};
  const std::vector<double> slow{0.001, 0.002, -0.01, 0.01, -0.008, 0.003};
  for (const char* law : {"continuous", "published"}) {
    for (const char* integrator : {"explicit-euler", "symplectic-euler", "implicit-euler"}) {
      check_order(box, law, slow, 0.016, integrator, 1.25e-4, 1.0, 0.15);
    }
    check_order(box, law, slow, 0.016, "rk4", 1e-3, 4.0, 0.4);
  }
  for (const char* integrator : {"explicit-euler", "symplectic-euler", "implicit-euler"})
    check_order(ball, "continuous", v, 0.016, integrator, 2.5e-4, 1.0, 0.15);
  check_order(ball, "continuous", v, 0.016, "rk4", 1e-3, 4.0, 0.4);
}

BOOST_AUTO_TEST_CASE(order_while_sliding) {
  const Scene box =
      body_on_ground(Shape::box({0.1, 0.15, 0.05}), 2.0, 0.0495, {0.2, 0.0, 1e4, 100.0});
  const std::vector<double> v{1.0, 0.4, -0.01, 0.0, 0.0, 1.0};
  for (const char* integrator : {"explicit-euler", "symplectic-euler", "implicit-euler"})
    check_order(box, "continuous", v, 0.02, integrator, 1.25e-4, 1.0, 0.15);
  check_order(box, "continuous", v, 0.02, "rk4", 1e-3, 4.0, 0.5);
}

// Depth m g / k of the pair at rest, whatever the number of points; hyperstatic: 4 points, 12 rows
// on 6 dofs.
BOOST_AUTO_TEST_CASE(rest_depth) {
  const double k = 2e4, mass = 3.0;
  for (const std::string& integrator : compliant_integrators()) {
    for (const bool per_point : {false, true}) {
      for (const int points : {1, 4}) {
        const Shape shape = points == 1 ? Shape::sphere(0.1) : Shape::box({0.1, 0.1, 0.1});
        const Scene scene = body_on_ground(shape, mass, 0.0995, {1.0, 0.0, k, 400.0});
        SimulatorSettings s = settings(integrator, integrator == "implicit-euler" ? 5e-3 : 2e-4);
        s.contact.per_point_stiffness = per_point;
        Simulator sim(scene, s);
        State state = sim.initial_state();
        sim.run(state, {}, 20000);
        const double depth = mass * kGravity / (k * (per_point ? points : 1));
        BOOST_TEST_CONTEXT(integrator << ", " << points << " points, per point " << per_point) {
          BOOST_TEST(std::abs((0.1 - state.q[2]) - depth) < 1e-12);
          BOOST_TEST(
              sim.report().elastic_energy == 0.5 * (per_point ? points : 1) * k * depth * depth,
              boost::test_tools::tolerance(1e-9));
          BOOST_TEST(std::abs(sim.wrench_on(0).force.z - mass * kGravity) < 1e-9);
        }
      }
    }
  }
}

// implicit-euler takes any stiffness and any step: a box at rest stays there.
BOOST_AUTO_TEST_CASE(huge_stiffness_and_step) {
  for (const double k : {1e-3, 1e5, 1e9}) {
    for (const double dt : {1e-3, 1.0}) {
      if (k < 1.0 && dt == 1.0) continue;  // 12 km deep by then
      const double depth = std::min(3.0 * kGravity / k, 1e-3);
      const Scene scene =
          body_on_ground(Shape::box({0.1, 0.1, 0.1}), 3.0, 0.1 - depth, {1.0, 0.0, k, 0.1 * k});
      Simulator sim(scene, settings("implicit-euler", dt));
      State state = sim.initial_state();
      sim.run(state, {}, 50);
      BOOST_TEST_CONTEXT("k " << k << " dt " << dt) {
        BOOST_TEST((sim.report().status == StepStatus::kOk));
        // Rests where it was put, or falls as if there were no spring: g dt^2 (1 + ... + 50).
        const double fallen = k >= 1e5 ? 0.0 : kGravity * dt * dt * 25.0 * 51.0;
        BOOST_TEST(std::abs(0.1 - depth - fallen - state.q[2]) < (k >= 1e5 ? 1e-9 : 1e-8));
      }
    }
  }
}

// On a slope the normal springs carry m g cos, the tangential ones m g sin, and nothing creeps.
BOOST_AUTO_TEST_CASE(slope) {
  const double angle = 0.4, k = 2e4, mass = 2.0;
  const Mat3d R = about_y(angle);
  for (const std::string& integrator : compliant_integrators()) {
    Scene scene;
    Material ground{0.8, 0.0, k, 400.0};
    ground.tangential_stiffness_ratio = 0.5;
    scene.add_half_space("slope", {0, 0, 0}, R.c2, ground);
    scene.add_body("box", Shape::box({0.1, 0.1, 0.05}), mass, {R, R * Vec3d{0, 0, 0.0495}}, {0.8});
    Simulator sim(scene, settings(integrator, 2e-4));
    State state = sim.initial_state();
    sim.run(state, {}, 10000);
    const Eigen::VectorXd before = state.q;
    sim.run(state, {}, 10000);
    BOOST_TEST_CONTEXT(integrator) {
      BOOST_TEST((state.q - before).norm() < 1e-12);
      Vec3d extension{0, 0, 0}, force{0, 0, 0};
      for (const ContactReport& c : sim.contacts()) {
        extension += c.frame * c.extension * 0.25;
        force += c.force_on_b_world;
      }
      BOOST_TEST(std::abs(force.z - mass * kGravity) < 1e-8);
      BOOST_TEST(std::abs(norm(extension) - mass * kGravity * std::sin(angle) / (0.5 * k)) < 1e-10);
    }
  }
}

// A block pulled by a spring through its servo sticks, then slides: it stays while the pull is
// below mu m g, and a sliding block loses mu g per second.
BOOST_AUTO_TEST_CASE(block_sticks_and_slides) {
  const double mu = 0.5, mass = 2.0;
  for (const std::string& integrator : compliant_integrators()) {
    const Scene scene = body_on_ground(Shape::box({0.1, 0.1, 0.05}),
                                       mass,
                                       0.05 - mass * kGravity / 2e4,
                                       {mu * mu, 0.0, 2e4, 200.0});
    Simulator sim(scene, settings(integrator, 1e-4));
    State state = sim.initial_state();
    Control pull;
    pull.wrenches.push_back({0, {0.9 * mu * mass * kGravity, 0, 0}, {0, 0, 0}});
    pull.wrenches[0].moment = {
        0, -0.05 * pull.wrenches[0].force.x, 0};  // at the ground: no tipping
    sim.run(state, pull, 20000);
    BOOST_TEST_CONTEXT(integrator) {
      BOOST_TEST(std::abs(state.v[0]) < 1e-9);
      BOOST_TEST(std::abs(state.q[0]) < 2e-3);
      pull.wrenches[0].force.x *= 2.0;
      pull.wrenches[0].moment.y *= 2.0;
      sim.run(state, pull, 5000);
      const double v1 = state.v[0];
      sim.run(state, pull, 5000);
      BOOST_TEST((sim.contacts()[0].sliding));
      BOOST_TEST((state.v[0] - v1) / 0.5 == (1.8 - 1.0) * mu * kGravity,
                 boost::test_tools::tolerance(1e-3));
    }
  }
}

// Saved and restored mid-slip, the motion continues bit for bit.
BOOST_AUTO_TEST_CASE(save_and_restore_while_sliding) {
  for (const char* law : {"continuous", "published"}) {
    for (const std::string& integrator : compliant_integrators()) {
      if (integrator == "exponential" && std::string(law) == "published") continue;
      const Scene scene =
          body_on_ground(Shape::box({0.1, 0.1, 0.05}), 2.0, 0.0495, {0.2, 0.0, 2e4, 100.0});
      SimulatorSettings s = settings(integrator, 1e-4);
      s.compliant.law = law;
      s.compliant.substeps = 2;
      Simulator sim(scene, s), other(scene, s);
      State state = sim.initial_state();
      state.v[0] = 1.0;
      state.v[5] = 3.0;
      sim.run(state, {}, 300);
      State copy = restore_state(save_state(state));
      BOOST_TEST((copy == state));
      bool any = false;
      for (const ContactMemory& m : copy.contacts) any = any || norm(m.extension) > 0.0;
      BOOST_TEST(any);
      sim.run(state, {}, 300);
      other.run(copy, {}, 300);
      BOOST_TEST((copy == state), integrator << " " << law);
      // Without the springs it goes elsewhere: they are part of the state.
      State cold = restore_state(save_state(state));
      for (ContactMemory& m : cold.contacts) m.extension = {0, 0, 0};
      sim.run(state, {}, 1);
      other.run(cold, {}, 1);
      BOOST_TEST(!(cold == state));
    }
  }
}

// Sub-steps are steps of dt / n with one report.
BOOST_AUTO_TEST_CASE(substeps) {
  for (const std::string& integrator : compliant_integrators()) {
    const Scene scene = body_on_ground(Shape::sphere(0.1), 2.0, 0.0999, {0.3, 0.0, 1e4, 50.0});
    SimulatorSettings coarse = settings(integrator, 1e-3), fine = settings(integrator, 2.5e-4);
    coarse.compliant.substeps = 4;
    Simulator a(scene, coarse), b(scene, fine);
    State x = a.initial_state(), y = b.initial_state();
    x.v[0] = y.v[0] = 0.4;
    for (int k = 0; k < 50; ++k) {
      a.step(x, {});
      double impulse = 0.0;
      for (int i = 0; i < 4; ++i) {
        b.step(y, {});
        impulse += b.contacts()[0].impulse.z;
      }
      BOOST_TEST(std::abs(a.contacts()[0].impulse.z - impulse) <= 1e-15 + 1e-12 * impulse);
    }
    BOOST_TEST((x.q - y.q).norm() == 0.0);
    BOOST_TEST((x.v - y.v).norm() == 0.0);
  }
}

BOOST_AUTO_TEST_CASE(newton_that_fails_is_a_status) {
  const Scene scene =
      body_on_ground(Shape::box({0.1, 0.1, 0.05}), 2.0, 0.2, {0.5, 0.0, 1e7, 100.0});
  SimulatorSettings s = settings("implicit-euler", 1e-2);
  s.compliant.newton_iterations = 1;
  s.compliant.newton_halvings = 0;
  Simulator sim(scene, s);
  State state = sim.initial_state();
  state.v[3] = 5.0;
  int failed = 0;
  for (int k = 0; k < 40; ++k) failed += sim.step(state, {}).status == StepStatus::kNotConverged;
  BOOST_TEST(failed > 0);
  BOOST_TEST(std::isfinite(state.q.sum()));
  s.compliant.newton_iterations = 30;
  s.compliant.newton_halvings = 8;
  Simulator better(scene, s);
  state = better.initial_state();
  state.v[3] = 5.0;
  for (int k = 0; k < 40; ++k) BOOST_TEST((better.step(state, {}).status == StepStatus::kOk));
}

// Between two stiff planes an explicit method with a large step only gains speed. The step that is
// not finite is taken back and says so; nothing is thrown.
BOOST_AUTO_TEST_CASE(blow_up_is_taken_back) {
  for (const char* integrator : {"explicit-euler", "rk4", "symplectic-euler"}) {
    Scene scene;
    const Material stiff{0.5, 0.0, 1e9, 1e6};
    scene.add_ground(stiff);
    scene.add_half_space("ceiling", {0, 0, 0.25}, {0, 0, -1}, stiff);
    scene.add_half_space("left", {-1, 0, 0}, {1, 0, 0}, stiff);
    scene.add_half_space("right", {1, 0, 0}, {-1, 0, 0}, stiff);
    scene.add_body("box", Shape::box({0.1, 0.1, 0.1}), 1.0, at(0, 0, 0.099), {0.5});
    Simulator sim(scene, settings(integrator, 1e-2));
    State state = sim.initial_state();
    state.v[3] = 1.0;
    bool seen = false;
    for (int k = 0; k < 1000 && !seen; ++k) {
      const State before = state;
      seen = sim.step(state, {}).status == StepStatus::kNotFinite;
      if (seen) BOOST_TEST((state == before));
    }
    BOOST_TEST(seen, integrator);
    BOOST_TEST(std::isfinite(state.q.sum() + state.v.sum()));
  }
}

// A servo's spring and damper: order 2 by Crank and Nicolson in explicit-euler and exponential, and
// stable at steps far beyond its period.
BOOST_AUTO_TEST_CASE(joint_springs) {
  Robot robot;
  robot.name = "r";
  robot.bodies.resize(1);
  robot.bodies[0].name = robot.bodies[0].joint_name = "slider";
  robot.bodies[0].joint = JointType::kPrismatic;
  robot.bodies[0].axis = {1, 0, 0};
  robot.bodies[0].mass = 2.0;
  robot.bodies[0].inertia = {0.01, 0, 0.01, 0, 0, 0.01};
  robot.dofs.resize(1);
  robot.neutral = {0.0};
  Scene scene;
  scene.add_robot(robot);
  scene.add_ground({0.5, 0.0, 1e5, 0.0});  // compliant integrators want a spring somewhere
  std::string integrator;
  const auto end = [&](double kp, double kd, double dt, double duration) {
    Scene copy = scene;
    copy.set_gains(0, kp, kd);
    Simulator sim(copy, settings(integrator, dt));
    State state = sim.initial_state();
    state.q[0] = 0.1;
    Control target;
    target.position_target = Eigen::VectorXd::Zero(1);
    sim.run(state, target, static_cast<int>(std::lround(duration / dt)));
    return state.q[0];
  };
  // m x'' + kd x' + kp x = 0 from 0.1 at rest.
  const double w = std::sqrt(200.0 / 2.0), z = 6.0 / (2.0 * 2.0 * w), t = 0.4;
  const double wd = w * std::sqrt(1.0 - z * z);
  const double exact =
      0.1 * std::exp(-z * w * t) * (std::cos(wd * t) + z * w / wd * std::sin(wd * t));
  for (const char* name : {"explicit-euler", "exponential"}) {
    integrator = name;
    const double coarse = std::abs(end(200.0, 6.0, 1e-2, t) - exact);
    const double fine = std::abs(end(200.0, 6.0, 5e-3, t) - exact);
    BOOST_TEST(std::abs(std::log2(coarse / fine) - 2.0) < 0.05,
               name << " " << coarse << " " << fine);
    BOOST_TEST(std::abs(end(1e9, 1e3, 1e-2, 10.0)) <= 0.1 + 1e-9);
  }
}

BOOST_AUTO_TEST_SUITE_END()
