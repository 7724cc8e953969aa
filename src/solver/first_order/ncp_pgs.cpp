#include "solver/ncp_newton/gauss_seidel.hpp"
#include "solver/solvers.hpp"
#include "solver/workspace.hpp"

#include <algorithm>

// Projected Gauss-Seidel for the NCP (Jourdan, Alart and Jean 1998; Le Lidec et al., "Contact
// Models in Robotics: a Comparative Analysis", T-RO 2024, Alg. 5). Deviations, which keep its fixed
// points: a contact first tries the impulse that stops it, and the tangential step is 1 /
// lambda_max(G_TT) instead of 1 / min(G_t1t1, G_t2t2) (pgs_kernel.hpp); the stop is the residual of
// the final impulse, not of the velocities met during the sweep.

namespace stiction {
namespace {

/// The residual costs as much as a sweep: it is evaluated when the iterate has nearly stopped, and
/// then at growing intervals.
IslandOutcome solve_island(const Island& island,
                           const SolverSettings& settings,
                           SolverWorkspace& work,
                           double* lambda,
                           double* velocity) {
  const GaussSeidel gauss_seidel(island, work.parts().ncp_pgs_locals);
  const double scale = velocity_scale(island);
  int next_check = 1, interval = 1;
  for (int k = 1;; ++k) {
    const double change =
        gauss_seidel.sweep(GaussSeidel::Contact::kProjected, settings.over_relaxation, lambda);
    if (!(change < 1e300)) return {k, SolveStatus::kNotFinite};
    const bool last = k >= settings.max_iterations || settings.interrupt.requested();
    if (!last && (change > settings.tolerance * scale || k < next_check)) continue;
    const Residuals r = residuals(island.problem, lambda, velocity, island.first, island.last);
    if (r.relative <= settings.tolerance) return {k, SolveStatus::kConverged};
    if (last) return {k, SolveStatus::kMaxIterations};
    next_check = k + interval;
    interval = std::min(2 * interval, 16);
  }
}

}  // namespace

void solve_ncp_pgs(const ContactProblem& problem,
                   const SolverSettings& settings,
                   SolverWorkspace& work,
                   ContactSolution& solution) {
  solve_by_islands(problem, solution, [&](const Island& island, double* lambda, double* velocity) {
    return solve_island(island, settings, work, lambda, velocity);
  });
}

}  // namespace stiction
