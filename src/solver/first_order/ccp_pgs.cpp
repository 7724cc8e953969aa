#include "solver/common/judge.hpp"
#include "solver/common/set_sweep.hpp"
#include "solver/solvers.hpp"
#include "solver/workspace.hpp"

#include <algorithm>
#include <cmath>

// Projected Gauss-Seidel for the cone complementarity problem (Le Lidec et al., "Contact Models in
// Robotics: a Comparative Analysis", T-RO 2024, Algorithm 2):
//
//   for k = 1 ... M, for i = 1 ... n_c:
//     lambda_i <- proj_K(lambda_i - 3 / tr(G_ii) (G lambda + g)_i)
//
// 3 / tr (n / tr for n rows) is the inverse of the mean eigenvalue of G_ii. Where the largest is
// more than twice the mean the published step overshoots and the iteration diverges; it is limited
// to 1.9 over a bound of the largest, below which each update lowers the objective 1/2 l^T G l +
// g^T l. Over-relaxation multiplies the step, which is the same as eq. (22) before the projection.
// Limits, dry friction and bilateral rows: the same with the row's own diagonal.

namespace stiction {
namespace {

/// Step of each row; 0 where nothing can move.
void find_steps(const Island& island, double over_relaxation, double* step) {
  const ContactProblem& p = island.problem;
  const double floor = rigid_floor(island);
  for (int i = island.first; i < island.last; ++i) {
    const ConstraintSet& set = p.sets[i];
    double* s = step + set.offset;
    if (set.is_cone()) {
      const double* block = p.block(i);
      const int stride = ContactProblem::stride(set.dim);
      double trace = block[0];
      for (int r = 1; r < set.dim; ++r) trace += block[(stride + 1) * r];
      const double published = set.dim * over_relaxation / trace,
                   safe = 1.9 / largest_eigenvalue_bound(block, set.dim, stride);
      std::fill(s, s + set.dim, trace > floor ? std::min(published, safe) : 0.0);
      continue;
    }
    for (int r = 0; r < set.dim; ++r) {
      const double d = p.diagonal_entry(i, r);
      s[r] = d > floor ? over_relaxation / d : 0.0;
    }
  }
}

}  // namespace

void solve_ccp_pgs(const ContactProblem& problem,
                   const SolverSettings& settings,
                   SolverWorkspace& work,
                   ContactSolution& solution) {
  PgsWork& own = work.parts().ccp_pgs;
  own.step.grow(problem.g.size());
  solve_by_islands(problem, solution, [&](const Island& island, double* lambda, double* velocity) {
    find_steps(island, settings.relaxation(), own.step);
    return Judge(island, ContactModel::kCcp, settings, own.best, lambda, velocity).run([&](int) {
      return sweep_sets(island, lambda, [&](int i, double* c, double* l) {
        const ConstraintSet& set = problem.sets[i];
        const double* step = own.step + set.offset;
        if (!set.is_cone())
          return sweep_rows(problem, i, c, l, [&](int r) { return -step[r] * c[r]; });
        for (int r = 0; r < set.dim; ++r) l[r] -= step[r] * c[r];
        project(set, l);
      });
    });
  });
}

}  // namespace stiction
