#include "stiction/simulator/simulator.hpp"

#include "support/random_world.hpp"
#include "support/step_differences.hpp"
#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <cmath>

// Where a step has one derivative to either side, and how far that is.

namespace stiction::test {
namespace {

struct Balls {
  Scene scene;
  SimulatorSettings settings;
  State state;
};

/// On a tilted plane, each at its own gap.
Balls balls(Rng& rng, int count, double largest, double smallest) {
  Balls w;
  Material material;
  material.friction = rng.uniform(0.1, 1.0);
  const Mat3d R = rotation(rng);
  w.scene.parameters.gravity = R.c2 * -9.81;
  w.scene.add_half_space("plane", {0, 0, 0}, R.c2, material);
  for (int k = 0; k < count; ++k) {
    const double radius = rng.uniform(0.05, 0.2), sign = rng.below(2) == 0 ? -1.0 : 1.0;
    const double gap =
        sign * std::pow(10.0, rng.uniform(std::log10(smallest), std::log10(largest)));
    w.scene.add_body("ball" + std::to_string(k),
                     Shape::sphere(radius),
                     std::pow(10.0, rng.uniform(-2.0, 2.0)),
                     {rotation(rng), R.c2 * (radius + gap) + R.c0 * double(k)},
                     material);
  }
  w.settings.solver.tolerance = 1e-13;
  w.settings.dt = rng.uniform(1e-3, 1e-2);
  return w;
}

/// The slope of v+ along the plane's normal by the height of each ball.
Eigen::VectorXd slopes(Simulator& simulator,
                       const State& state,
                       const Vec3d& n,
                       GradientReport& report) {
  State next = state;
  simulator.step(next, {});
  const StepDerivatives& d = simulator.step_derivatives();
  report = d.report;
  const Eigen::MatrixXd A = d.A();
  const int nv = d.nv();
  Eigen::VectorXd out(nv / 6);
  for (int b = 0; b < nv / 6; ++b) {
    const double* q = state.q.data() + 7 * b + 3;
    const Vec3d along = transpose_times(rotation_from_quaternion(q), n);
    out[b] = 0.0;
    for (int i = 0; i < 3; ++i)
      for (int j = 0; j < 3; ++j) out[b] += along[i] * A(nv + 6 * b + i, 6 * b + j) * along[j];
  }
  return out;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(kinks_test)

// Balls moved by less than the report's smallest gap keep their slopes, the nearest one loses it
// when it is moved by more.
BOOST_AUTO_TEST_CASE(the_smallest_gap_is_the_way_to_the_next_kink) {
  Rng rng(41);
  for (int t = 0; t < 60; ++t) {
    Balls w = balls(rng, 1 + rng.below(4), 1e-5, 1e-8);
    const Vec3d n = w.scene.parameters.gravity * (-1.0 / 9.81);
    Simulator simulator(w.scene, w.settings);
    State state = simulator.initial_state();
    GradientReport report, other;
    const Eigen::VectorXd before = slopes(simulator, state, n, report);
    int nearest = -1;
    double gap = HUGE_VAL;
    for (const Contact& c : simulator.contact_set()) {
      if (std::abs(c.gap) < std::abs(gap)) gap = c.gap, nearest = std::max(c.body_a, c.body_b);
    }
    BOOST_TEST_REQUIRE(nearest >= 0);
    BOOST_TEST(report.smallest_gap == std::abs(gap));
    BOOST_TEST(report.num_gap_kinks == 0);
    const auto moved = [&](int ball, double way) {
      State s = state;
      for (int i = 0; i < 3; ++i) s.q[7 * ball + i] += way * n[i];
      return s;
    };
    for (const double share : {0.9, 1.1}) {
      const State there = moved(nearest, -share * gap);
      const Eigen::VectorXd after = slopes(simulator, there, n, other);
      const double change = std::abs(after[nearest] - before[nearest]) * w.settings.dt;
      if (share < 1.0) BOOST_TEST(change < 1e-6);
      if (share > 1.0) BOOST_TEST(change > 0.5);
    }
    w.settings.contact.baumgarte = 1.0;
    Simulator even(w.scene, w.settings);
    slopes(even, state, n, other);
    BOOST_TEST(other.smallest_gap == kInfinity);
  }
}

// Where nothing moves and nothing pushes there is nothing to measure a margin by, and yet a push
// lets a ball go or presses it on.
BOOST_AUTO_TEST_CASE(at_rest_without_gravity_a_contact_is_at_a_switch) {
  Rng rng(42);
  for (int t = 0; t < 60; ++t) {
    Balls w = balls(rng, 1 + rng.below(3), 1e-17, 1e-18);
    const Vec3d n = w.scene.parameters.gravity * (-1.0 / 9.81);
    w.scene.parameters.gravity = {0, 0, 0};
    w.settings.contact.baumgarte = t % 2 == 0 ? 1.0 : 0.2;
    Simulator simulator(w.scene, w.settings);
    State state = simulator.initial_state();
    if (t % 3 == 0) {  // stopped by the plane
      for (int b = 0; b < w.scene.num_bodies(); ++b) {
        const Vec3d v = transpose_times(rotation_from_quaternion(state.q.data() + 7 * b + 3), n);
        const double speed = rng.uniform(0.1, 1.0);
        for (int i = 0; i < 3; ++i) state.v[6 * b + i] = -speed * v[i];
      }
      for (int k = 0; k < 3; ++k) simulator.step(state, {});
    }
    State next = state;
    simulator.step(next, {});
    const GradientReport& report = simulator.gradient_report();
    BOOST_TEST(report.num_at_switch == w.scene.num_bodies(),
               "case " << t << ": margin " << report.margin[0]);
    BOOST_TEST(report.num_undecided == 0);
    BOOST_TEST(!report.two_sided());
  }
}

// A ball that leaves, or that is pressed on by anything that can be measured, is at none.
BOOST_AUTO_TEST_CASE(slow_contacts_are_at_no_switch) {
  Rng rng(43);
  for (int t = 0; t < 60; ++t) {
    Balls w = balls(rng, 1, 1e-17, 1e-18);
    const Vec3d n = w.scene.parameters.gravity * (-1.0 / 9.81);
    const double speed = (t % 2 == 0 ? 1.0 : -1.0) * std::pow(10.0, rng.uniform(-10.0, 0.0));
    w.scene.parameters.gravity = {0, 0, 0};
    Simulator simulator(w.scene, w.settings);
    State state = simulator.initial_state();
    const Vec3d v = transpose_times(rotation_from_quaternion(state.q.data() + 3), n);
    for (int i = 0; i < 3; ++i) state.v[i] = speed * v[i];
    State next = state;
    simulator.step(next, {});
    const GradientReport& report = simulator.gradient_report();
    BOOST_TEST(report.modes.size() == 1u);
    BOOST_TEST((report.modes[0] == ContactMode::kOpen) == (speed > 0.0));
    if (speed > 0.0) BOOST_TEST(report.num_at_switch == 0, "speed " << speed);
  }
}

// A contact that opens has no part in the step: nothing that is not known of it matters.
BOOST_AUTO_TEST_CASE(what_opens_raises_no_doubts) {
  Rng rng(44);
  int swept = 0, lines = 0;
  for (int t = 0; t < 90; ++t) {
    Scene scene;
    scene.parameters.gravity = {0, 0, 0};
    const int kind = t % 3;  // a closed gap, lines side by side, a contact of a later moment
    const double r = rng.uniform(0.05, 0.2);
    const Shape shape = kind == 1 ? Shape::capsule(r, 2.0 * r) : Shape::sphere(r);
    const double gap = kind == 0 ? 1e-12 : kind == 1 ? rng.uniform(1e-5, 5e-4) : 0.02;
    const Vec3d place{r + (kind == 1 ? r : 0.1) + gap, 0.0, 0.0};
    const Shape wall = kind == 1 ? shape : Shape::box({0.1, 0.5, 0.5});
    scene.add_geometry("wall", -1, wall, Transform::identity(), {});
    scene.add_body("body", shape, rng.uniform(0.1, 10.0), {Mat3d::identity(), place}, {});
    SimulatorSettings settings;
    settings.dt = 0.01;
    settings.solver.tolerance = 1e-13;
    Simulator simulator(scene, settings);
    State state = simulator.initial_state();
    Control control;
    control.torque.setZero(6);
    state.v[0] = rng.uniform(0.1, 1.0);
    if (kind == 2) {  // towards the wall, and pushed away before it comes there
      state.v[0] = -4.0;
      control.torque[0] = scene.parameters.mass[0] * 6.0 / settings.dt;
    }
    State next = state;
    simulator.step(next, control);
    BOOST_TEST_REQUIRE(simulator.contact_set().size() > 0u);
    swept += simulator.contact_set()[0].witness.swept;
    lines += simulator.contact_set().size() > 1;
    const StepDerivatives d = simulator.step_derivatives();
    BOOST_TEST(d.report.exact(), "case " << t);
    BOOST_TEST(d.report.two_sided(), "case " << t);
    BOOST_TEST(d.report.smallest_gap == kInfinity);
    const ColumnErrors e = column_errors(simulator, state, control, dense(d));
    for (int block = 0; block < 3; ++block) BOOST_TEST(e.worst(6 * block, 6) < 1e-6);
  }
  BOOST_TEST(swept == 30);
  BOOST_TEST(lines == 30);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace stiction::test
