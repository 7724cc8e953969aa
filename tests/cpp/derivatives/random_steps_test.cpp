#include "model/joint.hpp"
#include "support/contact_problems.hpp"
#include "support/joint_springs.hpp"
#include "support/random_tree.hpp"
#include "support/random_world.hpp"
#include "support/step_differences.hpp"
#include <boost/test/unit_test.hpp>

#include <map>
#include <string>

// The derivatives of one step of random robots and loose bodies on a random plane, with every kind
// of row, against differences of the step.

namespace stiction::test {
namespace {

/// J^T w and J x of the last step are those of the matrix.
void check_products(Simulator& simulator, const Eigen::MatrixXd& J, int world) {
  Rng rng(world);
  const int nv = simulator.scene().nv();
  const Eigen::VectorXd w = random_vector(rng, 2 * nv), x = random_vector(rng, 3 * nv);
  const StepGradient& g = simulator.vjp(w);
  Eigen::VectorXd gradient(3 * nv);
  gradient << g.q, g.v, g.torque;
  for (int block = 0; block < 3; ++block) {
    const auto columns = J.middleCols(block * nv, nv);
    const double
        size = columns.cwiseAbs().maxCoeff(),
        off = (gradient.segment(block * nv, nv) - columns.transpose() * w).cwiseAbs().maxCoeff();
    BOOST_TEST(off <= 1e-12 * nv * size,
               "world " << world << " block " << block << ": " << off / size);
  }
  const double off = (simulator.jvp(x) - J * x).cwiseAbs().maxCoeff();
  BOOST_TEST(off <= 1e-12 * nv * J.cwiseAbs().maxCoeff(), "world " << world << ": " << off);
}

}  // namespace

BOOST_AUTO_TEST_SUITE(random_steps_test)

BOOST_AUTO_TEST_CASE(every_row_agrees_with_differences) {
  Rng rng(11);
  std::map<std::string, int> seen;
  int compared = 0, columns = 0, kinks[3] = {0, 0, 0};
  for (int k = 0; k < num_worlds(); ++k) {
    const auto chance = [&](double p) { return rng.uniform(0.0, 1.0) < p; };
    const bool springs = chance(0.4);
    const Features features{springs,
                            springs && chance(0.5),
                            !springs && chance(0.3),
                            chance(0.3),
                            chance(0.3),
                            chance(0.3),
                            chance(0.1) && smoothing_of(k) == 0.0};
    World w = random_world(rng, features);
    add_joint_springs(k, w);
    w.settings.smoothing = smoothing_of(k);
    Simulator simulator(w.scene, w.settings);
    // Springs are stretched by the step before.
    if (features.tangential && !simulator.step(w.state, w.control).whole()) continue;
    State next = w.state;
    simulator.step(next, w.control);
    if (simulator.report().status != StepStatus::kOk) continue;
    const StepDerivatives& d = simulator.step_derivatives();
    const GradientReport report = d.report;
    if (!comparable(report)) continue;
    const std::vector<std::string> rows = kinds_of(simulator, report);
    const Eigen::MatrixXd J = dense(d);
    check_products(simulator, J, k);
    const ColumnErrors e = column_errors(simulator, w.state, w.control, J);
    const int nv = w.scene.nv();
    for (int block = 0; block < 3; ++block) {
      std::string all;
      for (const std::string& s : rows) all += s + ", ";
      kinks[block] += e.kinks(block * nv, nv);
      BOOST_TEST(e.worst(block * nv, nv) < 1e-6,
                 "world " << k << " block " << block << ": " << e.worst(block * nv, nv) << " with "
                          << all);
    }
    for (const std::string& s : rows) ++seen[smoothing_of(k) == 0.0 ? s : "on the path"];
    if (report.num_saturated > 0) ++seen["saturated"];
    ++compared;
    columns += nv;
  }
  BOOST_TEST(compared > 150);
  for (const int k : kinks)
    BOOST_TEST(k < 1e-3 * columns, k << " of " << columns << " columns of a block have kinks");
  for (const char* row : {"contact recovery open",
                          "contact recovery slide",
                          "contact recovery stick",
                          "contact speculative open",
                          "contact speculative slide",
                          "contact speculative stick",
                          "contact spring open",
                          "contact spring slide",
                          "contact spring stick",
                          "contact spring tangential open",
                          "contact spring tangential slide",
                          "contact spring tangential stick",
                          "contact restitution slide",
                          "contact restitution stick",
                          "closure drift stick",
                          "closure recovery stick",
                          "gear recovery stick",
                          "dry_friction none open",
                          "dry_friction none stick",
                          "lower_limit recovery stick",
                          "lower_limit speculative open",
                          "upper_limit recovery stick",
                          "upper_limit speculative stick",
                          "saturated",
                          "on the path"})
    BOOST_TEST(seen[row] >= 3, row << " was compared " << seen[row] << " times");
}

/// Errors so large that recovery is cut, and joints far beyond their limits: what is then not known
/// to the derivatives they do not call exact.
BOOST_AUTO_TEST_CASE(what_is_called_exact_is) {
  Rng rng(13);
  std::map<std::string, int> seen;
  int compared = 0, inexact = 0;
  for (int k = 0; k < num_worlds(); ++k) {
    const auto chance = [&](double p) { return rng.uniform(0.0, 1.0) < p; };
    Features features{chance(0.5), false, false, chance(0.1), chance(0.1), false, false};
    features.far = true;
    World w = random_world(rng, features);
    Simulator simulator(w.scene, w.settings);
    State next = w.state;
    simulator.step(next, w.control);
    if (simulator.report().status != StepStatus::kOk) continue;
    const StepDerivatives& d = simulator.step_derivatives();
    inexact += !d.report.exact();
    if (!comparable(d.report)) continue;
    for (const std::string& s : kinds_of(simulator, d.report)) ++seen[s];
    const int nv = w.scene.nv();
    const ColumnErrors e = column_errors(simulator, w.state, w.control, dense(d));
    for (int block = 0; block < 3; ++block)
      BOOST_TEST(e.worst(block * nv, nv) < 1e-6,
                 "world " << k << " block " << block << ": " << e.worst(block * nv, nv));
    ++compared;
  }
  BOOST_TEST(compared > 100);
  BOOST_TEST(inexact > 50);
  BOOST_TEST(seen["lower_limit limit_recovery recovery stick"] > 10);
  BOOST_TEST(seen["upper_limit limit_recovery recovery stick"] > 10);
}

/// Joints out of their limits by more than drift, that contacts block: the impulse that brings them
/// back is at its bound, which moves with the state.
BOOST_AUTO_TEST_CASE(bounded_recoveries_are_not_called_exact) {
  Rng rng(14);
  int bounded = 0, wrong = 0, compared = 0, jumping = 0;
  for (int k = 0; k < 1500; ++k) {
    World w = random_world(rng, Features{});
    for (const Tree& tree : w.scene.trees()) {
      for (int b = 0; b < tree.num_bodies; ++b) {
        const int dof = tree.v_offset + tree.v_index[b];
        if (!joint_facts(tree.joint[b]).limited || rng.uniform(0.0, 1.0) < 0.3) continue;
        const double* q = w.state.q.data() + tree.q_offset + tree.q_index[b];
        const double out = std::pow(10.0, rng.uniform(-3.5, -2.5));
        w.scene.parameters.lower[dof] = joint_position(tree.joint[b], q) + out;
        w.scene.parameters.upper[dof] = kInfinity;
      }
    }
    w.settings.dt = 1e-3;
    Simulator simulator(w.scene, w.settings);
    State next = w.state;
    simulator.step(next, w.control);
    if (simulator.report().status != StepStatus::kOk) continue;
    const StepDerivatives& d = simulator.step_derivatives();
    GradientReport rest = d.report;
    rest.num_bounded_recoveries = 0;
    if (!comparable(rest)) continue;
    const int nv = w.scene.nv();
    const ColumnErrors e = column_errors(simulator, w.state, w.control, dense(d));
    double error = 0.0;
    for (int block = 0; block < 3; ++block) error = std::max(error, e.worst(block * nv, nv));
    if (!(error < kInfinity)) {  // a block of kinks alone: at the edge of having no solution
      ++jumping;
      continue;
    }
    ++compared;
    bounded += d.report.num_bounded_recoveries > 0;
    wrong += d.report.num_bounded_recoveries > 0 && error > 1e-4;
    if (d.report.num_bounded_recoveries == 0)
      BOOST_TEST(error < 1e-6, "world " << k << " " << error);
    BOOST_TEST(d.report.exact() == (d.report.num_bounded_recoveries == 0));
  }
  BOOST_TEST_MESSAGE(compared << " compared, " << bounded << " bounded, " << wrong << " wrong");
  BOOST_TEST(jumping <= 2);
  BOOST_TEST(bounded > 3);
  BOOST_TEST(wrong > 3);
}

/// An arm that turns about the normal of the plane its hand lies on.
BOOST_AUTO_TEST_CASE(a_row_that_nothing_moves) {
  Rng rng(15);
  for (int k = 0; k < 10; ++k) {
    Robot robot;
    robot.name = "arm";
    robot.bodies.resize(2);
    robot.bodies[1].parent = 0;
    robot.bodies[1].placement.p = {0.3, 0, 0};
    for (BodyDescription& b : robot.bodies) random_mass(rng, b);
    robot.dofs.resize(2);
    robot.neutral = {rng.uniform(-1.0, 1.0), rng.uniform(-1.0, 1.0)};
    World w;
    w.scene.add_robot(robot, {Mat3d::identity(), {0, 0, 0.1}});
    w.scene.add_geometry(
        "hand", 1, Shape::sphere(0.1), {Mat3d::identity(), {0.2, 0, -1e-4}}, {0.5});
    w.scene.add_ground({0.5});
    w.settings.solver.tolerance = 1e-13;
    w.state = make_state(w.scene, w.scene.default_q());
    w.state.v = random_vector(rng, 2);
    w.control.torque = random_vector(rng, 2);
    Simulator simulator(w.scene, w.settings);
    State next = w.state;
    BOOST_TEST_REQUIRE(simulator.step(next, w.control).whole());
    const StepDerivatives& d = simulator.step_derivatives();
    BOOST_TEST(kinds_of(simulator, d.report) == std::vector<std::string>{"contact immovable open"},
               boost::test_tools::per_element());
    BOOST_TEST(d.report.two_sided());
    BOOST_TEST(d.report.exact());
    const ColumnErrors e = column_errors(simulator, w.state, w.control, dense(d));
    BOOST_TEST(e.worst(0, 6) < 1e-7);
    BOOST_TEST(e.kinks() == 0);
  }
}

/// Steps after derivatives, products and reports have the bits of steps without.
BOOST_AUTO_TEST_CASE(derivatives_change_no_bit) {
  Rng rng(14);
  for (int k = 0; k < 40; ++k) {
    const auto chance = [&](double p) { return rng.uniform(0.0, 1.0) < p; };
    const bool springs = chance(0.4);
    const Features features{springs,
                            springs,
                            !springs,
                            chance(0.3),
                            chance(0.3),
                            chance(0.3),
                            chance(0.1),
                            chance(0.3)};
    World w = random_world(rng, features);
    w.settings.smoothing = k % 5 ? 0.0 : 1e-3;
    if (w.settings.smoothing > 0.0) w.settings.solver.name = "ncp-newton";
    Simulator with(w.scene, w.settings), without(w.scene, w.settings);
    State a = w.state, b = w.state;
    for (int step = 0; step < 4; ++step) {
      const bool whole = with.step(a, w.control).whole();
      without.step(b, w.control);
      BOOST_TEST((a == b), "world " << k << " step " << step);
      if (!whole) break;
      with.step_derivatives(Simulator::derivative_parameters());
      with.vjp(random_vector(rng, 2 * w.scene.nv()), Simulator::derivative_parameters());
      with.jvp(random_vector(rng, 3 * w.scene.nv()));
      with.gradient_report();
    }
  }
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace stiction::test
