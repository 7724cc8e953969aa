#include "math/number_text.hpp"
#include "solver/common/island.hpp"
#include "solver/solvers.hpp"
#include "solver/workspace.hpp"

#include <cmath>
#include <stdexcept>

namespace stiction {
namespace {

[[noreturn]] void refuse(const char* field, const std::string& value, const char* rule) {
  throw std::invalid_argument(std::string(field) + " = " + value + ": must be " + rule);
}

double accepted_tolerance(const ContactProblem& problem, int k, const SolverSettings& settings) {
  return tolerance_of({problem, problem.island_start[k], problem.island_start[k + 1]}, settings);
}

/// Residuals of the solver's model, worst island; whether each island is below the tolerance, or is
/// at least as accurate as double allows.
struct Verdict {
  bool converged = true, limited = true;
};
Verdict judge(const ContactProblem& problem,
              const SolverSettings& settings,
              ContactSolution& solution,
              Buffer<double>& velocity) {
  Verdict out;
  const double* c = solution.velocity.data();
  if (!solution.regularisation.empty()) {
    velocity.grow(problem.g.size());
    for (int r = 0; r < problem.num_rows(); ++r)
      velocity[r] = c[r] + solution.regularisation[r] * solution.impulse[r];
    c = velocity;
  }
  solution.model_residuals = {};
  for (int k = 0; k < problem.num_islands(); ++k) {
    const Residuals r = model_residuals(solution.model,
                                        settings.facets,
                                        problem,
                                        solution.impulse.data(),
                                        c,
                                        problem.island_start[k],
                                        problem.island_start[k + 1]);
    solution.model_residuals.merge(r);
    const bool exact = r.relative <= settings.tolerance;
    const double accepted = exact ? settings.tolerance : accepted_tolerance(problem, k, settings);
    const bool converged = r.relative <= accepted;
    if (converged) solution.tolerance = std::max(solution.tolerance, accepted);
    out.converged = out.converged && converged;
    out.limited = out.limited && (converged || r.rounding_limited());
  }
  return out;
}

/// What the exact residuals say goes before what the solver says.
SolveStatus corrected(SolveStatus claimed, const Verdict& verdict) {
  if (verdict.converged)
    return claimed == SolveStatus::kRegularised ? claimed : SolveStatus::kConverged;
  if (verdict.limited && claimed != SolveStatus::kRegularised) return SolveStatus::kRoundingLimited;
  return claimed <= SolveStatus::kRoundingLimited ? SolveStatus::kStalled : claimed;
}

}  // namespace

/// Rows of a contact whose friction acts in a plane: pyramids and bisections over its angle.
static constexpr int kPlanar = 3;

SolverWorkspace::SolverWorkspace() : parts_(std::make_unique<Parts>()) {}
SolverWorkspace::~SolverWorkspace() = default;
SolverWorkspace::SolverWorkspace(SolverWorkspace&&) noexcept = default;
SolverWorkspace& SolverWorkspace::operator=(SolverWorkspace&&) noexcept = default;

const std::vector<SolverEntry>& solvers() {
  static const std::vector<SolverEntry> entries = {
      {"ccp-admm",
       ContactModel::kCcp,
       "alternating directions with a spectral penalty (after Le Lidec et al. 2024, Alg. 3)",
       solve_ccp_admm},
      {"ccp-admm-published",
       ContactModel::kCcp,
       "alternating directions in N s and m/s, as published (Le Lidec et al. 2024, Alg. 3)",
       solve_ccp_admm_published},
      {"ccp-newton",
       ContactModel::kCcp,
       "regularised Newton in velocities (MuJoCo; Castro et al. 2022)",
       solve_ccp_newton},
      {"ccp-pgs",
       ContactModel::kCcp,
       "projected Gauss-Seidel (Le Lidec et al. 2024, Alg. 2)",
       solve_ccp_pgs},
      {"lcp-lemke",
       ContactModel::kLcp,
       "Lemke's pivoting on the LCP of Stewart and Trinkle (1996)",
       solve_lcp_lemke,
       kPlanar},
      {"lcp-pgs",
       ContactModel::kLcp,
       "projected Gauss-Seidel on the friction pyramid (Le Lidec et al. 2024, Alg. 1)",
       solve_lcp_pgs,
       kPlanar},
      {"lcp-qp",
       ContactModel::kLcp,
       "Stewart-Trinkle LCP as a quadratic program, proximal method of multipliers",
       solve_lcp_qp,
       kPlanar},
      {"lcp-staggered",
       ContactModel::kLcp,
       "staggered projections on the friction pyramid (Kaufman et al. 2008)",
       solve_lcp_staggered,
       kPlanar},
      {"ncp-admm",
       ContactModel::kNcp,
       "ADMM with De Saxce's correction frozen in each iteration (after Carpentier et al. 2024)",
       solve_ncp_admm},
      {"ncp-admm-published",
       ContactModel::kNcp,
       "the same in N s and m/s, as published (Carpentier et al. 2024)",
       solve_ncp_admm_published},
      {"ncp-newton",
       ContactModel::kNcp,
       "semismooth Newton on the modes, exact Gauss-Seidel and an interior point method behind it",
       solve_ncp_newton},
      {"ncp-pgs",
       ContactModel::kNcp,
       "projected Gauss-Seidel, stick first (after Jourdan, Alart, Jean 1998)",
       solve_ncp_pgs},
      {"ncp-pgs-published",
       ContactModel::kNcp,
       "projected Gauss-Seidel (Jourdan, Alart, Jean 1998; Le Lidec et al. 2024, Alg. 5)",
       solve_ncp_pgs_published,
       kPlanar},
      {"ncp-staggered",
       ContactModel::kNcp,
       "staggered projections (Kaufman et al. 2008; Le Lidec et al. 2024, Alg. 6)",
       solve_ncp_staggered,
       kPlanar},
      {"raisim",
       ContactModel::kRaisim,
       "per-contact iteration, exact root (after Hwangbo et al. 2018)",
       solve_raisim,
       kPlanar},
      {"raisim-published",
       ContactModel::kRaisim,
       "per-contact bisection (Hwangbo et al. 2018)",
       solve_raisim_published,
       kPlanar},
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

void SolverSettings::validate(const SolverSettings& defaults) const {
  find_solver(name);
  check_ranges(*this, kSolverSettings);
  refuse_unread(*this, defaults, kSolverSettings, "solver", name);
  for (const double r : given_regularisation) {
    if (!(r > 0.0 && std::isfinite(r)))
      refuse("given_regularisation", number_text(r), "> 0 and finite in every row");
  }
  if (regularisation != defaults.regularisation && name != "ccp-newton") {
    throw std::invalid_argument("regularisation: solver \"" + name +
                                "\" does not read it; of ccp-newton");
  }
}

const char* to_string(SolveStatus status) {
  switch (status) {
    case SolveStatus::kConverged:
      return "converged";
    case SolveStatus::kRoundingLimited:
      return "rounding_limited";
    case SolveStatus::kRegularised:
      return "regularised";
    case SolveStatus::kStalled:
      return "stalled";
    case SolveStatus::kMaxIterations:
      return "max_iterations";
    case SolveStatus::kBudget:
      return "budget";
    case SolveStatus::kInfeasible:
      return "infeasible";
    case SolveStatus::kNotFinite:
      return "not_finite";
  }
  return "unknown";
}

/// The same for every solver: with the exact velocity of the final impulse.
void certify(const ContactProblem& problem,
             const SolverSettings& settings,
             SolverWorkspace& work,
             ContactSolution& solution) {
  solution.tolerance = settings.tolerance;
  if (!solution.certified) {
    solution.residuals = residuals(problem, solution.impulse.data(), solution.velocity.data());
  }
  if (!std::isfinite(solution.residuals.relative)) {
    solution.impulse.assign(problem.g.size(), 0.0);
    solution.residuals = residuals(problem, solution.impulse.data(), solution.velocity.data());
    solution.model_residuals = solution.residuals;
    solution.status = SolveStatus::kNotFinite;
    return;
  }
  if (solution.certified && problem.num_islands() <= 1 && solution.regularisation.empty()) {
    solution.model_residuals = solution.residuals;
    const Residuals& r = solution.residuals;
    const bool exact = r.relative <= settings.tolerance || problem.num_islands() == 0;
    if (!exact) solution.tolerance = accepted_tolerance(problem, 0, settings);
    const bool converged = r.relative <= solution.tolerance;
    solution.status = corrected(solution.status, {converged, converged || r.rounding_limited()});
    return;
  }
  solution.status =
      corrected(solution.status, judge(problem, settings, solution, work.parts().model_velocity));
}

namespace {

/// Throws where a contact has more rows than the solver takes.
void check_cones(const SolverEntry& entry, const ContactProblem& problem) {
  for (int i = 0; i < problem.num_sets(); ++i) {
    const ConstraintSet& set = problem.sets[i];
    if (!set.is_cone() || set.dim <= entry.largest_cone) continue;
    throw std::invalid_argument(
        "solver \"" + std::string(entry.name) + "\" takes contacts of up to " +
        std::to_string(entry.largest_cone) + " rows: sets[" + std::to_string(i) + "] has " +
        std::to_string(set.dim) + " (" + (set.dim == 4 ? "torsional" : "torsional and rolling") +
        " friction); use ncp-newton, ncp-pgs, ncp-admm or a ccp solver");
  }
}

/// The problem has circular cones.
void solve_circular(const SolverEntry& entry,
                    const ContactProblem& problem,
                    const SolverSettings& settings,
                    SolverWorkspace& work,
                    ContactSolution& solution) {
  entry.solve(problem, settings, work, solution);
  certify(problem, settings, work, solution);
}

/// Where cones are not circular, by the problem in which they are.
void solve_any_cones(const SolverEntry& entry,
                     const ContactProblem& problem,
                     const SolverSettings& settings,
                     SolverWorkspace& work,
                     ContactSolution& solution) {
  const std::size_t rows = problem.g.size(), given = settings.given_regularisation.size();
  SolverWorkspace::Parts& parts = work.parts();
  CircularForm& form = parts.circular;
  const ContactProblem& circular = form.take(problem);
  if (!form.copied()) return solve_circular(entry, problem, settings, work, solution);
  parts.circular_settings = settings;
  if (given == rows)
    form.compliance_to_circular(parts.circular_settings.given_regularisation.data());
  form.to_circular(solution.impulse.data());
  solve_circular(entry, circular, parts.circular_settings, work, solution);
  form.from_circular(solution.impulse.data());
  if (!solution.regularisation.empty())
    form.compliance_from_circular(solution.regularisation.data());
  solution.residuals = residuals(problem, solution.impulse.data(), solution.velocity.data());
}

}  // namespace

void solve(const ContactProblem& problem,
           const SolverSettings& settings,
           SolverWorkspace& work,
           ContactSolution& solution) {
  const SolverEntry& entry = find_solver(settings.name);
  check_cones(entry, problem);
  const std::size_t rows = problem.g.size(), given = settings.given_regularisation.size();
  if (settings.regularisation == RegularisationRule::kGiven && given != rows) {
    throw std::invalid_argument("regularisation has " + std::to_string(given) +
                                " rows: the problem has " + std::to_string(rows));
  }
  if (solution.impulse.size() != rows) solution.impulse.assign(rows, 0.0);
  solution.velocity.resize(rows);
  solution.regularisation.clear();
  solution.model = entry.model;
  solution.path_energy = 0.0;
  solution.iterations = solution.factorisations = 0;
  solution.work = 0.0;
  solution.certified = false;
  solution.deterministic = settings.time_budget == 0.0;
  IslandScale& scale = work.parts().island_scale;
  const ContactProblem& scaled = scale.take(problem);
  if (!scale.copied()) return solve_any_cones(entry, problem, settings, work, solution);
  scale.to_copy(solution.impulse.data());
  solve_any_cones(entry, scaled, settings, work, solution);
  scale.from_copy(solution.impulse.data());
  scale.from_copy(solution.velocity.data());
  solution.residuals = {};
  for (int k = 0; k < problem.num_islands(); ++k) {
    solution.residuals.merge(residuals_at(problem,
                                          solution.impulse.data(),
                                          solution.velocity.data(),
                                          problem.island_start[k],
                                          problem.island_start[k + 1]));
  }
}

}  // namespace stiction
