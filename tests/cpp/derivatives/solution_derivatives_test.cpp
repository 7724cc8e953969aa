#include "stiction/derivatives/solution_derivatives.hpp"

#include "stiction/solver/central_path.hpp"

#include "support/contact_problems.hpp"
#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <map>
#include <string>

namespace stiction::test {
namespace {

using Eigen::MatrixXd;
using Eigen::VectorXd;

/// How problems are solved: of a model, or at a point of the central path.
struct Model {
  const char* name;
  const char* solver;
  double energy;
  double step;  ///< of differences: ADMM leaves more rounding
};
constexpr Model kModels[] = {{"NCP", "ncp-newton", 0.0, 1e-6},
                             {"CCP", "ccp-admm", 0.0, 3e-5},
                             {"path", "", 1e-2, 1e-6},
                             {"path", "", 1e-4, 1e-6}};

ContactSolution solved(const ContactProblem& problem,
                       const ContactSolution* from = nullptr,
                       const Model& model = kModels[0]) {
  SolverSettings settings;
  settings.tolerance = 1e-14;
  SolverWorkspace work;
  ContactSolution solution;
  if (model.energy > 0.0) {
    solve_on_path(problem, model.energy, settings, work, solution);
    return solution;
  }
  settings.name = model.solver;
  if (settings.name != "ncp-newton") settings.max_iterations = 20000;
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
    const double mu = rng.uniform(0.1, rng.uniform(0.0, 1.0) < 0.5 ? 0.8 : 9.0),
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
  std::map<std::string, int> seen, compared;
  int skipped = 0, first_friction = 0;
  for (int k = 0; k < 1500; ++k) {
    const Model& model = kModels[k / 2 % 4];
    Data data = k % 2 ? problem_of_dimensions(rng)
                      : random_problem(rng, 1.2, rng.uniform(0.0, 1.0) < 0.5, 0.5);
    const ContactProblem problem = data.problem();
    const ContactSolution base = solved(problem, nullptr, model);
    if (base.status > SolveStatus::kRoundingLimited) continue;
    const SolutionDerivatives d = solution_derivatives(problem, base);
    if (d.num_at_switch > 0 || d.rank < d.unknowns) continue;
    if (*std::min_element(d.margin.begin(), d.margin.end()) < 1e-3) continue;
    const int n = problem.num_rows();
    int unsolved = 0;  // of the problems beside it
    const auto difference = [&](auto&& change) {
      const double h = model.step;
      Data plus = data, minus = data;
      change(plus, h);
      change(minus, -h);
      const ContactSolution a = solved(plus.problem(), &base, model),
                            b = solved(minus.problem(), &base, model);
      unsolved += std::max(a.status, b.status) > SolveStatus::kRoundingLimited;
      return VectorXd((vector_of(a.impulse) - vector_of(b.impulse)) / (2.0 * h));
    };
    const std::string what = std::string(model.name) + " " + std::to_string(k);
    const double size = std::max(d.by_g.cwiseAbs().maxCoeff(), 1e-3);
    const VectorXd dg = random_vector(rng, n);
    const VectorXd by_g = difference([&](Data& x, double h) { x.g += h * dg; });
    MatrixXd dG = random_matrix(rng, n, n);
    dG = (dG + dG.transpose()).eval();
    const VectorXd by_G = difference([&](Data& x, double h) { x.G += h * dG; });
    if (unsolved > 0 && ++skipped) continue;
    BOOST_TEST((by_g - d.by_g * dg).cwiseAbs().maxCoeff() < 3e-6 * size * n, "g, " << what);
    const VectorXd as_g = dG * vector_of(base.impulse);
    BOOST_TEST((by_G - d.by_g * as_g).cwiseAbs().maxCoeff() <
                   1e-5 * size * n * std::max(1.0, as_g.cwiseAbs().maxCoeff()),
               "G, " << what);
    for (int i = 0; i < problem.num_sets(); ++i) {
      const ConstraintSet& set = problem.sets[i];
      const std::string mode = model.energy > 0.0 ? "" : std::string(" ") + to_string(d.modes[i]);
      ++seen[std::string(model.name) + " " + std::to_string(static_cast<int>(set.kind)) + " " +
             std::to_string(set.dim) + mode];
      if (set.is_cone() && set.dim == 3 && set.friction.mu[0] == 0.0 && model.energy == 0.0) {
        Data more = data;  // the derivative by the first friction
        for (double& m : more.sets[i].friction.mu) m = model.step;
        const VectorXd a = vector_of(solved(more.problem(), &base, model).impulse),
                       by_mu = (a - vector_of(base.impulse)) / model.step;
        BOOST_TEST((by_mu - d.by_friction.col(i)).cwiseAbs().maxCoeff() <
                       1e-3 * std::max(1.0, by_mu.cwiseAbs().maxCoeff()),
                   "no mu of set " << i << ", " << what);
        first_friction += by_mu.cwiseAbs().maxCoeff() > 0.1;
      }
      if (!set.is_cone() || set.friction.mu[0] == 0.0) continue;
      const double mu = set.friction.mu[0];
      const VectorXd by_mu = difference([&](Data& x, double h) {
        for (double& m : x.sets[i].friction.mu) m *= (mu + h) / mu;
      });
      BOOST_TEST((by_mu - d.by_friction.col(i)).cwiseAbs().maxCoeff() <
                     1e-5 * std::max(1.0, by_mu.cwiseAbs().maxCoeff()),
                 "mu of set " << i << ", " << what);
    }
    ++compared[model.name];
  }
  for (const auto& [name, count] : seen) BOOST_TEST_MESSAGE(name << " " << count);
  for (const char* model : {"NCP", "CCP"}) {
    BOOST_TEST(compared[model] > 50, model << " " << compared[model]);
    for (const char* name : {"0 3 open",
                             "0 3 stick",
                             "0 3 slide",
                             "0 4 stick",
                             "0 4 slide",
                             "0 6 stick",
                             "0 6 slide",
                             "1 1 open",
                             "1 1 stick",
                             "2 1 open",
                             "2 1 stick",
                             "3 2 stick"}) {
      const std::string what = std::string(model) + " " + name;
      BOOST_TEST(seen[what] > 3, what << " " << seen[what]);
    }
  }
  BOOST_TEST(skipped < 3);
  BOOST_TEST(first_friction > 20);
  BOOST_TEST(compared["path"] > 100);
  for (const char* name : {"path 0 3", "path 0 4", "path 0 6", "path 1 1", "path 2 1", "path 3 2"})
    BOOST_TEST(seen[name] > 3, name);
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
