#include "stiction/simulator/simulator.hpp"

#include "dynamics/forest.hpp"
#include "support/random_tree.hpp"
#include "support/recovery.hpp"
#include <boost/test/unit_test.hpp>

#include <cmath>

// Position errors that are corrected at once: contacts that pinch a body or a tree through short
// levers, boxes that overlap, closures that disagree, in every mixture. Judged by speeds and by the
// energy after a step, from q and v alone.

namespace stiction {
namespace {

using test::Rng;
using test::Speeds;
using test::speeds;

constexpr double kDt = 1e-3;

double kinetic(const Scene& scene, const State& state) {
  DynamicsWorkspace work;
  work.resize(scene);
  forward_kinematics(scene, scene.parameters, state.q.data(), state.v.data(), work);
  double energy = 0.0;
  for (std::size_t t = 0; t < scene.trees().size(); ++t) {
    const Tree& tree = scene.trees()[t];
    for (int b = 0; b < tree.num_bodies; ++b) {
      const int body = tree.body_offset + b;
      const Transform& X = work.trees[t].X_RB[b];
      const Motion<double>& V = work.trees[t].V[b];
      const Vec3d v = V.linear + cross(V.angular, X * scene.parameters.com[body]);
      const Vec3d h = rotate(X.R, scene.parameters.inertia[body]) * V.angular;
      energy += 0.5 * (scene.parameters.mass[body] * dot(v, v) + dot(h, V.angular));
    }
  }
  return energy;
}

/// A ball on a body at p, pressed along n by a fixed one that it is `depth` inside of.
struct Press {
  Vec3d p, n;
  double depth;
};

void add_press(const Press& press, int body, const Transform& X_WB, double friction, Scene& scene) {
  constexpr double kRadius = 0.05;
  const std::string name = std::to_string(scene.geometries().size());
  scene.add_geometry("own" + name,
                     body,
                     Shape::sphere(kRadius),
                     {Mat3d::identity(), transpose_times(X_WB.R, press.p - X_WB.p)},
                     {friction});
  scene.add_geometry("fixed" + name,
                     -1,
                     Shape::sphere(kRadius),
                     {Mat3d::identity(), press.p - press.n * (2.0 * kRadius - press.depth)},
                     {friction});
}

/// 2 to 8 pairs of balls around one point of a random body of a random tree; the normals of two of
/// them are opposite, with a lever between 0.1 mm and 0.1 m.
Scene pinched_tree(Rng& rng) {
  Scene scene;
  scene.parameters.gravity = {0, 0, 0};
  scene.add_robot(test::random_robot(test::random_tree(rng)), test::pose(rng, 1.0));
  const int body = rng.below(scene.num_bodies()), count = 2 + rng.below(7);
  const Transform X_WB = Simulator(scene).body_poses(Simulator(scene).initial_state())[body];
  const Vec3d p = X_WB.p + test::unit_vector(rng) * rng.uniform(0.0, 0.3);
  const Vec3d n = test::unit_vector(rng);
  const double lever = std::pow(10.0, rng.uniform(-4.0, -1.0)), friction = rng.below(2) * 0.5;
  std::vector<std::pair<int, int>> pairs;
  for (int k = 0; k < count; ++k) {
    const Vec3d normal = k < 2 ? n * (1.0 - 2.0 * k) : test::unit_vector(rng);
    const Vec3d at = p + cross(normal, test::unit_vector(rng)) * lever;
    add_press({at, normal, std::pow(10.0, rng.uniform(-4.0, -1.5))}, body, X_WB, friction, scene);
    pairs.push_back({2 * k, 2 * k + 1});
  }
  scene.enable_only(pairs);
  return scene;
}

/// Boxes at random above a ground, most of them in each other; the first `closures` of them joined
/// by points that are far apart.
Scene heap(Rng& rng, int boxes, int closures) {
  Scene scene;
  scene.parameters.gravity = {0, 0, 0};
  scene.add_ground();
  for (int i = 0; i < boxes; ++i) {
    const Vec3d p{rng.uniform(-0.2, 0.2), rng.uniform(-0.2, 0.2), rng.uniform(0.1, 0.5)};
    scene.add_body(
        "b" + std::to_string(i), Shape::box({0.1, 0.08, 0.06}), 1.0, {test::rotation(rng), p});
  }
  for (int i = 0; i < closures; ++i) {
    scene.add_point_closure("c" + std::to_string(i),
                            i,
                            test::uniform_vector(rng, 0.1),
                            i + 1,
                            test::uniform_vector(rng, 0.1));
  }
  return scene;
}

/// The fastest, of the caps.
double share_of_caps(const Scene& scene, const State& state) {
  const ContactSettings caps;
  const Speeds s = speeds(scene, state);
  return std::max(s.linear() / caps.recovery_speed, s.angular() / caps.recovery_angular_speed);
}

SimulatorSettings strict() {
  SimulatorSettings settings;
  settings.dt = kDt;
  settings.solver.tolerance = 1e-10;
  return settings;
}

/// One step from rest: the bar of speeds, and energy within the report's.
void check_one_step(const Scene& scene) {
  Simulator sim(scene, strict());
  State state = sim.initial_state();
  const StepReport report = sim.step(state, {});
  BOOST_TEST((report.status == StepStatus::kOk));
  BOOST_TEST(share_of_caps(scene, state) <= 1.05);
  BOOST_TEST(kinetic(scene, state) <= 0.505 * report.recovery_energy + 1e-12);
  BOOST_TEST(report.factorisations <= sim.most_factorisations());
}

/// Whether the corrections of a scene, each harmless by itself, would be too fast together.
bool would_harm(const Scene& scene) {
  Simulator sim(scene, strict());
  State state = sim.initial_state();
  sim.prepare(state, {});
  ContactSolution solution;
  SolverWorkspace work;
  solve(sim.problem(), sim.settings().solver, work, solution);
  sim.advance(state, solution.impulse);
  return share_of_caps(scene, state) > 1.05;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(recovery_together_test)

// 1 kg and 0.01 kg m^2 between two balls that press 4 mm aside of each other: the levers ask for
// c* / l = 250 rad/s, where each ball alone asks for 0.1 rad/s.
BOOST_AUTO_TEST_CASE(a_pinched_body) {
  constexpr double kLever = 2e-3;
  BodyDescription body;
  body.name = "body";
  body.joint = JointType::kFreeFlyer;
  body.mass = 1.0;
  body.inertia = {0.01, 0, 0.01, 0, 0, 0.01};
  Scene scene;
  scene.parameters.gravity = {0, 0, 0};
  scene.add_robot(test::random_robot({body}));
  const Transform I = Transform::identity();
  add_press({{0, -kLever, 0}, {1, 0, 0}, 0.01}, 0, I, 0.0, scene);
  add_press({{0, kLever, 0}, {-1, 0, 0}, 0.01}, 0, I, 0.0, scene);
  scene.enable_only({{0, 1}, {2, 3}});
  BOOST_TEST(would_harm(scene));
  Simulator sim(scene, strict());
  State state = sim.initial_state();
  for (int k = 0; k < 500; ++k) {
    const double before = kinetic(scene, state);
    const StepReport report = sim.step(state, {});
    BOOST_TEST_REQUIRE((report.status == StepStatus::kOk));
    BOOST_TEST_REQUIRE(share_of_caps(scene, state) <= 1.1);
    const double gained = kinetic(scene, state) - before;
    BOOST_TEST_REQUIRE(gained <= report.recovery_energy + 2e-12);  // the body turns within steps
    if (k > 0) continue;
    BOOST_TEST(share_of_caps(scene, state) > 0.95);  // not slower than need be
    BOOST_TEST(report.recovery_energy <= 2.02 * gained);
  }
}

BOOST_AUTO_TEST_CASE(pinched_trees) {
  Rng rng(1);
  int harmful = 0;
  for (int trial = 0; trial < 300; ++trial) {
    const Scene scene = pinched_tree(rng);
    harmful += would_harm(scene);
    BOOST_TEST_CONTEXT("trial " << trial) { check_one_step(scene); }
  }
  BOOST_TEST(harmful > 50);
}

BOOST_AUTO_TEST_CASE(heaps_and_closures) {
  Rng rng(2);
  int harmful = 0;
  for (int trial = 0; trial < 60; ++trial) {
    constexpr int kFamilies[4][2] = {{2, 1}, {5, 4}, {5, 0}, {8, 0}};
    const auto [boxes, closures] = kFamilies[trial % 4];
    const Scene scene = heap(rng, boxes, closures);
    harmful += would_harm(scene);
    BOOST_TEST_CONTEXT("trial " << trial) { check_one_step(scene); }
  }
  BOOST_TEST(harmful > 20);
}

// Nothing can be corrected between walls that are too close: it rests, and nothing is reported.
BOOST_AUTO_TEST_CASE(a_box_between_planes) {
  Scene scene;
  scene.parameters.gravity = {0, 0, 0};
  scene.add_half_space("left", {-0.1, 0, 0}, {1, 0, 0});
  scene.add_half_space("right", {0.1, 0, 0}, {-1, 0, 0});
  scene.add_body("box", Shape::box({0.1001, 0.1001, 0.1001}), 1.0, Transform::identity());
  Simulator sim(scene, strict());
  State state = sim.initial_state();
  double reported = 0.0;
  for (int k = 0; k < 200; ++k) {
    const StepReport report = sim.step(state, {});
    reported += std::max(0.0, report.recovery_energy);
    BOOST_TEST(report.num_contacts > 0);
    BOOST_TEST((report.status == StepStatus::kOk));
    BOOST_TEST(kinetic(scene, state) <= 1e-9);
  }
  BOOST_TEST(reported <= 1e-3);
}

// The same with weight along the walls, which are 2 mm too close. That nothing can be corrected is
// seen at once. No force squeezes the box, so that it falls. When a wall goes away the other one
// pushes it out.
BOOST_AUTO_TEST_CASE(a_box_falls_between_walls_that_are_too_close) {
  Scene scene;
  scene.parameters.gravity = {0, 0, -9.81};
  const auto wall = [&](const char* name, double x) {
    scene.add_geometry(
        name, -1, Shape::box({0.1, 1.0, 1.0}), {Mat3d::identity(), {x, 0, 0}}, {0.5});
  };
  wall("left", -0.2 + 1e-3);
  wall("right", 0.2 - 1e-3);
  scene.add_body("box", Shape::box({0.1, 0.1, 0.1}), 1.0, Transform::identity(), {0.5});
  Simulator sim(scene, strict());
  State state = sim.initial_state();
  for (int k = 0; k < 100; ++k) {
    const StepReport report = sim.step(state, {});
    BOOST_TEST_REQUIRE((report.status == StepStatus::kOk));
    BOOST_TEST(report.factorisations <= 5);
    double largest = 0.0;
    for (double l : sim.solution().impulse) largest = std::max(largest, std::abs(l));
    BOOST_TEST(largest <= 2.0 * ContactSettings{}.recovery_speed);  // of 1 kg
    const double speed = 9.81 * 1e-3 * (k + 1);
    BOOST_TEST(std::abs(kinetic(scene, state) - 0.5 * speed * speed) <= 1e-9);
  }
  sim.parameters().geometry_placement[1].p.x += 0.01;
  sim.step(state, {});
  BOOST_TEST(state.v[0] > 1e-3);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace stiction
