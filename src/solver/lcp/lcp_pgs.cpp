#include "solver/common/pgs_kernel.hpp"
#include "solver/common/polygon.hpp"
#include "solver/common/progress.hpp"
#include "solver/common/set_sweep.hpp"
#include "solver/solvers.hpp"
#include "solver/workspace.hpp"

#include <cmath>

// Projected Gauss-Seidel for the LCP (Le Lidec et al., Contact Models in Robotics, 2024, Alg. 1):
// per contact and sweep, with the newest impulses,
//   lambda_N <- max(0, lambda_N - w c_N / G_NN)
//   lambda_T <- projection of lambda_T - w c_T / L on mu lambda_N times the polygon,
// w = over_relaxation. Four facets: a clamp of t1 and t2. Two deviations that keep the fixed
// points: L is the largest eigenvalue of G_TT, not the smaller of its diagonal entries, with which
// the step can overshoot and diverge; c_T is that of the new lambda_N.

namespace stiction {
namespace {

using Steps = LcpPgsWork::Steps;

/// A row whose diagonal is below 1e-14 of the island's largest never moves.
void prepare(const Island& island, Steps* steps) {
  const ContactProblem& p = island.problem;
  const double floor = 1e-14 * p.largest_diagonal(island.first, island.last);
  for (int i = island.first; i < island.last; ++i) {
    for (int r = 0; r < p.sets[i].dim; ++r)
      steps[i].row[r] = safe_inverse(diagonal(p, i, r), floor);
    if (!p.sets[i].is_cone()) continue;
    const double* b = p.values.data() + p.diagonal_start[i];
    const double half = 0.5 * (b[0] + b[5]), difference = 0.5 * (b[0] - b[5]);
    const double L = half + std::sqrt(difference * difference + b[1] * b[1]);
    steps[i].row[0] = steps[i].row[1] = safe_inverse(L, floor);
  }
}

/// From c at the impulse l of the contact.
void update_contact(const ConstraintSet& set,
                    const Polygon& polygon,
                    const Steps& step,
                    const double* block,
                    double omega,
                    const double* c,
                    double* l) {
  const double n = std::max(0.0, l[2] - omega * step.row[2] * c[2]), change = n - l[2];
  for (int t = 0; t < 2; ++t) l[t] -= omega * step.row[t] * (c[t] + block[8 + t] * change);
  l[2] = n;
  polygon.project(set.friction.slope() * n, l);
}

/// Returns the largest change of impulse in velocity units, G_rr |dlambda_r|.
double sweep(const Island& island,
             const Polygon& polygon,
             const Steps* steps,
             double omega,
             double* lambda) {
  const ContactProblem& p = island.problem;
  double change = 0.0, c[kMaxSetDim], old[kMaxSetDim];
  for (int i = island.first; i < island.last; ++i) {
    const ConstraintSet& set = p.sets[i];
    const double* block = p.values.data() + p.diagonal_start[i];
    double* l = lambda + set.offset;
    std::copy(l, l + set.dim, old);
    p.velocity(i, lambda, c);
    if (set.is_cone())
      update_contact(set, polygon, steps[i], block, omega, c, l);
    else
      sweep_rows(p, i, c, l, [&](int r) { return -omega * steps[i].row[r] * c[r]; });
    for (int r = 0; r < set.dim; ++r)
      change = std::max(change, diagonal(p, i, r) * std::abs(l[r] - old[r]));
  }
  return change;
}

/// The residual costs a sweep: it is evaluated at the start, once a sweep changes little and then
/// at growing intervals, and every 16 sweeps. At the end the best impulses judged are taken.
IslandOutcome solve_island(const Island& island,
                           const SolverSettings& settings,
                           const Polygon& polygon,
                           const Steps* steps,
                           Progress& progress,
                           double* lambda) {
  constexpr int kInterval = 16;
  const double scale = velocity_scale(island);
  int next_check = 1, interval = 1;
  if (progress.solved()) return {0, SolveStatus::kConverged};
  for (int k = 1;; ++k) {
    const double change = sweep(island, polygon, steps, settings.over_relaxation, lambda);
    const bool finished = k >= settings.max_iterations, stopped = change == 0.0;
    const bool close = change <= settings.tolerance * scale && k >= next_check;
    if (!finished && !stopped && !close && k % kInterval != 0) continue;
    if (progress.solved()) return {k, SolveStatus::kConverged};
    if (finished || stopped || !progress.finite()) {
      progress.return_to_best();
      return {k, stopped ? SolveStatus::kStalled : SolveStatus::kMaxIterations};
    }
    if (!close) continue;
    next_check = k + interval;
    interval = std::min(2 * interval, kInterval);
  }
}

}  // namespace

void solve_lcp_pgs(const ContactProblem& problem,
                   const SolverSettings& settings,
                   SolverWorkspace& work,
                   ContactSolution& solution) {
  LcpPgsWork& own = work.parts().lcp_pgs;
  own.steps.grow(problem.num_sets());
  Steps* steps = own.steps;
  const Polygon polygon(settings.facets);
  solve_by_islands(problem, solution, [&](const Island& island, double* lambda, double* velocity) {
    prepare(island, steps);
    Progress progress(island, ContactModel::kLcp, settings, own.best, lambda, velocity);
    return solve_island(island, settings, polygon, steps, progress, lambda);
  });
}

}  // namespace stiction
