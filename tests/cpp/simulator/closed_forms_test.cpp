#include "stiction/simulator/simulator.hpp"

#include "support/random.hpp"
#include <boost/test/unit_test.hpp>

#include <cmath>

using namespace stiction;
using stiction::test::Rng;

namespace {

constexpr double kGravity = 9.81;

Transform at(double x, double y, double z) { return {Mat3d::identity(), {x, y, z}}; }

Mat3d about_y(double angle) {
  const double c = std::cos(angle), s = std::sin(angle);
  return {{c, 0, -s}, {0, 1, 0}, {s, 0, c}};
}

SimulatorSettings settings(double dt = 1e-3, double tolerance = 1e-12) {
  SimulatorSettings s;
  s.dt = dt;
  s.solver.tolerance = tolerance;
  s.solver.max_iterations = 20000;
  return s;
}

MassProperties unit_ball(double mass, double radius) {
  const double i = 0.4 * mass * radius * radius;
  return {mass, {0, 0, 0}, {i, 0, i, 0, 0, i}};
}

/// World velocity of a free body's origin.
Vec3d world_velocity(const State& s) {
  return rotation_from_quaternion(s.q.data() + 3) * Vec3d{s.v[0], s.v[1], s.v[2]};
}

Robot pendulum(double length, double mass) {
  Robot robot;
  robot.name = "pendulum";
  BodyDescription b;
  b.name = "rod";
  b.axis = {0, 1, 0};
  b.mass = mass;
  b.com = {0, 0, -length};
  b.inertia = {1e-9, 0, 1e-9, 0, 0, 1e-9};
  robot.bodies = {b};
  robot.dofs.resize(1);
  robot.neutral = {0.0};
  return robot;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(closed_forms_test)

// Symplectic Euler in free fall: v_k = k g dt, z_k = z_0 - g dt^2 k (k + 1) / 2, whatever the spin.
BOOST_AUTO_TEST_CASE(free_fall_is_exact_for_a_spinning_body) {
  Scene scene;
  scene.add_body("ball", unit_ball(2.0, 0.1), at(0, 0, 0));
  Simulator sim(scene, settings());
  State state = sim.initial_state();
  state.v << 0.3, -0.2, 1.0, 40.0, -25.0, 60.0;
  const Vec3d v0 = world_velocity(state);
  const Control none;
  for (int k = 1; k <= 2000; ++k) {
    sim.step(state, none);
    const Vec3d v = world_velocity(state);
    BOOST_REQUIRE_SMALL(v.x - v0.x, 1e-11);
    BOOST_REQUIRE_SMALL(v.z - (v0.z - kGravity * 1e-3 * k), 1e-11);
    BOOST_REQUIRE_SMALL(state.q[2] - (v0.z * 1e-3 * k - kGravity * 1e-6 * 0.5 * k * (k + 1.0)),
                        1e-11);
  }
}

// A body spinning about a principal axis keeps its angular velocity and turns by w t.
BOOST_AUTO_TEST_CASE(spin_about_a_principal_axis_is_exact) {
  Scene scene;
  scene.parameters.gravity = {0, 0, 0};
  scene.add_body("top", MassProperties{1.0, {0, 0, 0}, {0.1, 0, 0.2, 0, 0, 0.3}}, at(0, 0, 0));
  Simulator sim(scene, settings());
  State state = sim.initial_state();
  state.v << 0, 0, 0, 0, 0, 7.0;
  const Control none;
  for (int k = 0; k < 1000; ++k) sim.step(state, none);
  BOOST_TEST(state.v[5] == 7.0);
  BOOST_REQUIRE_SMALL(state.q[5] - std::sin(3.5), 1e-12);
  BOOST_REQUIRE_SMALL(state.q[6] - std::cos(3.5), 1e-12);
}

// Small swing of a point mass: period 2 pi sqrt(l / g) (1 + a^2 / 16), first order in dt.
BOOST_AUTO_TEST_CASE(pendulum_converges_at_first_order) {
  double error[3];
  for (int level = 0; level < 3; ++level) {
    Scene scene;
    scene.add_robot(pendulum(1.0, 1.0));
    const double dt = 2e-3 / (1 << level);
    Simulator sim(scene, settings(dt));
    State state = sim.initial_state();
    state.q[0] = 0.1;
    const Control none;
    // Reference: the same equation at dt / 64 by RK4, independent of the library.
    double q = 0.1, v = 0.0;
    const double h = 1e-5;
    for (int k = 0; k < 100000; ++k) {
      const auto f = [](double x) { return -kGravity * std::sin(x); };
      const double k1 = f(q), k2 = f(q + 0.5 * h * v), k3 = f(q + 0.5 * h * v + 0.25 * h * h * k1),
                   k4 = f(q + h * v + 0.5 * h * h * k2);
      q += h * v + h * h / 6.0 * (k1 + k2 + k3);
      v += h / 6.0 * (k1 + 2 * k2 + 2 * k3 + k4);
    }
    for (int k = 0; k < 500 << level; ++k) sim.step(state, none);
    error[level] = std::abs(state.q[0] - q);
  }
  BOOST_TEST(std::abs(std::log2(error[0] / error[1]) - 1.0) < 0.15);
  BOOST_TEST(std::abs(std::log2(error[1] / error[2]) - 1.0) < 0.15);
}

// A box on a slope sticks below atan(mu) and accelerates with g (sin - mu cos) above.
BOOST_AUTO_TEST_CASE(slope_sticks_below_and_slides_above_the_cone) {
  for (const double angle : {0.1, 0.3, 0.45, 0.6, 0.9}) {
    const double mu = 0.5;
    Scene scene;
    const Mat3d R = about_y(angle);
    scene.add_half_space("slope", {0, 0, 0}, R * Vec3d{0, 0, 1}, {mu});
    scene.add_body("box", Shape::box({0.2, 0.2, 0.05}), 1.0, {R, R * Vec3d{0, 0, 0.05}}, {mu});
    Simulator sim(scene, settings());
    State state = sim.initial_state();
    const Control none;
    for (int k = 0; k < 300; ++k) sim.step(state, none);
    const double expected =
        std::tan(angle) < mu ? 0.0 : kGravity * (std::sin(angle) - mu * std::cos(angle)) * 0.3;
    BOOST_TEST_CONTEXT("angle " << angle) {
      BOOST_TEST(std::abs(norm(world_velocity(state)) - expected) < 1e-9);
    }
  }
}

// A cube sliding at v stops after N = floor(v / (mu g dt)) steps at dt sum (v - k mu g dt).
BOOST_AUTO_TEST_CASE(cube_slide_stops_at_the_discrete_distance) {
  const double mu = 0.4, dt = 1e-3;
  for (const double speed : {1.0, 0.37, 2.5}) {
    Scene scene;
    scene.add_ground({mu});
    scene.add_body("cube", Shape::box({0.1, 0.1, 0.1}), 1.0, at(0, 0, 0.1), {mu});
    Simulator sim(scene, settings(dt));
    State state = sim.initial_state();
    state.v[1] = speed;
    const Control none;
    for (int k = 0; k < 1000; ++k) sim.step(state, none);
    const int n = static_cast<int>(std::floor(speed / (mu * kGravity * dt)));
    double distance = 0.0;
    for (int k = 1; k <= n; ++k) distance += dt * (speed - k * mu * kGravity * dt);
    BOOST_TEST(std::abs(state.q[1] - distance) < 1e-9);
    BOOST_TEST(std::abs(state.q[0]) < 1e-9);
    BOOST_TEST(std::abs(state.v[1]) < 1e-9);
  }
}

// ContactBench's cube on eight corner spheres ends where its NCP solvers end: y = -0.873079.
BOOST_AUTO_TEST_CASE(cube_on_corner_spheres_matches_the_oracle) {
  const double mu = 0.4, a = 0.1;
  Scene scene;
  scene.add_ground({mu});
  const double i = 1.0 / 6.0 * 0.04;
  const int body = scene.add_body(
      "cube", MassProperties{1.0, {0, 0, 0}, {i, 0, i, 0, 0, i}}, at(0, -1.0, a + 0.004));
  for (int k = 0; k < 8; ++k) {
    const Vec3d corner{k & 1 ? a : -a, k & 2 ? a : -a, k & 4 ? a : -a};
    scene.add_geometry("corner" + std::to_string(k),
                       body,
                       Shape::sphere(0.004),
                       {Mat3d::identity(), corner},
                       {mu});
  }
  SimulatorSettings s = settings(1e-3, 1e-10);
  s.contact.baumgarte = 1e-4;
  Simulator sim(scene, s);
  State state = sim.initial_state();
  state.v[1] = 1.0;
  const Control none;
  for (int k = 0; k < 600; ++k) sim.step(state, none);
  BOOST_TEST(std::abs(state.q[1] + 0.873079) < 5e-7);
}

// A ball that starts sliding ends rolling at 5/7 of its speed.
BOOST_AUTO_TEST_CASE(sliding_ball_ends_rolling_at_five_sevenths) {
  const double radius = 0.05;
  for (const double speed : {1.0, 3.3}) {
    Scene scene;
    scene.add_ground({0.3});
    scene.add_body("ball", Shape::sphere(radius), 0.4, at(0, 0, radius), {0.3});
    Simulator sim(scene, settings());
    State state = sim.initial_state();
    state.v[0] = speed;
    const Control none;
    for (int k = 0; k < 2000; ++k) sim.step(state, none);
    const Vec3d v = world_velocity(state);
    BOOST_TEST(std::abs(v.x - 5.0 / 7.0 * speed) < 1e-9);
    BOOST_TEST(std::abs(v.y) < 1e-9);
  }
}

// Newton restitution: the speed after the impact step is e times the speed before it.
BOOST_AUTO_TEST_CASE(rebound_speed_is_e_times_impact_speed) {
  Rng rng(21);
  for (int trial = 0; trial < 100; ++trial) {
    const double e = rng.uniform(0.2, 0.95), height = rng.uniform(0.2, 3.0);
    Scene scene;
    scene.add_ground({0.5, e});
    scene.add_body("ball", Shape::sphere(0.05), 0.2, at(0, 0, height), {0.5, 0.0});
    Simulator sim(scene, settings());
    State state = sim.initial_state();
    const Control none;
    double before = 0.0;
    bool bounced = false;
    for (int k = 0; k < 2000 && !bounced; ++k) {
      before = state.v[2];
      sim.step(state, none);
      bounced = state.v[2] > 0.0;
    }
    BOOST_REQUIRE(bounced);
    BOOST_TEST(std::abs(state.v[2] + e * before) < 1e-9);
  }
}

// At rest on a spring: depth m g / k for the pair, whatever the number of points, m g / (k n) per
// point.
BOOST_AUTO_TEST_CASE(rest_depth_follows_the_stiffness) {
  const double k = 2e4, d = 200.0, mass = 3.0;
  for (const bool per_point : {false, true}) {
    for (const int points : {1, 4}) {
      Scene scene;
      scene.add_ground({0.5, 0.0, k, d});
      const Shape shape = points == 1 ? Shape::sphere(0.1) : Shape::box({0.1, 0.1, 0.1});
      scene.add_body("body", shape, mass, at(0, 0, 0.1), {0.5});
      SimulatorSettings s = settings();
      s.contact.per_point_stiffness = per_point;
      Simulator sim(scene, s);
      State state = sim.initial_state();
      const Control none;
      for (int i = 0; i < 6000; ++i) sim.step(state, none);
      const double depth = mass * kGravity / (k * (per_point ? points : 1));
      BOOST_TEST_CONTEXT(points << " points, per point " << per_point) {
        BOOST_TEST(sim.report().num_contacts == points);
        BOOST_TEST(std::abs((0.1 - state.q[2]) - depth) < 1e-10);
      }
    }
  }
}

// Two bodies that start 5 cm inside each other part with at most the recovery speed:
// kinetic energy <= 1/2 m_reduced v_cap^2.
BOOST_AUTO_TEST_CASE(interpenetrating_start_gains_bounded_energy) {
  Scene scene;
  scene.parameters.gravity = {0, 0, 0};
  scene.add_ground({0.5});
  scene.add_body("box", Shape::box({0.1, 0.1, 0.1}), 2.0, at(0, 0, 0.05), {0.5});
  Simulator sim(scene, settings());
  State state = sim.initial_state();
  const Control none;
  for (int k = 0; k < 3000; ++k) sim.step(state, none);
  const double v_cap = sim.settings().contact.recovery_speed;
  BOOST_TEST(state.q[2] > 0.0999);
  BOOST_TEST(sim.report().kinetic_energy <= 0.5 * 2.0 * v_cap * v_cap * (1.0 + 1e-9));
}

// A cube on a 15 degree slope at any yaw does not creep: the printed drift is per simulated hour.
BOOST_AUTO_TEST_CASE(cube_on_a_slope_does_not_creep) {
  Rng rng(4);
  const double angle = 15.0 * 3.14159265358979323846 / 180.0, mu = 0.8;
  double worst = 0.0;
  for (int trial = 0; trial < 4; ++trial) {
    const double yaw = rng.uniform(0.0, 6.28), c = std::cos(yaw), s = std::sin(yaw);
    const Mat3d slope = about_y(angle), R = slope * Mat3d{{c, s, 0}, {-s, c, 0}, {0, 0, 1}};
    Scene scene;
    scene.add_half_space("slope", {0, 0, 0}, slope.c2, {mu});
    scene.add_body("cube", Shape::box({0.1, 0.1, 0.1}), 1.0, {R, slope * Vec3d{0, 0, 0.1}}, {mu});
    Simulator sim(scene, settings(1e-3, 1e-12));
    State state = sim.initial_state();
    const Control none;
    for (int k = 0; k < 1000; ++k) sim.step(state, none);
    const Vec3d start{state.q[0], state.q[1], state.q[2]};
    const int steps = 20000;
    for (int k = 0; k < steps; ++k) sim.step(state, none);
    const double drift = norm(Vec3d{state.q[0], state.q[1], state.q[2]} - start) * 3.6e6 / steps;
    BOOST_TEST_MESSAGE("yaw " << yaw << ": drift " << drift << " m per simulated hour");
    worst = std::max(worst, drift);
  }
  BOOST_TEST(worst < 1e-6);
}

BOOST_AUTO_TEST_SUITE_END()
