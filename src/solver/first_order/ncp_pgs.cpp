#include "solver/common/judge.hpp"
#include "solver/common/set_sweep.hpp"
#include "solver/solvers.hpp"
#include "solver/workspace.hpp"

#include <algorithm>

// Projected Gauss-Seidel for the NCP (Jourdan, Alart and Jean 1998; Le Lidec et al., "Contact
// Models in Robotics: a Comparative Analysis", T-RO 2024, Alg. 5). Deviations, which keep its fixed
// points: a contact first tries the impulse that stops it, and the tangential step is 1 /
// lambda_max(G_TT) instead of 1 / min(G_t1t1, G_t2t2) (pgs_kernel.hpp); the stop is the residual of
// the final impulse, not of the velocities met during the sweep. Over-relaxation scales each
// change; what leaves its set then is projected back.

namespace stiction {

void solve_ncp_pgs(const ContactProblem& problem,
                   const SolverSettings& settings,
                   SolverWorkspace& work,
                   ContactSolution& solution) {
  NcpPgsWork& own = work.parts().ncp_pgs;
  const double omega = settings.over_relaxation;
  solve_by_islands(problem, solution, [&](const Island& island, double* lambda, double* velocity) {
    const GaussSeidel gauss_seidel(island, own.locals);
    return Judge(island, ContactModel::kNcp, settings, own.best, lambda, velocity).run([&](int) {
      return sweep_sets(island, lambda, [&](int i, double* c, double* l) {
        const ConstraintSet& set = problem.sets[i];
        double old[kMaxSetDim];
        std::copy(l, l + set.dim, old);
        gauss_seidel.update(i, GaussSeidel::Contact::kProjected, c, l);
        if (omega == 1.0) return;
        for (int r = 0; r < set.dim; ++r) l[r] = old[r] + omega * (l[r] - old[r]);
        project_horizontally(set, l);
      });
    });
  });
}

}  // namespace stiction
