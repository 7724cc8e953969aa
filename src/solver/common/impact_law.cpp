#include "solver/common/impact_law.hpp"

#include "solver/common/impact_energy.hpp"
#include "solver/common/island.hpp"
#include "solver/ncp_newton/ncp_newton.hpp"
#include "solver/workspace.hpp"

#include <algorithm>
#include <cmath>

// Newton's law asks every contact of an impact for e times its own approach; with friction, or
// several contacts at once, that may be more than there is: kinetic energy grows. Then, and only
// then, e of all contacts of the island is scaled by one factor s <= 1, and c* is what restitution
// makes it elsewhere, the larger of s e times the approach and of what the gap asks for. (It is not
// Stronge's energetic law, which relates the work of restitution to that of compression.)
//
// The rows do the work W = lambda^T J v_free + lambda^T G lambda / 2 on the free motion; position
// errors may add recovery_energy(). Between the solutions lambda_0 of s = 0, which dissipates, and
// lambda_1 of s = 1, W is nearly the quadratic
//   W(s) = W_0 + (W_1 - W_0 - A) s + A s^2,  A = d^T G d / 2,  d = lambda_1 - lambda_0,
// whose root is where s is looked for first; where modes change in between s falls by a fifth until
// nothing is gained. What is returned is the solution of the same complementarity problem at s e,
// not an interpolation: the certificate judges that. Where no s is found it is lambda_0.

namespace stiction {
namespace {

constexpr double kLess = 0.8;  ///< of s, where energy is still gained

bool is_impact(const ConstraintRow& row) { return row.kind == ReferenceKind::kRestitution; }

/// What a row that is no impact may add: the correction of a position error what its definition
/// says, springs what they hold, the path of a closure what bends it.
double allowed_energy(const ConstraintRow& row, const double* lambda, const double* velocity) {
  if (is_impact(row)) return 0.0;
  if (recovers(row)) return recovery_energy(row, lambda, velocity);
  double energy = 0.0;
  for (int r = 0; r < row.set.dim; ++r) energy += lambda[r] * row.reference[r];
  return std::max(0.0, energy);
}

/// G lambda in row k, from c.
double motion(const ContactProblem& p, const double* impulse, const double* velocity, int k) {
  return velocity[k] - p.g[k] - p.compliance[k] * impulse[k];
}

/// W less what it may be; above zero: energy is gained. `rows`: those of the island's sets.
double gain_of(const Island& island,
               const ConstraintRow* rows,
               const double* impulse,
               const double* velocity) {
  const ContactProblem& p = island.problem;
  ImpactEnergy energy;
  for (int i = island.first; i < island.last; ++i, ++rows) {
    for (int r = 0; r < p.sets[i].dim; ++r) {
      const int k = p.sets[i].offset + r;
      const double free = p.g[k] - curvature_in_row(*rows, r);
      energy.add_row(impulse[k], free, rows->reference[r], motion(p, impulse, velocity, k));
    }
    const int offset = p.sets[i].offset;
    energy.allowed += allowed_energy(*rows, impulse + offset, velocity + offset);
  }
  return energy.gain();
}

/// The root of W in (0, 1), from W(0) = `none` < 0 and W(1) = `all` > 0; 0 if there is none.
double root(double none, double all, double A) {
  if (!(none < 0.0)) return 0.0;
  const double b = all - none - A;
  const double s = -2.0 * none / (b + std::sqrt(b * b - 4.0 * A * none));
  return std::isfinite(s) ? std::clamp(s, 0.0, 1.0) : 0.0;
}

int budget(const Island& island, const SolverSettings& settings) {
  return settings.max_factorisations > 0 ? settings.max_factorisations
                                         : dense_factorisations(island.rows());
}

/// Whether the model's own residual says that an island is solved; the NCP has no compliance but
/// that of the scene.
bool solved(const Island& island,
            const SolverSettings& settings,
            const ContactSolution& x,
            std::vector<double>& scratch) {
  scratch.resize(x.velocity.size());
  std::copy(x.velocity.begin() + island.begin,
            x.velocity.begin() + island.end,
            scratch.begin() + island.begin);
  if (x.model != ContactModel::kNcp && !x.regularisation.empty()) {
    for (int k = island.begin; k < island.end; ++k)
      scratch[k] += x.regularisation[k] * x.impulse[k];
  }
  const Residuals r = model_residuals(x.model,
                                      settings.facets,
                                      island.problem,
                                      x.impulse.data(),
                                      scratch.data(),
                                      island.first,
                                      island.last);
  return r.relative <= tolerance_of(island, settings) || r.rounding_limited();
}

/// One island that gains energy, solved again.
class GainingIsland {
 public:
  GainingIsland(const ContactProblem& problem,
                int island,
                SolverWorkspace& solver,
                ImpactWork& work)
      : whole_(problem, problem.island_start[island], problem.island_start[island + 1]),
        settings_(work.settings),
        solver_(solver),
        work_(work),
        left_(budget(whole_, work.settings)) {
    copy_island(problem, island, work.problem);
  }

