#include "stiction/contact/stored_problem.hpp"
#include "stiction/simulator/simulator.hpp"

#include "integrator/step_record.hpp"
#include "scenes/scenes.hpp"
#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <cmath>

// A step in two halves with a solver between them, and its problem taken apart and put together.

using namespace stiction;

namespace {

/// Two boxes side by side, one tilted, on soft ground: two islands, compliance, open contacts.
Scene two_boxes() {
  Scene scene;
  Material soft;
  soft.friction = 0.4;
  soft.stiffness = 1e5;
  soft.damping = 5.0;
  scene.add_ground(soft);
  for (int k = 0; k < 2; ++k) {
    const Transform X{Mat3d::identity(), {1.0 * k, 0, 0.1 - 1e-5}};
    scene.add_body("box" + std::to_string(k), Shape::box({0.1, 0.1, 0.1}), 1.0 + k, X, soft);
  }
  return scene;
}

State moving(const Simulator& sim) {
  State state = sim.initial_state();
  state.v[0] = 0.3;
  state.v[9] = 0.2;
  return state;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(halves_test)

BOOST_AUTO_TEST_CASE(two_halves_are_a_step) {
  const Scene scene = two_boxes();
  Simulator whole(scene), halves(scene);
  State a = moving(whole), b = a;
  for (int k = 0; k < 20; ++k) {
    whole.step(a, whole.hold());
    halves.prepare(b, halves.hold());
    BOOST_REQUIRE(halves.warm_start() == whole.warm_start());
    SolverWorkspace work;
    ContactSolution solution;
    solution.impulse = halves.warm_start();
    solve(halves.problem(), halves.settings().solver, work, solution);
    const StepReport& report = halves.advance(b, solution.impulse);
    BOOST_REQUIRE((a == b));
    BOOST_REQUIRE((report.status == whole.report().status));
    BOOST_REQUIRE(report.residuals.relative == whole.report().residuals.relative);
  }
}

/// In flight Coriolis forces are found in the second half, with the wrenches of the first.
BOOST_AUTO_TEST_CASE(two_halves_of_a_flight_have_its_wrenches) {
  const Scene scene = make_scene("solo12");
  Simulator whole(scene), halves(scene);
  State a = whole.initial_state("standing");
  a.q[2] += 10.0;
  for (int k = 3; k < scene.nv(); ++k) a.v[k] = 0.3 * (k % 5 - 2);
  State b = a;
  Control control = whole.hold("standing");
  control.wrenches = {{2, {3.0, -2.0, 5.0}, {0.1, 0.2, 0.3}}};
  for (int k = 0; k < 20; ++k) {
    whole.step(a, control);
    halves.prepare(b, control);
    halves.advance(b, halves.warm_start());
    BOOST_REQUIRE((a == b));
    BOOST_REQUIRE((halves.record().dynamics.bias_at[0] == BiasAt::kMean));
  }
}

BOOST_AUTO_TEST_CASE(impulses_that_do_not_solve_are_judged) {
  Simulator sim(two_boxes());
  State state = moving(sim);
  sim.prepare(state, sim.hold());
  const std::vector<double> none(sim.problem().num_rows(), 0.0);
  const StepReport& report = sim.advance(state, none);
  BOOST_TEST((report.status == StepStatus::kNotConverged));
  BOOST_TEST(report.residuals.relative > 1e-3);
  BOOST_TEST(state.v[2] == -9.81e-3, boost::test_tools::tolerance(1e-12));  // falls
}

BOOST_AUTO_TEST_CASE(halves_in_the_wrong_order_are_refused) {
  Simulator sim(two_boxes());
  State state = moving(sim);
  BOOST_CHECK_THROW(sim.advance(state, {}), std::invalid_argument);
  sim.prepare(state, sim.hold());
  BOOST_CHECK_THROW(sim.advance(state, {1.0}), std::invalid_argument);
  const std::vector<double> none(sim.problem().num_rows(), 0.0);
  sim.advance(state, none);
  BOOST_CHECK_THROW(sim.advance(state, none), std::invalid_argument);
}

// Between the halves there is no step to tell of.
BOOST_AUTO_TEST_CASE(a_step_that_is_only_prepared_has_no_contacts) {
  Simulator sim(two_boxes());
  State state = moving(sim);
  sim.prepare(state, sim.hold());
  BOOST_CHECK_THROW(sim.contacts(), std::invalid_argument);
  BOOST_CHECK_THROW(sim.wrench_on(0), std::invalid_argument);
  BOOST_CHECK_THROW(sim.balance(state, sim.hold()), std::invalid_argument);
  sim.advance(state, sim.warm_start());
  BOOST_TEST(sim.contacts().size() == 8u);
}

// A compliant step has no halves; that they were asked for changes nothing it tells.
BOOST_AUTO_TEST_CASE(a_refused_half_leaves_the_last_step_alone) {
  SimulatorSettings settings;
  settings.integrator = "exponential";
  Simulator sim(two_boxes(), settings);
  State state = moving(sim);
  state.q[2] -= 1e-4;  // pressed into the ground
  sim.step(state, sim.hold());
  const Vec3d moment = sim.wrench_on(0).moment;
  const Balance balance = sim.balance(state, sim.hold());
  BOOST_TEST(norm(moment) > 0.0);
  State elsewhere = sim.initial_state();
  elsewhere.q[0] += 3.0;
  elsewhere.v[2] = 1.0;
  const auto says = [](const std::invalid_argument& e) {
    return std::string(e.what()).find("\"exponential\" has no contact problem") !=
           std::string::npos;
  };
  BOOST_CHECK_EXCEPTION(sim.prepare(elsewhere, sim.hold()), std::invalid_argument, says);
  BOOST_CHECK_THROW(sim.advance(elsewhere, {}), std::invalid_argument);
  BOOST_TEST(norm(sim.wrench_on(0).moment - moment) == 0.0);
  BOOST_TEST(sim.balance(state, sim.hold()).energy_before == balance.energy_before);
}

BOOST_AUTO_TEST_CASE(a_problem_taken_apart_is_put_together_bit_for_bit) {
  Simulator sim(two_boxes());
  State state = moving(sim);
  sim.run(state, sim.hold(), 5);
  const ContactProblem& problem = sim.problem();
  BOOST_REQUIRE(problem.num_islands() == 2);
  const ContactProblem again = put_together(take_apart(problem));
  BOOST_TEST(again.g == problem.g);
  BOOST_TEST(again.compliance == problem.compliance);
  BOOST_TEST(again.diagonal == problem.diagonal);
  BOOST_TEST(again.diagonal_start == problem.diagonal_start);
  BOOST_TEST(again.island_start == problem.island_start);
  const ContactProblem::Panels &there = problem.panels(), &here = again.panels();
  BOOST_TEST(here.size == there.size);
  for (int i = 0; i < problem.num_sets();
       ++i) {  // panels are in the order in which they were asked for
    const int runs = there.run_end[i] - there.run_begin[i];
    BOOST_REQUIRE(here.run_end[i] - here.run_begin[i] == runs);
    for (int k = 0; k < runs; ++k)
      BOOST_TEST(here.runs[here.run_begin[i] + k].set == there.runs[there.run_begin[i] + k].set);
  }
  BOOST_TEST((again.dense() == problem.dense()));
  BOOST_REQUIRE(problem.space.known());
  BOOST_TEST(problem.space.loose(0));
  BOOST_TEST(again.space.z == problem.space.z);
  BOOST_TEST(again.space.inertia == problem.space.inertia);
  BOOST_TEST(again.space.inverse == problem.space.inverse);
  BOOST_TEST(again.space.dofs == problem.space.dofs);
}

BOOST_AUTO_TEST_CASE(parts_that_do_not_fit_are_refused) {
  Simulator sim(two_boxes());
  State state = moving(sim);
  sim.step(state, sim.hold());
  const StoredProblem parts = take_apart(sim.problem());
  const auto refused = [&](auto change) {
    StoredProblem wrong = parts;
    change(wrong);
    BOOST_CHECK_THROW(put_together(wrong), std::invalid_argument);
  };
  refused([](StoredProblem& p) { p.island_start = {0, 1, static_cast<int>(p.sets.size())}; });
  refused([](StoredProblem& p) { p.run_columns[0] += 1; });
  refused([](StoredProblem& p) { p.run_counts[0] -= 3; });  // a block left out
  refused([](StoredProblem& p) { p.run_start.pop_back(); });
  refused([](StoredProblem& p) { p.R[0] = -1.0; });
  refused([](StoredProblem& p) { p.A(0, 1) += 1.0; });
  refused([](StoredProblem& p) { p.g.conservativeResize(2); });
  refused([](StoredProblem& p) { p.space.z[0] += 1.0; });
  refused([](StoredProblem& p) { p.space.inertia[0] = -1.0; });
  refused([](StoredProblem& p) { p.space.sides[0].length = 5; });
  refused([](StoredProblem& p) { p.space.sides[0].tree = 9; });
  refused([](StoredProblem& p) { p.space.sides[0].z = static_cast<int>(p.space.z.size()); });
  refused([](StoredProblem& p) { p.space.side_start[1] = 0; });
  refused([](StoredProblem& p) { p.space.tree_start.pop_back(); });
}

// One point of a pair, the deepest, which gets the whole stiffness.
BOOST_AUTO_TEST_CASE(points_per_pair) {
  SimulatorSettings settings;
  settings.collision.points_per_pair = 1;
  Simulator sim(two_boxes(), settings);
  State state = moving(sim);
  state.q[2] -= 1e-5;
  const double half = 0.5e-3;  // about y: one edge deeper
  state.q[4] = std::sin(half);
  state.q[6] = std::cos(half);
  sim.step(state, sim.hold());
  BOOST_REQUIRE(sim.contact_set().size() == 2);
  Simulator all(two_boxes());
  State same = moving(all);
  same.q = sim.initial_state().q;
  same.q[2] -= 1e-5;
  same.q[4] = std::sin(half);
  same.q[6] = std::cos(half);
  all.step(same, all.hold());
  double deepest = 0.0;
  for (const Contact& c : all.contact_set()) deepest = std::min(deepest, c.gap);
  BOOST_TEST(sim.contact_set()[0].gap == deepest);
  BOOST_TEST(sim.contact_set()[0].pair_points == 1);
}

BOOST_AUTO_TEST_SUITE_END()
