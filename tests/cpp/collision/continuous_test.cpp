#include "stiction/geometry/triangle_mesh.hpp"
#include "stiction/simulator/simulator.hpp"

#include "support/manifolds.hpp"
#include <boost/test/unit_test.hpp>

#include <functional>
#include <string>

// A step of 1 ms moves a body by many times the thickness of what it meets: contact must be found
// before it happens, and only where it will.

namespace stiction::test {
namespace {

constexpr double kDt = 1e-3, kThickness = 1e-3, kRadius = 5e-3;

Shape mesh_box(const Vec3d& h) { return Shape::convex_mesh(box_corners(h)); }

/// A closed box of 12 triangles.
Shape triangle_box(const Vec3d& h) {
  // Corners are numbered by the bits x, y, z.
  return Shape::triangle_mesh(box_corners(h),
                              {0, 2, 1, 1, 2, 3, 4, 5, 6, 5, 7, 6, 0, 1, 4, 1, 5, 4,
                               2, 6, 3, 3, 6, 7, 0, 4, 2, 2, 4, 6, 1, 3, 5, 3, 7, 5});
}

Shape mesh_ball(double radius) {
  std::vector<Vec3d> points;
  for (int i = 0; i < 60; ++i) points.push_back(lattice_direction(i, 60) * radius);
  return Shape::convex_mesh(points);
}

SimulatorSettings settings() {
  SimulatorSettings s;
  s.dt = kDt;
  s.solver.tolerance = 1e-12;
  return s;
}

/// World velocities of a free body, which the state holds in the body's frame.
void set_velocity(State& state, int body, const Vec3d& linear, const Vec3d& angular) {
  const Mat3d R = rotation_from_quaternion(state.q.data() + 7 * body + 3);
  const Vec3d v = transpose_times(R, linear), w = transpose_times(R, angular);
  for (int k = 0; k < 3; ++k) {
    state.v[6 * body + k] = v[k];
    state.v[6 * body + 3 + k] = w[k];
  }
}

Vec3d velocity(const State& state, int body) {
  const double* v = state.v.data() + 6 * body;
  return rotation_from_quaternion(state.q.data() + 7 * body + 3) * Vec3d{v[0], v[1], v[2]};
}

/// A bullet thrown at a plate of 1 mm, half a metre wide.
struct Throw {
  Shape bullet = Shape::sphere(kRadius);
  Shape plate = Shape::box({0.25, 0.25, 0.5 * kThickness});
  bool plate_moves = false;
  Vec3d plate_velocity{0, 0, 0}, plate_spin{0, 0, 0}, bullet_spin{0, 0, 0};
  double speed = 10.0;
};

/// Height of the bullet's centre above the plate's middle plane at the end, in the plate's frame;
/// it starts above. NaN if a step failed.
double final_height(const Throw& t, Rng& rng) {
  const double start = rng.uniform(0.03, 0.06), speed = t.speed;
  const Vec3d aim{rng.uniform(-0.05, 0.05), rng.uniform(-0.05, 0.05), 0.0};
  Vec3d direction{rng.uniform(-0.5, 0.5), rng.uniform(-0.5, 0.5), -1.0};
  direction = direction * (1.0 / norm(direction));
  Scene scene;
  scene.parameters.gravity = {0, 0, 0};
  const Transform plate_pose = Transform::identity();
  const Transform bullet_pose{rotation(rng), aim + direction * (start / direction.z)};
  scene.add_body("bullet", t.bullet, 0.01, bullet_pose);
  if (t.plate_moves) scene.add_body("plate", t.plate, 100.0, plate_pose);
  if (!t.plate_moves) scene.add_geometry("plate", -1, t.plate, plate_pose);
  Simulator sim(scene, settings());
  State state = sim.initial_state();
  set_velocity(state, 0, direction * speed, t.bullet_spin);
  if (t.plate_moves) set_velocity(state, 1, t.plate_velocity, t.plate_spin);
  const Control none;
  const int steps = int(2.0 * start / (speed * -direction.z) / kDt) + 3;
  for (int k = 0; k < steps; ++k) {
    if (sim.step(state, none).status == StepStatus::kNotFinite) return NAN;
  }
  const std::vector<Transform> poses = sim.body_poses(state);
  const Transform plate = t.plate_moves ? poses[1] : plate_pose;
  return transpose_times(plate.R, poses[0].p - plate.p).z;
}

void check_stopped(const std::string& label, const Throw& t) {
  Rng rng(17);
  for (int trial = 0; trial < 60; ++trial) {
    const double height = final_height(t, rng);
    BOOST_TEST(height > 0.8 * kRadius, label << ", trial " << trial << ": ends at " << height);
  }
}

/// A convex shape of the same extents.
Shape outline(const Shape& s) {
  return s.surface != nullptr ? Shape::convex_mesh(s.surface->vertices) : s;
}

/// Largest change of either body's velocity when A flies past B with `beside` metres between.
double deflection(const Shape& a, const Shape& b, double speed, double beside, Rng& rng) {
  const Mat3d Ra = rotation(rng), Rb = rotation(rng);
  const Vec3d along = unit_vector(rng);
  Vec3d across = cross(along, unit_vector(rng));
  across = across * (1.0 / norm(across));
  const double wide = extent_along(outline(a), {Ra, {0, 0, 0}}, across) +
                      extent_along(outline(b), {Rb, {0, 0, 0}}, -across);
  Scene scene;
  scene.parameters.gravity = {0, 0, 0};
  const double before = rng.uniform(0.3, 0.5);
  scene.add_body("a", a, 0.01, {Ra, across * -(wide + beside) - along * before});
  scene.add_body("b", b, 0.5, {Rb, {0, 0, 0}});
  Simulator sim(scene, settings());
  State state = sim.initial_state();
  set_velocity(state, 0, along * speed, {0, 0, 0});
  const Control none;
  for (int k = 0; k < int(2.0 * before / speed / kDt) + 2; ++k) sim.step(state, none);
  return std::max(norm(velocity(state, 0) - along * speed), norm(velocity(state, 1)));
}

}  // namespace

BOOST_AUTO_TEST_SUITE(continuous_test)

// A ball of 1 cm across at 10 and 100 m/s against a plate of 1 mm: box or mesh, fixed, moving
// towards it, spinning; the ball a sphere or a mesh that spins too.
BOOST_AUTO_TEST_CASE(nothing_passes_a_thin_plate) {
  for (const double speed : {10.0, 100.0}) {
    const std::string at = " at " + std::to_string(int(speed)) + " m/s";
    for (const bool mesh_plate : {false, true}) {
      for (const bool as_mesh : {false, true}) {
        Throw t;
        t.speed = speed;
        const Vec3d h{0.25, 0.25, 0.5 * kThickness};
        if (mesh_plate) t.plate = mesh_box(h);
        if (as_mesh) t.bullet = mesh_ball(kRadius);
        const std::string what = std::string(as_mesh ? "mesh ball" : "ball") + " on " +
                                 (mesh_plate ? "mesh plate" : "plate") + at;
        check_stopped(what, t);
        t.bullet_spin = {300, -200, 100};
        check_stopped(what + ", spinning ball", t);
        t.plate_moves = true;
        t.plate_velocity = {0, 0, 5};
        check_stopped(what + ", approaching plate", t);
        t.plate_velocity = {3, -2, 0};
        t.plate_spin = {0, 0, 60};
        check_stopped(what + ", plate spinning in its plane", t);
        t.plate_velocity = {0, 0, 0};
        t.plate_spin = {5, 3, 0};
        check_stopped(what + ", plate turning over", t);
      }
    }
  }
}

// The same on surfaces: a closed triangle mesh of 1 mm and a height field.
BOOST_AUTO_TEST_CASE(nothing_passes_a_surface) {
  const double h = 0.5 * kThickness;
  for (const double speed : {10.0, 100.0}) {
    for (const bool as_mesh : {false, true}) {
      Throw t;
      t.speed = speed;
      if (as_mesh) t.bullet = mesh_ball(kRadius);
      const std::string what = (as_mesh ? "mesh ball at " : "ball at ") + std::to_string(speed);
      t.plate = triangle_box({0.25, 0.25, h});
      check_stopped(what + " on triangles", t);
      t.plate = Shape::height_field(5, 5, std::vector<double>(25, h), 0.125, 0.125);
      check_stopped(what + " on a height field", t);
    }
  }
}

// A thin box that spins end over end while it falls on a thin plate does not get through. (At 100
// m/s it would: stopped at a corner it turns by radians within the step.)
BOOST_AUTO_TEST_CASE(a_spinning_blade_does_not_pass) {
  Throw t;
  t.bullet = Shape::box({0.02, 0.01, 0.5e-3});
  t.bullet_spin = {200, 100, 50};
  Rng rng(23);
  for (int trial = 0; trial < 60; ++trial) {
    const double height = final_height(t, rng);
    BOOST_TEST(height > -0.1 * kThickness, "trial " << trial << ": ends at " << height);
  }
}

// A ball that flies in over the edge of a smooth plate and lands behind it, all in one step: the
// plate's normal acts, not the direction to the edge that was nearest before. It slides on at its
// speed without spin.
BOOST_AUTO_TEST_CASE(landing_behind_an_edge_keeps_the_speed) {
  Material smooth;
  smooth.friction = 0.0;
  for (const double before : {0.01, 0.03, 0.05}) {
    for (const bool as_mesh : {false, true}) {
      const Vec3d h{0.25, 0.25, 0.5 * kThickness};
      Scene scene;
      scene.parameters.gravity = {0, 0, 0};
      const double height = 0.5 * kThickness + kRadius + 0.004;
      const Transform start{Mat3d::identity(), {-0.25 - before, 0.02, height}};
      scene.add_body("ball", Shape::sphere(kRadius), 0.01, start, smooth);
      scene.add_geometry(
          "plate", -1, as_mesh ? mesh_box(h) : Shape::box(h), Transform::identity(), smooth);
      Simulator sim(scene, settings());
      State state = sim.initial_state();
      set_velocity(state, 0, {100, 0, -5}, {0, 0, 0});
      const Control none;
      for (int k = 0; k < 3; ++k) sim.step(state, none);
      const Vec3d v = velocity(state, 0);
      BOOST_TEST(std::abs(v.x - 100.0) <= 1e-9, "speed " << v.x << " from " << before);
      BOOST_TEST(std::abs(v.z) <= 1e-9);
      BOOST_TEST(norm(Vec3d{state.v[3], state.v[4], state.v[5]}) <= 1e-9);
      BOOST_TEST(std::abs(state.q[2] - 0.5 * kThickness - kRadius) <= 1e-9);
    }
  }
}

// What flies past 2 cm beside another body is not touched, at any speed and between any shapes.
BOOST_AUTO_TEST_CASE(no_ghost_contacts) {
  const std::vector<Shape> shapes = {Shape::sphere(0.01),
                                     Shape::box({0.02, 0.03, 0.01}),
                                     Shape::capsule(0.01, 0.03),
                                     mesh_ball(0.02),
                                     mesh_box({0.1, 0.02, 0.001}),
                                     Shape::cylinder(0.02, 0.03),
                                     triangle_box({0.02, 0.03, 0.01})};
  for (const double speed : {1.0, 10.0, 100.0}) {
    for (const Shape& a : shapes) {
      for (const Shape& b : shapes) {
        Rng rng(29);
        double worst = 0.0;
        for (int t = 0; t < 6; ++t) worst = std::max(worst, deflection(a, b, speed, 0.02, rng));
        BOOST_TEST(worst <= 1e-12 * speed,
                   to_string(a.type)
                       << " past " << to_string(b.type) << " at " << speed << " m/s: " << worst);
      }
    }
  }
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace stiction::test
