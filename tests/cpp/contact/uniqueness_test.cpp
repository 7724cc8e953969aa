#include "stiction/contact/uniqueness.hpp"

#include "stiction/solver/solver.hpp"

#include "support/dense.hpp"
#include <Eigen/Core>
#include <boost/test/unit_test.hpp>

#include <cmath>

// A rigid table of mass 1 and radius of gyration 1 on feet, sticking, sliding and at the limit: the
// dimensions follow from counting equations of equilibrium.

namespace stiction {
namespace {

constexpr double kWeight = 0.00981;  // m g dt [N s]

/// Contact rows (t1, t2, n) of a body with unit mass and inertia at points of the plane z = -h.
struct Table {
  std::vector<Eigen::Vector3d> feet;
  double mu;

  Eigen::MatrixXd jacobian() const {
    Eigen::MatrixXd J(3 * feet.size(), 6);
    for (std::size_t i = 0; i < feet.size(); ++i) {
      const Eigen::Vector3d& r = feet[i];
      Eigen::Matrix3d cross;
      cross << 0, -r.z(), r.y(), r.z(), 0, -r.x(), -r.y(), r.x(), 0;
      J.block<3, 3>(3 * i, 0).setIdentity();
      J.block<3, 3>(3 * i, 3) = -cross;
    }
    return J;
  }
  /// Free velocity: falls, and moves along x.
  ContactProblem problem(double speed) const {
    Eigen::VectorXd v = Eigen::VectorXd::Zero(6);
    v[0] = speed;
    v[2] = -kWeight;
    const Eigen::MatrixXd J = jacobian();
    const std::vector<ConstraintSet> sets(feet.size(), ConstraintSet::cone(mu));
    return ContactProblem::from_dense(test::gram(J), J * v, sets);
  }
};

Table four_feet(double mu, double height = 0.1) {
  return {{{1, 1, -height}, {-1, 1, -height}, {-1, -1, -height}, {1, -1, -height}}, mu};
}

Uniqueness at_solution(const ContactProblem& problem) {
  ContactSolution solution;
  SolverWorkspace work;
  SolverSettings settings;
  settings.tolerance = 1e-12;
  solve(problem, settings, work, solution);
  BOOST_REQUIRE(solution.residuals.backward < 1e-11);
  return uniqueness(problem, solution.impulse);
}

BOOST_AUTO_TEST_SUITE(uniqueness_test)

BOOST_AUTO_TEST_CASE(a_ball_that_sticks_slides_or_flies_is_unique) {
  const Table ball{{{0, 0, -1}}, 0.5};
  const Uniqueness stick = at_solution(ball.problem(0.0)), slide = at_solution(ball.problem(1.0));
  BOOST_TEST(stick.locally_unique);
  BOOST_TEST((stick.modes.front() == ContactMode::kStick));
  BOOST_TEST(slide.locally_unique);
  BOOST_TEST((slide.modes.front() == ContactMode::kSlide));
  const ContactProblem leaving = ContactProblem::from_dense(
      Eigen::Matrix3d::Identity(), Eigen::Vector3d(0, 0, 1), {ConstraintSet::cone(0.5)});
  const Uniqueness open = at_solution(leaving);
  BOOST_TEST(open.locally_unique);
  BOOST_TEST((open.modes.front() == ContactMode::kOpen));
}

// 12 impulses, 6 equations of equilibrium.
BOOST_AUTO_TEST_CASE(four_sticking_feet_leave_six_impulses_open) {
  const Uniqueness u = at_solution(four_feet(0.5).problem(0.0));
  BOOST_TEST(!u.locally_unique);
  BOOST_TEST(u.null_dimension == 6);
  BOOST_TEST(u.velocity_dimension == 0);
  BOOST_TEST(u.num_at_switch == 0);
  BOOST_TEST(u.largest_dropped < 1e-13);
  BOOST_TEST(u.smallest_kept > 1e-4);
}

// 4 normal impulses, 3 equations: heave, pitch and roll. Three feet have none left.
BOOST_AUTO_TEST_CASE(frictionless_feet_leave_one_load_open) {
  BOOST_TEST(at_solution(four_feet(0.0).problem(0.0)).null_dimension == 1);
  Table stool = four_feet(0.0);
  stool.feet.pop_back();
  stool.feet[1] = {-1, 0, -0.1};
  BOOST_TEST(at_solution(stool.problem(0.0)).locally_unique);
  // At rest without load the tangent is no unknown either: the normal alone is counted both ways.
  const ContactProblem grazing = ContactProblem::from_dense(
      Eigen::Vector3d(0, 0, 1).asDiagonal(), Eigen::Vector3d::Zero(), {ConstraintSet::cone(0.0)});
  BOOST_TEST(uniqueness(grazing, {0, 0, 0}).locally_unique);
}

// Sliding straight on: friction follows the loads, which may alternate.
BOOST_AUTO_TEST_CASE(four_sliding_feet_leave_one_load_open) {
  const Uniqueness u = at_solution(four_feet(0.3).problem(1.0));
  for (const ContactMode mode : u.modes) BOOST_TEST((mode == ContactMode::kSlide));
  BOOST_TEST(u.null_dimension == 1);
  BOOST_TEST(u.velocity_dimension == 0);
}

// Pushed with exactly mu m g, with the push at the height of the feet: no tipping, no motion.
BOOST_AUTO_TEST_CASE(feet_at_the_sticking_limit_are_counted_both_ways) {
  const double mu = 0.5;
  const Table table = four_feet(mu, 0.0);
  const ContactProblem problem = table.problem(mu * kWeight);
  const std::vector<double> quarter{-mu * kWeight / 4, 0, kWeight / 4};
  std::vector<double> impulse;
  for (int i = 0; i < 4; ++i) impulse.insert(impulse.end(), quarter.begin(), quarter.end());
  std::vector<double> c(12);
  BOOST_REQUIRE(residuals(problem, impulse.data(), c.data()).relative < 1e-14);
  const Uniqueness u = uniqueness(problem, impulse);
  BOOST_TEST(u.num_at_switch == 4);
  BOOST_TEST(u.null_dimension == 6);  // as if all stuck; sliding leaves fewer
  const Table ball{{{0, 0, 0}}, mu};
  const Uniqueness one = uniqueness(ball.problem(mu * kWeight), {-mu * kWeight, 0, kWeight});
  BOOST_TEST(one.num_at_switch == 1);
  BOOST_TEST(one.locally_unique);
}

// Three feet carry a sliding table, the fourth touches without load: whether it lifts is open, and
// so is the load of its diagonal. At 1 km/s loads are small beside V / G, but loads.
BOOST_AUTO_TEST_CASE(a_foot_that_slides_without_load_is_at_the_switch) {
  const double mu = 0.25;
  for (const double speed : {1.0, 1e3}) {
    const ContactProblem problem = four_feet(mu, 0.0).problem(speed);
    std::vector<double> impulse(12, 0.0), c(12);
    for (const int i : {0, 2}) {
      impulse[3 * i] = -mu * kWeight / 2;
      impulse[3 * i + 2] = kWeight / 2;
    }
    BOOST_REQUIRE(residuals(problem, impulse.data(), c.data()).relative < 1e-14);
    const Uniqueness u = uniqueness(problem, impulse);
    BOOST_TEST(u.num_at_switch == 2);
    BOOST_TEST((u.modes[0] == ContactMode::kSlide));
    BOOST_TEST(u.null_dimension == 1);
  }
}

// What is said of the null space must be true of the problem: impulses along it solve it too.
BOOST_AUTO_TEST_CASE(impulses_of_the_null_space_solve_the_problem) {
  const ContactProblem problem = four_feet(0.0).problem(0.0);
  std::vector<double> impulse(12, 0.0), c(12);
  for (int i = 0; i < 4; ++i) impulse[3 * i + 2] = kWeight * (i % 2 ? 0.3 : 0.2);
  BOOST_TEST(residuals(problem, impulse.data(), c.data()).relative < 1e-14);
  BOOST_TEST(uniqueness(problem, impulse).null_dimension == 1);
}

BOOST_AUTO_TEST_CASE(limits_boxes_and_bilateral_rows) {
  Eigen::MatrixXd G = Eigen::MatrixXd::Ones(3, 3);  // one dof, three ways to stop it
  const Eigen::Vector3d g(-1, -1, -1);
  const auto limit = ConstraintSet::non_negative();
  const ContactProblem two =
      ContactProblem::from_dense(G.topLeftCorner(2, 2), g.head<2>(), {limit, limit});
  BOOST_TEST(uniqueness(two, {0.4, 0.6}).null_dimension == 1);
  const ContactProblem dry = ContactProblem::from_dense(
      G, g, {ConstraintSet::box(-0.5, 0.5), limit, ConstraintSet::free(1)});
  const Uniqueness saturated = uniqueness(dry, {0.5, 0.25, 0.25});
  BOOST_TEST(saturated.num_at_switch == 1);  // the box at its bound, at rest
  BOOST_TEST(saturated.null_dimension == 2);
  const ContactProblem slipping = ContactProblem::from_dense(
      G.topLeftCorner(1, 1), g.head<1>(), {ConstraintSet::box(-0.5, 0.5)});
  const Uniqueness slips = uniqueness(slipping, {0.5});
  BOOST_TEST((slips.modes.front() == ContactMode::kOpen));
  BOOST_TEST(slips.locally_unique);
}

BOOST_AUTO_TEST_CASE(refuses_what_does_not_fit) {
  const ContactProblem problem = four_feet(0.5).problem(0.0);
  BOOST_CHECK_THROW(uniqueness(problem, {0.0}), std::invalid_argument);
  BOOST_CHECK_THROW(uniqueness(problem, std::vector<double>(12, NAN)), std::invalid_argument);
  BOOST_CHECK_THROW(uniqueness(problem, std::vector<double>(12, 0.0), 0.0), std::invalid_argument);
  BOOST_CHECK_THROW(uniqueness(problem, std::vector<double>(12, 0.0), 1e-9, 2.0),
                    std::invalid_argument);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace stiction
