#include "stiction/simulator/simulator.hpp"

#include "support/contact_problems.hpp"
#include "support/dense.hpp"
#include <Eigen/Core>
#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <string>

// Budgets end a solve with the best impulses so far and say so: SolverSettings::max_factorisations
// to the very factorisation, time_budget between stages. No times are asserted.

using namespace stiction;
using namespace stiction::test;

namespace {

/// 130 contacts, few enough for the interior point method, on half as many dofs as rows, masses
/// over two decades.
ContactProblem large_problem() {
  Rng rng(1);
  Data d;
  constexpr int kContacts = 130, kRows = 3 * kContacts, kDofs = kRows / 2;
  for (int i = 0; i < kContacts; ++i) d.sets.push_back(ConstraintSet::cone(rng.uniform(0.2, 1.2)));
  Eigen::MatrixXd A = random_matrix(rng, kRows, kDofs);
  for (int j = 0; j < kDofs; ++j) A.col(j) *= std::pow(10.0, rng.uniform(-1.0, 1.0));
  d.G = gram(A);
  d.g = A * random_vector(rng, kDofs);
  return d.problem();
}

class Solve {
 public:
  explicit Solve(const ContactProblem& problem) : problem_(problem) {}
  /// From zero, in a used workspace from the second call on.
  ContactSolution operator()(double time_budget, int max_factorisations = 100000) {
    SolverSettings s;
    s.tolerance = 1e-9;
    s.time_budget = time_budget;
    s.max_factorisations = max_factorisations;
    ContactSolution out;
    solve(problem_, s, work_, out);
    return out;
  }

 private:
  const ContactProblem& problem_;
  SolverWorkspace work_;
};

}  // namespace

BOOST_AUTO_TEST_SUITE(time_budget_test)

// More factorisations never end with worse impulses, whatever was tried last.
BOOST_AUTO_TEST_CASE(a_larger_budget_is_no_worse) {
  const ContactProblem problem = large_problem();
  Solve solve_in(problem);
  const int full = solve_in(0.0).factorisations;
  double before = 1.0;
  int improved = 0;
  for (int budget = 1; budget < full; budget = budget * 5 / 4 + 1) {
    const ContactSolution x = solve_in(0.0, budget);
    BOOST_TEST_CONTEXT("budget " << budget << " of " << full) {
      BOOST_TEST((x.status == SolveStatus::kBudget && x.deterministic));
      BOOST_TEST(x.factorisations <= budget);
      BOOST_TEST(x.residuals.relative <= before);
      improved += x.residuals.relative < before;
      before = x.residuals.relative;
    }
  }
  BOOST_TEST(improved > 4);
}

// Out of time: `budget`, not deterministic; the certificate is that of the impulses returned, which
// are no worse than what fewer factorisations give.
BOOST_AUTO_TEST_CASE(a_solve_out_of_time_returns_its_best) {
  using Clock = std::chrono::steady_clock;
  constexpr int kLongestStage = 80;  // factorisations between two looks at the clock
  const ContactProblem problem = large_problem();
  Solve solve_in(problem);
  solve_in(0.0);
  const Clock::time_point begin = Clock::now();
  const ContactSolution full = solve_in(0.0);
  const double takes = std::chrono::duration<double>(Clock::now() - begin).count();
  BOOST_TEST((full.converged() && full.deterministic));
  std::vector<double> velocity(problem.g.size());
  for (const double share : {1e-9, 0.1, 0.4, 0.6}) {
    const ContactSolution x = solve_in(share * takes);
    const ContactSolution less = solve_in(0.0, std::max(1, x.factorisations - kLongestStage));
    BOOST_TEST_MESSAGE(share << " of " << takes << " s: residual " << x.residuals.relative << ", "
                             << x.factorisations << " of " << full.factorisations
                             << " factorisations");
    if (share > 0.2 && x.converged()) continue;  // the measured solve was slowed by others
    BOOST_TEST_CONTEXT(share << " of the time") {
      BOOST_TEST((x.status == SolveStatus::kBudget && !x.deterministic));
      BOOST_TEST(x.factorisations < full.factorisations);
      const Residuals again = residuals(problem, x.impulse.data(), velocity.data());
      BOOST_TEST(again.relative == x.residuals.relative);
      BOOST_TEST((velocity == x.velocity));
      BOOST_TEST(x.residuals.relative > 1e-9);
      if (x.factorisations > kLongestStage)
        BOOST_TEST(x.residuals.relative <= less.residuals.relative);
    }
  }
}

// A budget that is not used up changes no bit; the solution says that it could have.
BOOST_AUTO_TEST_CASE(enough_time_changes_nothing) {
  const ContactProblem problem = large_problem();
  Solve solve_in(problem);
  const ContactSolution full = solve_in(0.0), x = solve_in(1e6);
  BOOST_TEST((x.impulse == full.impulse && x.iterations == full.iterations));
  BOOST_TEST((x.converged() && !x.deterministic));
}

// A step out of time is taken with those impulses and says so.
BOOST_AUTO_TEST_CASE(a_step_out_of_time_is_taken) {
  Scene scene;
  scene.add_ground({0.5});
  for (int k = 0; k < 10; ++k) {
    const Transform X_W{Mat3d::identity(), {0, 0, 0.1 + 0.2 * k}};
    scene.add_body("box" + std::to_string(k), Shape::box({0.1, 0.1, 0.1}), 1.0, X_W, {0.5});
  }
  SimulatorSettings s;
  s.solver.time_budget = 1e-9;
  Simulator sim(scene, s);
  State state = sim.initial_state();
  const StepReport& report = sim.step(state, {});
  BOOST_TEST((report.status == StepStatus::kNotConverged));
  BOOST_TEST((report.solver_status == SolveStatus::kBudget));
  BOOST_TEST(!sim.solution().deterministic);
  BOOST_TEST(report.residuals.relative == sim.solution().residuals.relative);
  BOOST_TEST((state.time == s.dt && state.v.allFinite() && state.v.norm() > 0.0));
}

BOOST_AUTO_TEST_SUITE_END()