  /// Leaves the answer in work.solution, its c* in `rows` and in work.problem.
  void reduce_restitution(ConstraintRow* rows, const ContactSolution& newton);
  int factorisations() const { return factorisations_; }
  const Island& whole() const { return whole_; }

 private:
  Island alone() const { return {work_.problem, 0, work_.problem.num_sets()}; }
  void begin(const ConstraintRow* rows, const ContactSolution& newton);
  void set_restitution(double share, ConstraintRow* rows);
  bool solve_at(double share, ConstraintRow* rows);
  double gain(const ConstraintRow* rows) const {
    return gain_of(alone(), rows, work_.solution.impulse.data(), work_.solution.velocity.data());
  }
  double curvature() const;

  const Island whole_;
  SolverSettings& settings_;
  SolverWorkspace& solver_;
  ImpactWork& work_;
  int left_, factorisations_ = 0;
};

void GainingIsland::begin(const ConstraintRow* rows, const ContactSolution& newton) {
  const ContactProblem& p = work_.problem;
  ContactSolution& x = work_.solution;
  x.impulse.assign(newton.impulse.begin() + whole_.begin, newton.impulse.begin() + whole_.end);
  x.velocity.assign(newton.velocity.begin() + whole_.begin, newton.velocity.begin() + whole_.end);
  x.penalty = newton.penalty;
  work_.newton_impulse = x.impulse;
  work_.newton_motion.resize(p.g.size());
  for (int k = 0; k < p.num_rows(); ++k)
    work_.newton_motion[k] = motion(p, x.impulse.data(), x.velocity.data(), k);
  work_.impacts.clear();
  for (int i = 0; i < p.num_sets(); ++i) {
    if (!is_impact(rows[i])) continue;
    const int normal = p.sets[i].dim - 1;
    const double newton_reference = rows[i].reference[normal];
    work_.impacts.push_back(
        {i, p.g[p.sets[i].offset + normal] + newton_reference, newton_reference});
  }
}

/// e of the impacts <- share of e.
void GainingIsland::set_restitution(double share, ConstraintRow* rows) {
  for (const ImpactWork::Impact& impact : work_.impacts) {
    ConstraintRow& row = rows[impact.set];
    const double asked = share * impact.newton;
    const bool restores = asked >= row.gap_reference;
    row.kind = restores ? ReferenceKind::kRestitution : row.gap_kind;
    const int normal = row.set.dim - 1;
    row.reference[normal] = restores ? asked : row.gap_reference;
    work_.problem.g[work_.problem.sets[impact.set].offset + normal] =
        impact.free_velocity - row.reference[normal];
  }
}

/// False if the problem is not solved within what is left of the budgets.
bool GainingIsland::solve_at(double share, ConstraintRow* rows) {
  set_restitution(share, rows);
  if (left_ <= 0 || solver_.parts().account.exhausted()) return false;
  settings_.max_factorisations = left_;
  solve(work_.problem, settings_, solver_, work_.solution);
  left_ -= work_.solution.factorisations;
  factorisations_ += work_.solution.factorisations;
  return work_.solution.status <= SolveStatus::kRoundingLimited;
}

/// A.
double GainingIsland::curvature() const {
  double A = 0.0;
  for (std::size_t k = 0; k < work_.newton_impulse.size(); ++k) {
    A += 0.5 * (work_.newton_impulse[k] - work_.plastic.impulse[k]) *
         (work_.newton_motion[k] - work_.plastic_motion[k]);
  }
  return A;
}

void GainingIsland::reduce_restitution(ConstraintRow* rows, const ContactSolution& newton) {
  begin(rows, newton);
  ContactSolution& x = work_.solution;
  const double all = gain(rows);
  if (!solve_at(0.0, rows)) return;
  work_.plastic = x;
  work_.plastic_motion.resize(x.impulse.size());
  for (int k = 0; k < work_.problem.num_rows(); ++k)
    work_.plastic_motion[k] = motion(work_.problem, x.impulse.data(), x.velocity.data(), k);
  double share = root(gain(rows), all, curvature());
  for (int solves = 1; solves < kImpactSolves && share > 0.0; ++solves, share *= kLess) {
    if (!solve_at(share, rows)) break;
    if (gain(rows) <= 0.0) return;
  }
  set_restitution(0.0, rows);
  x = work_.plastic;
}

/// The answer of an island, and its c*, among the others.
void put_back(const Island& island,
              const ImpactWork& work,
              ContactProblem& problem,
              ContactSolution& solution) {
  const ContactSolution& x = work.solution;
  std::copy(work.problem.g.begin(), work.problem.g.end(), problem.g.begin() + island.begin);
  std::copy(x.impulse.begin(), x.impulse.end(), solution.impulse.begin() + island.begin);
  std::copy(x.velocity.begin(), x.velocity.end(), solution.velocity.begin() + island.begin);
  if (!x.regularisation.empty()) {
    solution.regularisation.resize(problem.g.size(), 0.0);
    std::copy(x.regularisation.begin(),
              x.regularisation.end(),
              solution.regularisation.begin() + island.begin);
  } else if (!solution.regularisation.empty()) {
    std::fill_n(solution.regularisation.begin() + island.begin, island.rows(), 0.0);
  }
  solution.status = std::max(solution.status, x.status);
  solution.iterations = std::max(solution.iterations, x.iterations);
}

}  // namespace

void apply_impact_law(const SolverSettings& settings,
                      ConstraintRows& rows,
                      ContactProblem& problem,
                      SolverWorkspace& solver,
                      ImpactWork& work,
                      ContactSolution& solution) {
  work.most_factorisations = 0;
  if (std::none_of(rows.rows.begin(), rows.rows.end(), is_impact)) return;
  WorkAccount& account = solver.parts().account;
  const WorkAccount::Scope scope(account, settings);
  if (scope.opened()) allow_for(problem, account);
  const double work_before = account.spent();
  int factorisations = 0;
  bool changed = false;
  for (int k = 0; k < problem.num_islands(); ++k) {
    const Island island(problem, problem.island_start[k], problem.island_start[k + 1]);
    ConstraintRow* own = rows.rows.data() + island.first;
    if (std::none_of(own, own + (island.last - island.first), is_impact)) continue;
    work.most_factorisations += budget(island, settings);
    if (!solved(island, settings, solution, work.newton_motion) ||
        !(gain_of(island, own, solution.impulse.data(), solution.velocity.data()) > 0.0))
      continue;
    work.settings = settings;
    GainingIsland gaining(problem, k, solver, work);
    gaining.reduce_restitution(own, solution);
    factorisations += gaining.factorisations();
    put_back(gaining.whole(), work, problem, solution);
    changed = true;
  }
  if (!changed) return;
  solution.factorisations += factorisations;
  solution.work += account.spent() - work_before;
  solution.certified = false;
  certify(problem, settings, solver, solution);
}

}  // namespace stiction
