#include "solver/common/island.hpp"
#include "solver/common/progress.hpp"
#include "solver/common/projection.hpp"
#include "solver/first_order/admm.hpp"
#include "solver/first_order/spectral_penalty.hpp"
#include "solver/solvers.hpp"
#include "solver/workspace.hpp"

#include <algorithm>
#include <cmath>

// ADMM for the NCP: De Saxce's correction Gamma is frozen during each iteration, which leaves a
// convex conic problem (Carpentier, Le Lidec and Montaut, "From Compliant to Rigid Contact
// Simulation: a Unified and Efficient Approach", 2024, and Pinocchio's implementation; Algorithm 3
// of Le Lidec et al. 2024 is the same for the CCP, without Gamma):
//   s  = Gamma(z)
//   x  = (G + eta + tau rho)^-1 (tau rho y + eta x + z - s - g)
//   y  = proj_K(x - z / (tau rho))
//   z -= tau rho (x - y)                      z -> c + Gamma(c) in K*
// Here bilateral rows are not split (tau rho = 0, y = x, z = 0), and residuals are compared in one
// unit: primal [N s] times the mean of diag(G) with dual [m/s].

namespace stiction {
namespace {

constexpr double kTau = 0.5;                  // of Pinocchio, as are the next two
constexpr double kPower = 0.2, kStep = 0.05;  // rho = (L m)^1/2 (L/m)^kPower, update by (L/m)^kStep

/// max |x| of the difference of two impulses, and of what keeps z from c + Gamma.
struct Gaps {
  double primal = 0.0, dual = 0.0;
};

class Splitting {
 public:
  Splitting(const Island& island,
            const SolverSettings& settings,
            double warm_penalty,
            AdmmWork& work,
            int& factorisations,
            double* lambda,
            double* velocity);
  IslandOutcome solve();
  double penalty() const { return penalty_.rho() / unit_; }

 private:
  void start();
  void linear_step();
  Gaps project_step();
  SpectralPenalty start_penalty(double warm);

