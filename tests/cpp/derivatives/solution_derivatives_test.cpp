#include "stiction/derivatives/solution_derivatives.hpp"

#include "support/contact_problems.hpp"
#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <map>
#include <string>

namespace stiction::test {
namespace {

ContactSolution solved(const ContactProblem& problem, const ContactSolution* from = nullptr) {
  SolverSettings settings;
  settings.tolerance = 1e-14;
  SolverWorkspace work;
  ContactSolution solution;
  if (from != nullptr) solution.impulse = from->impulse;
  solve(problem, settings, work, solution);
  return solution;
}

Eigen::VectorXd vector_of(const std::vector<double>& x) {
  return Eigen::Map<const Eigen::VectorXd>(x.data(), static_cast<Eigen::Index>(x.size()));
}

/// Cones of every dimension among the other sets.
Data problem_of_dimensions(Rng& rng) {
  Data data;
  const int n = 1 + static_cast<int>(rng.uniform(0.0, 4.0));
  for (int i = 0; i < n; ++i) {
    const double mu = rng.uniform(0.1, rng.uniform(0.0, 1.0) < 0.5 ? 0.8 : 4.0),
                 pick = rng.uniform(0.0, 1.0);
    data.sets.push_back(
        pick < 0.3   ? ConstraintSet::cone(Cone::torsional(mu, mu * rng.uniform(0.3, 1.0)))
        : pick < 0.6 ? ConstraintSet::cone(Cone::rolling(
                           mu, mu * rng.uniform(0.3, 1.0), mu * rng.uniform(0.3, 1.0)))
                     : random_set(rng, 0.8));
  }
  const int rows = count_rows(data.sets);
  const Eigen::MatrixXd A = random_matrix(rng, rows, 2 * rows);
  data.G = A * A.transpose();
  data.g = A * random_vector(rng, 2 * rows);
  data.R.setZero(rows);
  return data;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(solution_derivatives_test)

/// dg, dG (as dg = dG lambda) and dmu against differences, sets of all kinds and dimensions.
BOOST_AUTO_TEST_CASE(solutions_move_as_they_say) {
  Rng rng(21);
  std::map<std::string, int> seen;
  int compared = 0;
  for (int k = 0; k < 300; ++k) {
    Data data = k % 2 ? problem_of_dimensions(rng)
                      : random_problem(rng, 1.2, rng.uniform(0.0, 1.0) < 0.5, 0.5);
    const ContactProblem problem = data.problem();
    const ContactSolution base = solved(problem);
    if (base.status > SolveStatus::kRoundingLimited) continue;
    const SolutionDerivatives d = solution_derivatives(problem, base);
    if (d.num_at_switch > 0 || d.rank < d.unknowns) continue;
    if (*std::min_element(d.margin.begin(), d.margin.end()) < 1e-4) continue;
    const int n = problem.num_rows();
    const auto difference = [&](auto&& change) {
      Eigen::VectorXd best;
      for (const double h : {1e-6, 1e-7}) {
        Data plus = data, minus = data;
        change(plus, h);
        change(minus, -h);
        const ContactSolution a = solved(plus.problem(), &base), b = solved(minus.problem(), &base);
        best = (vector_of(a.impulse) - vector_of(b.impulse)) / (2.0 * h);
      }
      return best;
    };
    const double size = std::max(d.by_g.cwiseAbs().maxCoeff(), 1e-3);
    const Eigen::VectorXd dg = random_vector(rng, n);
    const Eigen::VectorXd by_g = difference([&](Data& x, double h) { x.g += h * dg; });
    BOOST_TEST((by_g - d.by_g * dg).cwiseAbs().maxCoeff() < 1e-6 * size * n, "g of " << k);
    Eigen::MatrixXd dG = random_matrix(rng, n, n);
    dG = (dG + dG.transpose()).eval();
    const Eigen::VectorXd by_G = difference([&](Data& x, double h) { x.G += h * dG; });
    const Eigen::VectorXd as_g = dG * vector_of(base.impulse);
    BOOST_TEST((by_G - d.by_g * as_g).cwiseAbs().maxCoeff() <
                   1e-5 * size * n * std::max(1.0, as_g.cwiseAbs().maxCoeff()),
               "G of " << k);
    for (int i = 0; i < problem.num_sets(); ++i) {
      const ConstraintSet& set = problem.sets[i];
      ++seen[std::to_string(static_cast<int>(set.kind)) + " " + std::to_string(set.dim) + " " +
             to_string(d.modes[i])];
      if (!set.is_cone() || set.friction.mu[0] == 0.0) continue;
      const double mu = set.friction.mu[0];
      const Eigen::VectorXd by_mu = difference([&](Data& x, double h) {
        for (double& m : x.sets[i].friction.mu) m *= (mu + h) / mu;
      });
      BOOST_TEST((by_mu - d.by_friction.col(i)).cwiseAbs().maxCoeff() <
                     1e-5 * std::max(1.0, by_mu.cwiseAbs().maxCoeff()),
                 "mu of set " << i << " of " << k);
    }
    ++compared;
  }
  BOOST_TEST(compared > 50);
  for (const auto& [name, count] : seen) BOOST_TEST_MESSAGE(name << " " << count);
  for (const char* name :
       {"0 3 stick", "0 3 slide", "0 4 stick", "0 4 slide", "0 6 stick", "0 6 slide", "1 1 stick"})
    BOOST_TEST(seen[name] > 0, name);
}

BOOST_AUTO_TEST_CASE(what_does_not_fit_is_refused) {
  Rng rng(3);
  const ContactProblem problem = random_problem(rng, 1.2, true).problem();
  ContactSolution solution = solved(problem);
  ContactSolution other = solution;
  other.model = ContactModel::kLcp;
  BOOST_CHECK_THROW(solution_derivatives(problem, other), std::invalid_argument);
  other = solution;
  other.impulse[0] = NAN;
  BOOST_CHECK_THROW(solution_derivatives(problem, other), std::invalid_argument);
  BOOST_CHECK_THROW(solution_derivatives(problem, solution, 0.0), std::invalid_argument);
  solution.impulse.pop_back();
  BOOST_CHECK_THROW(solution_derivatives(problem, solution), std::invalid_argument);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace stiction::test
