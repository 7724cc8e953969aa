#include "solver/common/judge.hpp"

#include "support/contact_problems.hpp"
#include "support/dense.hpp"
#include <boost/test/unit_test.hpp>

#include <cmath>

using namespace stiction;
using namespace stiction::test;

namespace {

/// One row whose solution is lambda = 1.
struct OneRow {
  ContactProblem problem = ContactProblem::from_dense(
      Eigen::MatrixXd::Ones(1, 1), -Eigen::VectorXd::Ones(1), {ConstraintSet::non_negative()});
  Island island{problem, 0, 1};
  SolverSettings settings;
  Buffer<double> best;
  double lambda = 0.0, velocity = 0.0;
  Judge judge{island, ContactModel::kNcp, settings, best, &lambda, &velocity};
};

}  // namespace

BOOST_AUTO_TEST_SUITE(judge_test)

BOOST_AUTO_TEST_CASE(solved_at_the_start_takes_no_iteration) {
  OneRow x;
  x.lambda = 1.0;
  const IslandOutcome out = x.judge.run([](int) -> double { throw 0; });
  BOOST_TEST((out.iterations == 0 && out.status == SolveStatus::kConverged));
}

// An iterate that says it has nearly stopped is judged at once, one that does not every 16.
BOOST_AUTO_TEST_CASE(judged_when_near_and_now_and_then) {
  for (const bool says : {true, false}) {
    OneRow x;
    const IslandOutcome out = x.judge.run([&](int k) {
      if (k >= 3) x.lambda = 1.0;
      return says && k >= 3 ? 1e-12 : 1.0;
    });
    BOOST_TEST((out.status == SolveStatus::kConverged));
    BOOST_TEST(out.iterations == (says ? 3 : 16));
  }
}

// One that stops often without being solved is judged at growing intervals: 1, 2, 4, 8, 16.
BOOST_AUTO_TEST_CASE(false_alarms_are_judged_ever_more_rarely) {
  OneRow x;
  x.settings.max_iterations = 1000;
  x.lambda = 0.5;
  const IslandOutcome out = x.judge.run([&](int k) {
    if (k >= 100) x.lambda = 1.0;
    return 1e-12;
  });
  BOOST_TEST((out.status == SolveStatus::kConverged));
  BOOST_TEST((out.iterations >= 100 && out.iterations <= 116));
}

// At the end the best impulses are taken back, and the status says why it ended.
BOOST_AUTO_TEST_CASE(the_best_is_the_answer) {
  const auto ends = [](double change, SolveStatus status, int iterations) {
    OneRow x;
    x.settings.max_iterations = 20;
    const IslandOutcome out = x.judge.run([&](int k) {
      x.lambda = k <= 16 ? 0.9 : -5.0;
      return k < 18 ? 1.0 : change;
    });
    BOOST_TEST((out.status == status));
    BOOST_TEST(out.iterations == iterations);
    BOOST_TEST(x.lambda == 0.9);
    BOOST_TEST(std::abs(x.judge.relative() - 0.1) < 1e-12);
  };
  ends(1.0, SolveStatus::kMaxIterations, 20);
  ends(0.0, SolveStatus::kStalled, 18);
  ends(std::nan(""), SolveStatus::kStalled, 18);
}

BOOST_AUTO_TEST_CASE(an_interrupt_ends_it) {
  OneRow x;
  x.settings.interrupt = {[](void*) { return true; }, nullptr};
  BOOST_TEST(x.judge.run([](int) { return 1.0; }).iterations == 0);
}

BOOST_AUTO_TEST_SUITE_END()
