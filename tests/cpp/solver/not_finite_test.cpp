#include "stiction/solver/solver.hpp"

#include "support/dense.hpp"
#include <boost/test/unit_test.hpp>

#include <cmath>

using namespace stiction;

namespace {

ContactProblem mixed_problem() {
  const std::vector<ConstraintSet> sets = {ConstraintSet::cone(0.5),
                                           ConstraintSet::cone(0.0),
                                           ConstraintSet::non_negative(),
                                           ConstraintSet::box(-0.1, 0.1),
                                           ConstraintSet::free(2)};
  const int rows = 10;
  Eigen::MatrixXd A(rows, rows);
  for (int i = 0; i < rows; ++i) {
    for (int j = 0; j < rows; ++j)
      A(i, j) = std::sin(1.0 + 3.0 * i + 7.0 * j) + (i == j ? 3.0 : 0.0);
  }
  const Eigen::VectorXd g = Eigen::VectorXd::LinSpaced(rows, -1.0, 0.5);
  return ContactProblem::from_dense(test::gram(A), g, sets);
}

void check(const ContactProblem& problem) {
  SolverWorkspace work;
  ContactSolution solution;
  solve(problem, {}, work, solution);
  BOOST_TEST(std::string(to_string(solution.status)) == "not_finite");
  for (const double l : solution.impulse) BOOST_TEST(l == 0.0);
}

}  // namespace

BOOST_AUTO_TEST_SUITE(not_finite_test)

// The problem itself is solved: the cases below fail for their planted entry only.
BOOST_AUTO_TEST_CASE(problem_is_solvable) {
  SolverWorkspace work;
  ContactSolution solution;
  solve(mixed_problem(), {}, work, solution);
  BOOST_TEST(solution.converged());
}

// A NaN or infinity in any row of g or on the diagonal of any set is reported, with a zero impulse.
BOOST_AUTO_TEST_CASE(not_finite_is_reported) {
  for (const double bad : {std::nan(""), double(INFINITY), -double(INFINITY)}) {
    const ContactProblem good = mixed_problem();
    for (int r = 0; r < good.num_rows(); ++r) {
      ContactProblem p = good;
      p.g[r] = bad;
      BOOST_TEST_CONTEXT("g[" << r << "] = " << bad) { check(p); }
    }
    for (int i = 0; i < good.num_sets(); ++i) {
      ContactProblem p = good;
      p.set_diagonal_entry(i, 0, bad);
      BOOST_TEST_CONTEXT("diagonal of set " << i << " = " << bad) { check(p); }
    }
  }
}

// A set whose dimension is not its kind's, or a compliance that is not finite, is refused by name.
BOOST_AUTO_TEST_CASE(bad_dimensions_and_compliance_throw) {
  const Eigen::MatrixXd G = Eigen::MatrixXd::Identity(2, 2);
  const Eigen::VectorXd g = Eigen::VectorXd::Zero(2);
  ConstraintSet flat = ConstraintSet::cone(0.5);
  flat.dim = 2;
  BOOST_CHECK_THROW(ContactProblem::from_dense(G, g, {flat}), std::invalid_argument);
  const std::vector<ConstraintSet> sets = {ConstraintSet::non_negative(),
                                           ConstraintSet::non_negative()};
  Eigen::VectorXd R(2);
  R << 0.0, INFINITY;
  BOOST_CHECK_THROW(ContactProblem::from_dense(G, g, sets, R), std::invalid_argument);
  R << 0.0, std::nan("");
  BOOST_CHECK_THROW(ContactProblem::from_dense(G, g, sets, R), std::invalid_argument);
}

// Nothing can move: finite, not solved, and said so.
BOOST_AUTO_TEST_CASE(immovable_problem_is_not_called_infinite) {
  const ContactProblem problem = ContactProblem::from_dense(
      Eigen::MatrixXd::Zero(3, 3), Eigen::Vector3d(0.0, 0.0, -1.0), {ConstraintSet::cone(0.5)});
  SolverWorkspace work;
  ContactSolution solution;
  solve(problem, {}, work, solution);
  BOOST_TEST(std::string(to_string(solution.status)) == "infeasible");
  BOOST_TEST(solution.residuals.dual == 1.0);
  BOOST_TEST(solution.residuals.relative == 1.0);
}

BOOST_AUTO_TEST_SUITE_END()