  const Island island_;
  const SolverSettings& settings_;
  double *lambda_, *velocity_;
  double unit_, eta_;
  ShiftedDelassus delassus_;
  Scratch scratch_;
  double *x_, *z_, *next_;
  double* y_;  ///< the island's rows of lambda
  SpectralPenalty penalty_;
  Progress progress_;
};

Splitting::Splitting(const Island& island,
                     const SolverSettings& settings,
                     double warm_penalty,
                     AdmmWork& work,
                     int& factorisations,
                     double* lambda,
                     double* velocity)
    : island_(island),
      settings_(settings),
      lambda_(lambda),
      velocity_(velocity),
      unit_(mean_diagonal(island)),
      eta_(settings.proximal * unit_),
      delassus_(island, eta_, work.matrix, factorisations),
      scratch_(work.vectors, 3 * static_cast<std::size_t>(island.rows())),
      x_(scratch_.take(island.rows())),
      z_(scratch_.take(island.rows())),
      next_(scratch_.take(island.rows())),
      y_(lambda + island.begin),
      penalty_(start_penalty(warm_penalty * unit_)),
      progress_(island_, ContactModel::kNcp, settings, work.best, lambda, velocity) {}

/// Between the bounds of the spectrum; the k-th change is kept for k iterations.
SpectralPenalty Splitting::start_penalty(double warm) {
  const double m = eta_, L = eta_ + delassus_.largest_eigenvalue(x_, z_);
  return {m, L, {kPower, kStep, m, L, 0, 1}, warm};
}

/// y = proj_K(warm start), x = y, z = c + Gamma(c): rebuilt, so that the impulse is all that a warm
/// start needs besides the penalty.
void Splitting::start() {
  for (int i = island_.first; i < island_.last; ++i)
    project(island_.problem.sets[i], lambda_ + island_.problem.sets[i].offset);
  velocities(island_, lambda_, velocity_);
  for (int r = 0; r < island_.rows(); ++r) {
    x_[r] = y_[r];
    z_[r] = velocity_[island_.begin + r];
  }
  for (int i = island_.first; i < island_.last; ++i) {
    const ConstraintSet& set = island_.problem.sets[i];
    double* z = z_ + set.offset - island_.begin;
    if (set.is_cone()) z[set.friction.normal()] += shift(set.friction, z);
    if (set.kind == SetKind::kFree) std::fill(z, z + set.dim, 0.0);
  }
}

void Splitting::linear_step() {
  const double rho = kTau * penalty_.rho();
  const double* g = island_.problem.g.data() + island_.begin;
  for (int i = island_.first; i < island_.last; ++i) {
    const ConstraintSet& set = island_.problem.sets[i];
    const int o = set.offset - island_.begin;
    const double split = set.kind == SetKind::kFree ? 0.0 : rho;
    for (int r = o; r < o + set.dim; ++r) next_[r] = split * y_[r] + eta_ * x_[r] + z_[r] - g[r];
    if (set.is_cone()) next_[o + set.friction.normal()] -= shift(set.friction, z_ + o);
  }
  delassus_.solve(next_);
}

Gaps Splitting::project_step() {
  const double rho = kTau * penalty_.rho(), alpha = settings_.over_relaxation;
  Gaps gaps;
  for (int i = island_.first; i < island_.last; ++i) {
    const ConstraintSet& set = island_.problem.sets[i];
    const int o = set.offset - island_.begin;
    if (set.kind == SetKind::kFree) {
      for (int r = o; r < o + set.dim; ++r) {
        gaps.dual = std::max(gaps.dual, eta_ * std::abs(next_[r] - x_[r]));
        x_[r] = y_[r] = next_[r];
      }
      continue;
    }
    double w[kMaxConeDim], relaxed[kMaxConeDim], old[kMaxConeDim];
    for (int r = 0; r < set.dim; ++r) {
      old[r] = y_[o + r];
      relaxed[r] = alpha * next_[o + r] + (1.0 - alpha) * old[r];
      w[r] = relaxed[r] - z_[o + r] / rho;
      y_[o + r] = w[r];
    }
    project(set, y_ + o);
    for (int r = 0; r < set.dim; ++r) {
      const int k = o + r;
      z_[k] = rho * (y_[k] - w[r]);
      gaps.primal = std::max(gaps.primal, std::abs(relaxed[r] - y_[k]));
      gaps.dual = std::max(gaps.dual, std::abs(rho * (y_[k] - old[r]) + eta_ * (next_[k] - x_[k])));
      x_[k] = next_[k];
    }
  }
  return gaps;
}

/// The residual costs half an iteration: it is evaluated when the two gaps promise it, then at
/// growing intervals, and every 16 iterations.
IslandOutcome Splitting::solve() {
  constexpr int kEvery = 16;
  const double goal = 2.0 * settings_.tolerance * velocity_scale(island_);
  start();
  int next_check = 1, interval = 1;
  for (int k = 1;; ++k) {
    if (!delassus_.set_penalty(kTau * penalty_.rho())) return {k, SolveStatus::kStalled};
    linear_step();
    const Gaps gaps = project_step();
    const bool finished = k >= settings_.max_iterations;
    const bool promising = std::max(unit_ * gaps.primal, gaps.dual) <= goal && k >= next_check;
    if (promising || finished || k % kEvery == 0) {
      if (progress_.solved()) return {k, SolveStatus::kConverged};
      if (progress_.rounding_limited()) return {k, SolveStatus::kRoundingLimited};
      if (finished || !progress_.finite()) break;
      next_check = k + interval;
      interval = std::min(2 * interval, kEvery);
    }
    penalty_.update(unit_ * gaps.primal, gaps.dual);
  }
  progress_.return_to_best();
  return {settings_.max_iterations, SolveStatus::kMaxIterations};
}

}  // namespace

void solve_ncp_admm(const ContactProblem& problem,
                    const SolverSettings& settings,
                    SolverWorkspace& work,
                    ContactSolution& solution) {
  const double warm = solution.penalty;
  int slowest = 0;
  solve_by_islands(problem, solution, [&](const Island& island, double* lambda, double* velocity) {
    Splitting splitting(
        island, settings, warm, work.parts().admm, solution.factorisations, lambda, velocity);
    const IslandOutcome outcome = splitting.solve();
    if (outcome.iterations > slowest) {
      slowest = outcome.iterations;
      solution.penalty = splitting.penalty();
    }
    return outcome;
  });
}

}  // namespace stiction
