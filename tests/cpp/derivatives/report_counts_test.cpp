#include "scenes/scenes.hpp"
#include "support/random_tree.hpp"
#include "support/random_world.hpp"
#include "support/step_differences.hpp"
#include <boost/test/unit_test.hpp>

#include <cmath>
#include <string>
#include <vector>

// What the reports count: steps that reach each count, and what differences of them say.

namespace stiction::test {
namespace {

SimulatorSettings tight() {
  SimulatorSettings settings;
  settings.solver.tolerance = 1e-13;
  return settings;
}

/// A box on its way into the ground with a corner.
struct CornerFirst {
  Scene scene;
  State state;

  explicit CornerFirst(Rng& rng) {
    const Vec3d half{0.3, 0.05, 0.1};
    const Mat3d R = rotation(rng);
    const double reach =
        std::abs(R.c0.z) * half.x + std::abs(R.c1.z) * half.y + std::abs(R.c2.z) * half.z;
    Material material;
    material.friction = 1.0;
    material.restitution = 0.9;
    scene.add_ground(material);
    scene.add_body("box", Shape::box(half), 1.0, {R, {0, 0, reach - 1e-4}}, material);
    state = Simulator(scene, {}).initial_state();
    state.v = random_vector(rng, 6) * 3.0;
    const Vec3d down = transpose_times(R, Vec3d{rng.uniform(-3.0, 3.0), 0.0, -3.0});
    for (int k = 0; k < 3; ++k) state.v[k] = down[k];
  }
};

double worst(const ColumnErrors& e, int nv) {
  double most = 0.0;
  for (int block = 0; block < 3; ++block) most = std::max(most, e.worst(block * nv, nv));
  return most;
}

/// Bodies on their way to a switch: steps that are more and more nearly redundant, and less again.
struct Roll {
  Scene scene = make_scene("solo12");
  Simulator simulator{scene, tight()};
  State start = simulator.initial_state();
  Control control = simulator.hold();
  RolloutInput input;
  RolloutTape tape;
  RolloutCotangents by;

