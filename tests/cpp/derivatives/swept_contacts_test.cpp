#include "stiction/simulator/simulator.hpp"

#include "support/random_tree.hpp"
#include "support/random_world.hpp"
#include "support/solids.hpp"
#include "support/step_differences.hpp"
#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <cmath>

// Steps in which a body is so fast that its contact is found at a later moment.

namespace stiction::test {
namespace {

struct Throw {
  Scene scene;
  SimulatorSettings settings;
  State state;
  Control control;
};

/// A wall whose face is at x = 0.1 m.
struct Wall {
  Shape shape;
  Transform X{Mat3d::identity(), {0, 0, 0}};
};

const Vec3d kHalf{0.1, 0.9, 0.9};

Wall box_wall() { return {Shape::box(kHalf)}; }

std::vector<Vec3d> corners_of_wall() {
  std::vector<Vec3d> corners;
  for (int k = 0; k < 8; ++k)
    corners.push_back(
        {k & 1 ? kHalf.x : -kHalf.x, k & 2 ? kHalf.y : -kHalf.y, k & 4 ? kHalf.z : -kHalf.z});
  return corners;
}
Wall hull_wall() { return {Shape::convex_mesh(corners_of_wall())}; }
Wall mesh_wall() {
  const Shape hull = Shape::convex_mesh(corners_of_wall());
  return {Shape::triangle_mesh(hull.mesh->vertices, hull.mesh->triangles)};
}
/// Level, its z axis along x; what flies at its middle meets the inside of a triangle.
Wall field_wall() {
  const std::vector<double> heights(49, 0.0);
  return {Shape::height_field(7, 7, heights, 0.3, 0.3, 1.0),
          {{{0, 1, 0}, {0, 0, 1}, {1, 0, 0}}, {kHalf.x, 0.07, 0.11}}};
}

/// At the middle of a fixed wall, from `gap` [m], so fast that it arrives within the step.
Throw thrown(Rng& rng, const Shape& shape, double spin, const Wall& wall = box_wall()) {
  Throw w;
  Material material;
  material.friction = rng.uniform(0.1, 1.0);
  if (rng.below(3) == 0) material.restitution = 0.5;
  const Transform X = pose(rng, 1.0);
  const bool first = rng.below(2) == 0;
  const double gap = rng.uniform(0.02, 0.04), reach = bounding_radius(shape);
  const auto add_wall = [&] { w.scene.add_geometry("wall", -1, wall.shape, X * wall.X, material); };
  if (first) add_wall();
  w.scene.add_body("body",
                   shape,
                   rng.uniform(0.1, 10.0),
                   {rotation(rng), X * Vec3d{kHalf.x + gap + reach, 0.0, 0.0}},
                   material);
  if (!first) add_wall();
  w.settings.dt = 0.01;
  w.settings.solver.tolerance = 1e-13;
  w.settings.contact.baumgarte = 1.0;
  w.state = Simulator(w.scene, w.settings).initial_state();
  const Vec3d v = X.R * Vec3d{-rng.uniform(10.0, 14.0), rng.uniform(-2.0, 2.0), 0.5},
              own = transpose_times(rotation_from_quaternion(w.state.q.data() + 3), v),
              turn = uniform_vector(rng, spin);
  for (int i = 0; i < 3; ++i) w.state.v[i] = own[i], w.state.v[3 + i] = turn[i];
  w.control.torque = random_vector(rng, 6);
  return w;
}

struct Tally {
  int steps = 0, exact = 0, right_q = 0, sizes = 0, torques = 0;
};
void judge(const Throw& w, Tally& tally) {
  Simulator simulator(w.scene, w.settings);
  State next = w.state;
  simulator.step(next, w.control);
  const ContactSet& contacts = simulator.contact_set();
  const bool swept = std::any_of(
      contacts.begin(), contacts.end(), [](const Contact& c) { return c.witness.swept; });
  if (!swept) return;
  const StepDerivatives d = simulator.step_derivatives({"geometry_size"});
  const double least = *std::min_element(d.report.margin.begin(), d.report.margin.end());
  if (least < 1e-4) return;
  const ColumnErrors e = column_errors(simulator, w.state, w.control, dense(d));
  ++tally.steps;
  tally.exact += d.report.exact();
  tally.right_q += e.worst(0, 6) < 1e-6;
  // What the contacts hold altogether feels no torque: its differences are rounding.
  constexpr double kHeld = 1e-12;
  const bool feels = dense(d).middleCols(12, 6).cwiseAbs().maxCoeff() > kHeld;
  tally.torques += feels;
  if (feels) BOOST_TEST(e.worst(12, 6) < 1e-6);
  if (!d.report.exact()) return;
  for (int block = 0; block < 3; ++block)
    BOOST_TEST(e.worst(6 * block, 6) < 1e-6, "block " << block << ": " << e.worst(6 * block, 6));
  for (int j = 0; j < 6; ++j) {
    double& size = simulator.parameters().geometry_size[j / 3][j % 3];
    if (size == 0.0) continue;
    const double at = size;
    const ColumnCheck check =
        check_column(simulator, w.state, w.control, next, d.P.col(j).head(12), at, [&](double h) {
          size = at + h;
        });
    BOOST_TEST(check.error() <= 1.0, "size " << j << ": " << check.error());
    tally.sizes += check.compared() && check.seen();
  }
}

}  // namespace

BOOST_AUTO_TEST_SUITE(swept_contacts_test)

BOOST_AUTO_TEST_CASE(balls_at_a_fixed_face_are_exact) {
  Rng rng(51);
  Tally tally;
  for (int t = 0; t < 100; ++t)
    judge(thrown(rng, Shape::sphere(rng.uniform(0.05, 0.2)), 5.0), tally);
  BOOST_TEST(tally.steps > 80);
  BOOST_TEST(tally.exact == tally.steps, tally.exact << " of " << tally.steps);
  BOOST_TEST(tally.torques == tally.steps);
  BOOST_TEST(tally.sizes > tally.steps, tally.sizes << " columns of sizes");  // radii and thickness
}

// Of hulls, meshes and height fields too.
BOOST_AUTO_TEST_CASE(balls_at_other_walls) {
  Rng rng(53);
  const auto throw_at = [&](const Wall& wall) {
    Tally tally;
    for (int t = 0; t < 30; ++t)
      judge(thrown(rng, Shape::sphere(rng.uniform(0.05, 0.2)), 5.0, wall), tally);
    BOOST_TEST(tally.steps > 20);
    return tally;
  };
  for (const Wall& wall : {hull_wall(), mesh_wall(), field_wall()}) {
    const Tally tally = throw_at(wall);
    BOOST_TEST(tally.exact == tally.steps, tally.exact << " of " << tally.steps);
    BOOST_TEST(tally.sizes == tally.steps, tally.sizes << " radii");
  }
}

/// A ball of radius r and mass m without gravity, phi off a wall, at u towards it and w along it:
///   lambda_N = m (u - phi / dt),   v_T+ = w - mu lambda_N / m,   omega+ = r mu lambda_N / I,
/// while it slides. By r: the gap, and the lever, as the point lies on the ball.
BOOST_AUTO_TEST_CASE(the_point_of_a_later_moment_lies_on_the_ball) {
  const double r = 0.1, m = 2.0, mu = 0.2, u = 12.0, along = 9.0, dt = 0.01, phi = 0.04;
  for (const bool first : {true, false}) {
    Scene scene;
    scene.parameters.gravity = {0, 0, 0};
    const auto add_wall = [&] {
      scene.add_geometry("wall", -1, box_wall().shape, Transform::identity(), {mu});
    };
    if (first) add_wall();
    const Vec3d at{kHalf.x + phi + r, 0, 0};
    scene.add_body("ball", Shape::sphere(r), m, {Mat3d::identity(), at}, {mu});
    if (!first) add_wall();
    SimulatorSettings settings;
    settings.dt = dt;
    settings.solver.tolerance = 1e-13;
    Simulator simulator(scene, settings);
    State state = simulator.initial_state();
    state.v << -u, along, 0, 0, 0, 0;
    simulator.step(state, {});
    BOOST_TEST_REQUIRE(simulator.contact_set().size() == 1u);
    BOOST_TEST_REQUIRE(simulator.contact_set()[0].witness.swept);
    const double I = scene.parameters.inertia[0].xx, normal = m * (u - phi / dt),
                 by_r = m / dt;  // of lambda_N
    const Mat3d R = rotation_from_quaternion(state.q.data() + 3);
    const auto vector = [](const auto& x) { return Vec3d{x[0], x[1], x[2]}; };
    const Vec3d v = vector(state.v.head(3)), spin = R * vector(state.v.tail(3));
    BOOST_TEST(std::abs((R * v).y - (along - mu * normal / m)) < 1e-9);
    BOOST_TEST(std::abs(std::abs(spin.z) - r * mu * normal / I) < 1e-8);
    const StepDerivatives& d = simulator.step_derivatives({"geometry_size"});
    BOOST_TEST(d.report.exact());
    const Eigen::VectorXd by = d.P.col(first ? 3 : 0);
    const Vec3d linear = R * (vector(by.segment(6, 3)) + cross(vector(by.segment(3, 3)), v)),
                angular = R * vector(by.segment(9, 3));
    const double turned = mu * (normal + r * by_r) / I;
    const Vec3d expected{by_r / m, -mu * by_r / m, 0.0};
    BOOST_TEST(norm(linear - expected) < 1e-9 * norm(expected));
    BOOST_TEST(norm(angular - Vec3d{0.0, 0.0, std::copysign(turned, spin.z)}) < 1e-9 * turned);
  }
}

// What turns is not, and says so; columns by q are right as long as nothing turns.
BOOST_AUTO_TEST_CASE(other_shapes_are_not_called_exact) {
  Rng rng(52);
  Tally still, turning;
  for (int t = 0; t < 200; ++t) {
    const SolidKind kinds[] = {
        SolidKind::kBox, SolidKind::kHull, SolidKind::kCapsule, SolidKind::kEllipsoid};
    const Shape shape = random_solid(rng, kinds[rng.below(4)], 0.3).shape;
    judge(thrown(rng, shape, t % 2 == 0 ? 0.0 : 5.0), t % 2 == 0 ? still : turning);
  }
  BOOST_TEST(still.steps > 50);
  BOOST_TEST(turning.steps > 50);
  BOOST_TEST(still.exact == 0);
  BOOST_TEST(turning.exact == 0);
  BOOST_TEST(still.right_q > 0.7 * still.steps, still.right_q << " of " << still.steps);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace stiction::test
