#include "stiction/solver/solver.hpp"

#include "ncp_pgs.hpp"

#include <cmath>
#include <stdexcept>

namespace stiction {

const std::vector<SolverEntry>& solvers() {
  static const std::vector<SolverEntry> entries = {
      {"ncp-pgs",
       "NCP",
       "projected Gauss-Seidel with an exact local stick and a safe slip step",
       solve_ncp_pgs},
  };
  return entries;
}

const SolverEntry& find_solver(const std::string& name) {
  for (const SolverEntry& e : solvers()) {
    if (name == e.name) return e;
  }
  std::string names;
  for (const SolverEntry& e : solvers()) names += (names.empty() ? "" : ", ") + std::string(e.name);
  throw std::invalid_argument("solver \"" + name + "\" is unknown; there are: " + names);
}

void SolverSettings::validate() const {
  find_solver(name);
  if (!(tolerance > 0.0)) {
    throw std::invalid_argument("solver.tolerance = " + std::to_string(tolerance) +
                                ": must be > 0");
  }
  if (max_iterations < 1) {
    throw std::invalid_argument("solver.max_iterations = " + std::to_string(max_iterations) +
                                ": must be >= 1");
  }
}

const char* to_string(SolveStatus status) {
  switch (status) {
    case SolveStatus::kConverged:
      return "converged";
    case SolveStatus::kRoundingLimited:
      return "rounding_limited";
    case SolveStatus::kMaxIterations:
      return "max_iterations";
    case SolveStatus::kNotFinite:
      return "not_finite";
  }
  return "unknown";
}

void solve(const ContactProblem& problem,
           const SolverSettings& settings,
           SolverWorkspace& work,
           ContactSolution& solution) {
  const std::size_t rows = problem.g.size();
  if (solution.impulse.size() != rows) solution.impulse.assign(rows, 0.0);
  solution.velocity.resize(rows);
  solution.iterations = 0;
  solution.factorisations = 0;
  solution.certified = false;
  work.factorisations = 0;
  find_solver(settings.name).solve(problem, settings, work, solution);
  solution.factorisations = work.factorisations;

  // The certificate is the same for every solver: exact velocity of the final impulse.
  if (!solution.certified) {
    solution.residuals = residuals(problem, solution.impulse.data(), solution.velocity.data());
  }
  if (!std::isfinite(solution.residuals.relative)) {
    solution.impulse.assign(rows, 0.0);
    solution.residuals = residuals(problem, solution.impulse.data(), solution.velocity.data());
    solution.status = SolveStatus::kNotFinite;
  }
}

}  // namespace stiction