  explicit Roll(int steps) {
    Rng rng(17);
    for (int k = 0; k < 20; ++k) simulator.step(start, control);
    start.v += random_vector(rng, scene.nv()) * 0.5;
    input.steps = steps;
    by.states = RowMajorMatrix::Ones(1, 2 * scene.nv());
    State state = start;
    simulator.rollout(state, control, input, &tape);
  }
};

}  // namespace

BOOST_AUTO_TEST_SUITE(report_counts_test)

/// An island that the solver leaves has the answer of the convex problem.
BOOST_AUTO_TEST_CASE(safe_answers_are_counted) {
  SimulatorSettings settings;
  settings.solver.max_factorisations = 1;
  const Scene scene = make_scene("box-stack(5)");
  Simulator simulator(scene, settings);
  State state = simulator.initial_state(), start;
  state.v[0] = 1.0;
  int safe = 0;
  for (int k = 0; k < 20 && safe == 0; ++k) {
    start = state;
    safe = simulator.step(state, {}).safe_islands;
  }
  BOOST_TEST_REQUIRE(safe == 1);
  const GradientReport& report = simulator.gradient_report();
  BOOST_TEST(report.num_safe_islands == 1);
  GradientReport other = report;
  other.num_not_converged = other.num_undecided = other.num_not_followed = 0;
  BOOST_TEST(!other.exact());
  RolloutInput input;
  input.steps = 1;
  input.stop_on_bad_status = false;
  RolloutTape tape;
  simulator.rollout(start, {}, input, &tape);
  RolloutCotangents by;
  by.states = RowMajorMatrix::Ones(1, 2 * scene.nv());
  const RolloutGradientReport rollout = simulator.adjoint(tape, by).report;
  BOOST_TEST(rollout.safe == 1);
  BOOST_TEST(!rollout.exact());
}

/// Where Newton's law would gain energy the share of restitution depends on the state, and the
/// derivative holds it: it is said. Under Newton's own law the same impacts are exact.
BOOST_AUTO_TEST_CASE(scaled_impacts_are_counted) {
  Rng rng(71);
  int scaled = 0, wrong = 0, whole = 0;
  for (int k = 0; k < 200; ++k) {
    const CornerFirst c(rng);
    for (const char* law : {"newton-dissipative", "newton"}) {
      SimulatorSettings settings = tight();
      settings.impact_law = law;
      Simulator simulator(c.scene, settings);
      State end = c.state;
      if (simulator.step(end, {}).status != StepStatus::kOk) continue;
      const StepDerivatives d = simulator.step_derivatives();
      const bool cut = d.report.num_scaled_impacts > 0;
      GradientReport rest = d.report;
      rest.num_scaled_impacts = 0;
      if (!comparable(rest)) continue;
      BOOST_TEST(d.report.exact() == !cut);
      const double error = worst(column_errors(simulator, c.state, {}, dense(d)), 6);
      if (!cut) BOOST_TEST(error < 1e-6, "box " << k << " " << law << ": " << error);
      if (std::string(law) == "newton") {
        BOOST_TEST(!cut);
        continue;
      }
      whole += !cut;
      scaled += cut;
      wrong += cut && error > 1e-3;
    }
  }
  BOOST_TEST_MESSAGE(scaled << " scaled, " << wrong << " of them wrong, " << whole << " not");
  BOOST_TEST(scaled > 5);
  BOOST_TEST(wrong > 5);
  BOOST_TEST(whole > 20);
}

/// By a parameter of two equal materials there are two derivatives, by the state there is one.
BOOST_AUTO_TEST_CASE(kinks_of_parameters_are_none_of_the_state) {
  Material material;
  material.restitution = 0.5;
  material.friction = 0.3;
  Scene scene;
  scene.add_ground(material);
  scene.add_body("ball", Shape::sphere(0.1), 1.0, {Mat3d::identity(), {0, 0, 0.0999}}, material);
  Simulator simulator(scene, tight());
  State start = simulator.initial_state();
  start.v << 0.3, 0.2, -0.5, 1.0, 0.0, 2.0;
  State end = start;
  simulator.step(end, {});
  const StepDerivatives d = simulator.step_derivatives({"restitution"});
  BOOST_TEST(d.report.num_parameter_kinks > 0);
  BOOST_TEST(d.report.two_sided());
  BOOST_TEST(d.report.exact());
  BOOST_TEST(simulator.step_derivatives({"mass"}).report.num_parameter_kinks == 0);
  const ColumnErrors e = column_errors(simulator, start, {}, dense(d));
  BOOST_TEST(e.kinks() == 0);
  BOOST_TEST(worst(e, 6) < 1e-6);
  const auto by_restitution = [&](double h) {
    double& x = simulator.parameters().material[1].restitution;
    x = material.restitution + h;
    const Eigen::VectorXd side = stepped(simulator, start, {}, end, Eigen::VectorXd::Zero(18)) / h;
    x = material.restitution;
    return side;
  };
  const Eigen::VectorXd above = by_restitution(1e-6), below = by_restitution(-1e-6);
  BOOST_TEST((above - below).norm() > 0.1);
  BOOST_TEST((d.P.col(1).head(12) - 0.5 * (above + below)).norm() < 1e-6);
  RolloutInput input;
  input.steps = 3;
  RolloutTape tape;
  State state = start;
  simulator.rollout(state, {}, input, &tape);
  RolloutCotangents by;
  by.states = RowMajorMatrix::Ones(1, 12);
  for (const char* field : {"mass", "restitution"}) {
    const RolloutGradientReport rollout = simulator.adjoint(tape, by, {field}).report;
    BOOST_TEST(rollout.parameter_kinks == (field == std::string("mass") ? 0 : 1), field);
    BOOST_TEST(rollout.two_sided());
  }
}

/// The step of a rollout with the smallest pivot is named by its number.
BOOST_AUTO_TEST_CASE(the_smallest_pivot_has_a_step) {
  constexpr int kSteps = 100;
  Roll r(kSteps);
  const RolloutGradientReport report = r.simulator.adjoint(r.tape, r.by).report;
  double smallest = 1.0;
  int step = -1;
  State state = r.start;
  for (int k = 0; k < kSteps; ++k) {
    r.simulator.step(state, r.control);
    const double pivot = r.simulator.gradient_report().smallest_pivot;
    if (pivot < smallest) smallest = pivot, step = k;
  }
  BOOST_TEST(smallest < 0.9);
  BOOST_TEST(step > 0);
  BOOST_TEST(step < kSteps - 1);
  BOOST_TEST(report.smallest_pivot == smallest);
  BOOST_TEST(report.smallest_pivot_step == step);
}

/// A ball in a groove: its rows contradict each other, in a rollout as in a step.
BOOST_AUTO_TEST_CASE(contradicting_rows_have_no_two_sides) {
  Scene scene;
  const double s = std::sqrt(0.5);
  Material material;
  material.friction = 0.8;
  scene.add_half_space("left", {0, 0, 0}, {0, s, s}, material);
  scene.add_half_space("right", {0, 0, 0}, {0, -s, s}, material);
  scene.add_body("ball", Shape::sphere(0.1), 1.0, {Mat3d::identity(), {0, 0, 0.1 / s}}, material);
  SimulatorSettings settings = tight();
  settings.contact.baumgarte = 1.0;  // gaps of zero have one slope
  Simulator simulator(scene, settings);
  State state = simulator.initial_state();
  RolloutInput input;
  input.steps = 2;
  RolloutTape tape;
  simulator.rollout(state, {}, input, &tape);
  GradientReport step = simulator.gradient_report();
  BOOST_TEST(step.num_contradicting == 1);
  BOOST_TEST(!step.two_sided());
  BOOST_TEST(!step.exact());
  step.num_contradicting = 0;  // nothing else is one-sided
  BOOST_TEST(step.two_sided());
  BOOST_TEST(step.exact());
  RolloutCotangents by;
  by.states = RowMajorMatrix::Ones(1, 12);
  const RolloutGradientReport rollout = simulator.adjoint(tape, by).report;
  BOOST_TEST(rollout.contradicting == 2);
  BOOST_TEST(rollout.inexact == 0);
  BOOST_TEST(!rollout.two_sided());
  BOOST_TEST(!rollout.exact());
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace stiction::test
