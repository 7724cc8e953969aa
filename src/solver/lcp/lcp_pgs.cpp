#include "solver/common/judge.hpp"
#include "solver/common/pgs_kernel.hpp"
#include "solver/common/polygon.hpp"
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

/// Of each row, for a contact (tangent, tangent, normal). A row that nothing can move has 0.
void find_steps(const Island& island, double omega, double* step) {
  const ContactProblem& p = island.problem;
  const double floor = rigid_floor(island);
  for (int i = island.first; i < island.last; ++i) {
    double* s = step + p.sets[i].offset;
    for (int r = 0; r < p.sets[i].dim; ++r)
      s[r] = omega * safe_inverse(p.diagonal_entry(i, r), floor);
    if (!p.sets[i].is_cone()) continue;
    const double* b = p.block(i);
    const double half = 0.5 * (b[0] + b[5]), difference = 0.5 * (b[0] - b[5]);
    const double L = half + std::sqrt(difference * difference + b[1] * b[1]);
    s[0] = s[1] = omega * safe_inverse(L, floor);
  }
}

/// From c at the impulse l of the contact.
void update_contact(const ConstraintSet& set,
                    const Polygon& polygon,
                    const double* step,
                    const double* block,
                    const double* c,
                    double* l) {
  const double n = std::max(0.0, l[2] - step[2] * c[2]), change = n - l[2];
  for (int t = 0; t < 2; ++t) l[t] -= step[t] * (c[t] + block[8 + t] * change);
  l[2] = n;
  polygon.project(set.friction.slope() * n, l);
}

}  // namespace

void solve_lcp_pgs(const ContactProblem& problem,
                   const SolverSettings& settings,
                   SolverWorkspace& work,
                   ContactSolution& solution) {
  PgsWork& own = work.parts().lcp_pgs;
  own.step.grow(problem.g.size());
  const Polygon polygon(settings.facets);
  solve_by_islands(problem, solution, [&](const Island& island, double* lambda, double* velocity) {
    find_steps(island, settings.relaxation(), own.step);
    return Judge(island, ContactModel::kLcp, settings, own.best, lambda, velocity).run([&](int) {
      return sweep_sets(island, lambda, [&](int i, double* c, double* l) {
        const ConstraintSet& set = problem.sets[i];
        const double* step = own.step + set.offset;
        if (!set.is_cone())
          return sweep_rows(problem, i, c, l, [&](int r) { return -step[r] * c[r]; });
        const double* block = problem.block(i);
        update_contact(set, polygon, step, block, c, l);
      });
    });
  });
}

}  // namespace stiction
