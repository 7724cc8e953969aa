#include "stiction/simulator/simulator.hpp"

#include "collision/scene/touch_rule.hpp"
#include "support/random_tree.hpp"
#include "support/solids.hpp"
#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <cmath>

// What meets within a step takes its impulse where it meets: closed forms of impacts that start at
// any gap.

namespace stiction::test {
namespace {

constexpr double kRadius = 0.05, kMass = 0.2;

Transform at(double x, double y, double z) { return {Mat3d::identity(), {x, y, z}}; }

Shape floor_shape(int kind) {
  constexpr int kSide = 9;
  if (kind == 0) return Shape::half_space();
  if (kind == 1) return Shape::box({4.0, 4.0, 1.0});
  const std::vector<double> heights(kSide * kSide, 0.0);
  if (kind == 2) return Shape::height_field(kSide, kSide, heights, 1.0, 1.0, 1.0);
  std::vector<Vec3d> vertices;
  std::vector<int> triangles;
  for (int i = 0; i < kSide; ++i) {
    for (int j = 0; j < kSide; ++j) {
      vertices.push_back({i - 4.0, j - 4.0, 0.0});
      if (i == 0 || j == 0) continue;
      const int k = kSide * i + j;
      for (const int v : {k - kSide - 1, k - 1, k, k - kSide - 1, k, k - kSide})
        triangles.push_back(v);
    }
  }
  return Shape::triangle_mesh(vertices, triangles);
}

/// A floor whose surface is z = 0, before or after what falls on it.
void add_floor(Scene& scene, int kind, const Material& m) {
  scene.add_geometry("floor", -1, floor_shape(kind), at(0, 0, kind == 1 ? -1.0 : 0.0), m);
}

struct Velocities {
  Vec3d v, w;
};

Velocities world_velocities(const State& s, int body = 0) {
  const double *q = s.q.data() + 7 * body, *v = s.v.data() + 6 * body;
  const Mat3d R = rotation_from_quaternion(q + 3);
  return {R * Vec3d{v[0], v[1], v[2]}, R * Vec3d{v[3], v[4], v[5]}};
}

/// After the impact of a ball with a floor z = 0: normal impulse m (1 + e) |v_z|, of which friction
/// takes what stops the slip, 2/7 m of it, or mu times as much.
Velocities bounced(const Velocities& x, double e, double mu) {
  const double normal = -(1.0 + e) * x.v.z;
  const Vec3d slip{x.v.x - kRadius * x.w.y, x.v.y + kRadius * x.w.x, 0.0};
  const double stops = 2.0 / 7.0 * norm(slip);
  const Vec3d f = slip * (-std::min(stops, mu * normal) / norm(slip));
  const Vec3d turn{kRadius * f.y, -kRadius * f.x, 0.0};
  return {x.v + f + Vec3d{0, 0, normal}, x.w + turn * (2.5 / (kRadius * kRadius))};
}

SimulatorSettings settings(double dt) {
  SimulatorSettings s;
  s.dt = dt;
  s.solver.tolerance = 1e-13;
  return s;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(touch_test)

BOOST_AUTO_TEST_CASE(a_spinning_ball_bounces_as_its_closed_form) {
  Rng rng(71);
  int stuck = 0, slid = 0;
  for (int trial = 0; trial < 480; ++trial) {
    const double dts[] = {2e-3, 1e-3, 2.5e-4}, dt = dts[trial % 3];
    const double e = trial % 2 == 0 ? 0.0 : 0.5, mu = rng.below(2) == 0 ? 0.1 : 0.6;
    const int kind = trial / 6 % 4;
    Scene scene;
    scene.parameters.gravity = {0, 0, 0};
    Material m;
    m.friction = mu;
    m.restitution = e;
    const bool first = rng.below(2) == 0;
    if (first) add_floor(scene, kind, m);
    const Velocities start{{rng.uniform(-1.0, 1.0), rng.uniform(-1.0, 1.0), -3.0},
                           uniform_vector(rng, 40.0)};
    const double gap = (rng.below(3) + rng.uniform(0.0, 0.98)) * 3.0 * dt;
    scene.add_body("ball", Shape::sphere(kRadius), kMass, at(0.23, 0.37, kRadius + gap), m);
    if (!first) add_floor(scene, kind, m);
    Simulator sim(scene, settings(dt));
    State state = sim.initial_state();
    state.v << start.v.x, start.v.y, start.v.z, start.w.x, start.w.y, start.w.z;
    for (int k = 0; k < 5; ++k) sim.step(state, {});
    const Velocities expected = bounced(start, e, mu), end = world_velocities(state);
    BOOST_TEST_CONTEXT("floor " << kind << " dt " << dt << " e " << e << " mu " << mu) {
      BOOST_TEST(norm(end.v - expected.v) < 1e-9 * norm(expected.v - start.v));
      BOOST_TEST(norm(end.w - expected.w) < 1e-9 * norm(expected.w - start.w));
    }
    const Vec3d slip{
        expected.v.x - kRadius * expected.w.y, expected.v.y + kRadius * expected.w.x, 0};
    ++(norm(slip) < 1e-9 ? stuck : slid);
  }
  BOOST_TEST(stuck > 100);
  BOOST_TEST(slid > 100);
}

// All points of a pair are moved by its least gap; what touches stays on the plane.
BOOST_AUTO_TEST_CASE(points_of_a_foot_stay_in_one_plane) {
  Rng rng(72);
  int open = 0, closed = 0;
  for (int trial = 0; trial < 60; ++trial) {
    Scene scene;
    scene.parameters.gravity = {0, 0, 0};
    add_floor(scene, 0, {});
    const double tilt = rng.uniform(-2e-3, 2e-3), c = std::cos(tilt), s = std::sin(tilt);
    const Transform X{{{c, 0, -s}, {0, 1, 0}, {s, 0, c}}, {0, 0, rng.uniform(0.0496, 0.0512)}};
    scene.add_body("foot", Shape::box({0.1, 0.07, 0.05}), 1.0, X);
    Simulator sim(scene, settings(1e-3));
    State state = sim.initial_state();
    state.v = Eigen::VectorXd::Zero(6);
    state.v[2] = -2.0;
    sim.step(state, {});
    const ContactSet& contacts = sim.contact_set();
    BOOST_TEST_REQUIRE(contacts.size() == 4u);
    double least = kInfinity;
    for (const Contact& k : contacts) least = std::min(least, k.gap);
    for (const Contact& k : contacts) {
      if (least <= 0.0) BOOST_TEST(std::abs(k.position.z) <= 1e-17);
      if (least > 0.0) BOOST_TEST(std::abs(k.position.z - least) < 1e-15);
    }
    open += least > 0.0;
    closed += least <= 0.0;
  }
  BOOST_TEST(open > 15);
  BOOST_TEST(closed > 5);
}

// What parts, and what rests but for rounding, has its contacts where the manifold has them.
BOOST_AUTO_TEST_CASE(what_does_not_come_closer_stays) {
  for (const double up : {0.0, 1e-6, 0.5}) {
    Scene scene;
    scene.parameters.gravity = {0, 0, 0};
    add_floor(scene, 0, {});
    scene.add_body("foot", Shape::box({0.1, 0.07, 0.05}), 1.0, at(0, 0, 0.05 + 1e-5));
    Simulator sim(scene, settings(1e-3));
    State state = sim.initial_state();
    state.v = Eigen::VectorXd::Zero(6);
    state.v[2] = up;
    sim.step(state, {});
    BOOST_TEST_REQUIRE(sim.contact_set().size() == 4u);
    for (const Contact& k : sim.contact_set()) {
      BOOST_TEST(k.gap > 0.0);
      BOOST_TEST(std::abs(k.position.z) <= 1e-17);
    }
  }
}

// A body that meets a floor and a wall in one step touches each by its own gap.
BOOST_AUTO_TEST_CASE(floor_and_wall_touch_by_themselves) {
  Rng rng(74);
  for (int trial = 0; trial < 30; ++trial) {
    Scene scene;
    scene.parameters.gravity = {0, 0, 0};
    add_floor(scene, 0, {});
    scene.add_geometry("wall", -1, Shape::box({0.1, 1, 1}), at(0.6, 0, 0.5));
    const double below = rng.uniform(1e-4, 1e-3), beside = rng.uniform(1e-4, 1e-3);
    scene.add_body("box", Shape::box({0.1, 0.07, 0.05}), 1.0, at(0.4 - beside, 0, 0.05 + below));
    Simulator sim(scene, settings(1e-3));
    State state = sim.initial_state();
    state.v = Eigen::VectorXd::Zero(6);
    state.v[0] = 2.0;
    state.v[2] = -2.0;
    sim.step(state, {});
    int floor = 0, wall = 0;
    for (const Contact& k : sim.contact_set()) {
      const bool level = std::abs(k.frame.c2.z) > 0.5;
      if (level) BOOST_TEST(std::abs(k.position.z - below) < 1e-12);
      if (!level) BOOST_TEST(std::abs(k.position.x - (0.5 - beside)) < 1e-12);
      ++(level ? floor : wall);
    }
    BOOST_TEST(floor == 4);
    BOOST_TEST(wall == 4);
  }
}

/// The angular momentum of two balls about the origin.
Vec3d angular_momentum(const State& s, const double (&mass)[2], const double (&radius)[2]) {
  Vec3d sum{0, 0, 0};
  for (int b = 0; b < 2; ++b) {
    const Velocities x = world_velocities(s, b);
    const double* q = s.q.data() + 7 * b;
    sum += cross(Vec3d{q[0], q[1], q[2]}, x.v * mass[b]) +
           x.w * (0.4 * mass[b] * radius[b] * radius[b]);
  }
  return sum;
}

// All of the gap of what arrives, nothing of what rests or parts, and no kink between them.
BOOST_AUTO_TEST_CASE(the_reach_follows_the_approach) {
  for (const double gap : {1e-9, 1e-6, 1e-4, 1e-2}) {
    for (const double x : {-1e9, -1.0, -1e-9, 0.0}) BOOST_TEST(touch_reach(gap, x * gap) == 0.0);
    for (const double x : {1.0, 1.0 + 1e-9, 2.0, 1e9}) BOOST_TEST(touch_reach(gap, x * gap) == gap);
    for (const double x : {-0.5, -1e-4, 1e-4, 0.3, 0.5, 0.7, 1.0 - 1e-4, 1.0 + 1e-4, 3.0}) {
      const double h = 1e-5 * gap, u = x * gap;
      const double by_gap = (touch_reach(gap + h, u) - touch_reach(gap - h, u)) / (2.0 * h),
                   by_approach = (touch_reach(gap, u + h) - touch_reach(gap, u - h)) / (2.0 * h);
      BOOST_TEST(std::abs(by_gap - touch_slope_by_gap(gap, u)) < 1e-4);
      BOOST_TEST(std::abs(by_approach - touch_slope_by_approach(gap, u)) < 1e-4);
    }
  }
  for (const double gap : {0.0, -1e-3, -1.0})
    for (const double x : {-1.0, 0.0, 1e-12, 1.0}) BOOST_TEST(touch_reach(gap, x) == 0.0);
}

// One point for both: angular momentum is kept, and impacts do not add energy.
BOOST_AUTO_TEST_CASE(two_balls_keep_their_angular_momentum) {
  Rng rng(73);
  int met = 0;
  for (int trial = 0; trial < 200; ++trial) {
    const double dt = trial % 2 == 0 ? 2e-3 : 2.5e-4;
    const double radius[2] = {trial % 3 == 0 ? kRadius : rng.uniform(0.02, 0.2), kRadius};
    const double mass[2] = {rng.uniform(0.1, 10.0), kMass};
    Scene scene;
    scene.parameters.gravity = {0, 0, 0};
    Material m;
    m.friction = rng.uniform(0.1, 1.5);
    m.restitution = trial % 4 == 0 ? 0.5 : 0.0;
    const Vec3d n = unit_vector(rng), p = uniform_vector(rng, 1.0);
    const double reach = radius[0] + radius[1] + rng.uniform(0.1, 2.9) * 3.0 * dt;
    scene.add_body("a", Shape::sphere(radius[0]), mass[0], {rotation(rng), p}, m);
    scene.add_body("b", Shape::sphere(radius[1]), mass[1], {rotation(rng), p + n * reach}, m);
    Simulator sim(scene, settings(dt));
    State state = sim.initial_state();
    const Vec3d v = n * -3.0 + uniform_vector(rng, 1.0);
    for (int b = 0; b < 2; ++b) {
      const Vec3d own =
                      transpose_times(rotation_from_quaternion(state.q.data() + 7 * b + 3), v * b),
                  spin = uniform_vector(rng, 30.0);
      for (int k = 0; k < 3; ++k) state.v[6 * b + k] = own[k], state.v[6 * b + 3 + k] = spin[k];
    }
    const Vec3d before = angular_momentum(state, mass, radius);
    double energy = kInfinity;
    for (int k = 0; k < 5; ++k) {
      sim.step(state, {});
      const double kinetic = sim.balance(state, {}).energy_after;
      BOOST_TEST(kinetic <= energy * (1.0 + 1e-12));
      energy = kinetic;
      for (const ContactReport& c : sim.contacts()) met += norm(c.force_on_b_world) > 0.0;
    }
    const Vec3d change = angular_momentum(state, mass, radius) - before;
    BOOST_TEST(norm(change) < 1e-13 * (norm(before) + mass[0] + mass[1]));
  }
  BOOST_TEST(met > 150);
}

// Two equal balls, each the mirror image of the other, end as mirror images.
BOOST_AUTO_TEST_CASE(equal_bodies_share_the_gap) {
  for (const double gap : {0.2e-3, 0.9e-3, 5e-3, 9e-3}) {
    Scene scene;
    scene.parameters.gravity = {0, 0, 0};
    Material m;
    m.friction = 0.8;
    for (const double side : {-1.0, 1.0})
      scene.add_body(side < 0.0 ? "a" : "b",
                     Shape::sphere(kRadius),
                     kMass,
                     at(0, 0, side * (kRadius + 0.5 * gap)),
                     m);
    Simulator sim(scene, settings(2e-3));
    State state = sim.initial_state();
    state.v << 1, 0, 3, 0, 5, 0, -1, 0, -3, 0, 5, 0;  // turned by pi about y
    for (int k = 0; k < 4; ++k) sim.step(state, {});
    const Velocities a = world_velocities(state, 0), b = world_velocities(state, 1);
    BOOST_TEST(norm(a.v + b.v) < 1e-13);
    BOOST_TEST(norm(a.w - b.w) < 1e-11);
    BOOST_TEST(std::abs(a.w.y - 5.0) > 1.0);
  }
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace stiction::test
