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

/// At the middle of a fixed box, from `gap` [m], so fast that it arrives within the step.
Throw thrown(Rng& rng, const Shape& shape, double spin) {
  Throw w;
  Material material;
  material.friction = rng.uniform(0.1, 1.0);
  if (rng.below(3) == 0) material.restitution = 0.5;
  const Transform X = pose(rng, 1.0);
  const bool first = rng.below(2) == 0;
  const double gap = rng.uniform(0.02, 0.04), reach = bounding_radius(shape);
  const auto add_wall = [&] {
    w.scene.add_geometry("wall", -1, Shape::box({0.1, 0.9, 0.9}), X, material);
  };
  if (first) add_wall();
  w.scene.add_body("body",
                   shape,
                   rng.uniform(0.1, 10.0),
                   {rotation(rng), X * Vec3d{0.1 + gap + reach, 0.0, 0.0}},
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
  int steps = 0, exact = 0, right_q = 0, sizes = 0;
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
  BOOST_TEST(e.worst(12, 6) < 1e-6);
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
  BOOST_TEST(tally.sizes > tally.steps, tally.sizes << " columns of sizes");  // radii and thickness
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
