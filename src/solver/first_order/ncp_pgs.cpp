#include "solver/common/judge.hpp"
#include "solver/common/set_sweep.hpp"
#include "solver/solvers.hpp"
#include "solver/workspace.hpp"

#include <algorithm>

// Projected Gauss-Seidel for the NCP (Jourdan, Alart and Jean 1998; Le Lidec et al., "Contact
// Models in Robotics: a Comparative Analysis", T-RO 2024, Alg. 5). ncp-pgs has two deviations,
// which keep its fixed points: a contact first tries the impulse that stops it, and the tangential
// step is 1 / lambda_max(G_TT) instead of 1 / min(G_t1t1, G_t2t2) (pgs_kernel.hpp).
// ncp-pgs-published goes as printed, with w = over_relaxation:
//   lambda_N <- max(0, lambda_N - w c_N / G_NN)
//   lambda_T <- disk of radius mu lambda_N of lambda_T - w c_T / min(G_t1t1, G_t2t2), the new c_T
// Both stop by the residual of the final impulse, not by the velocities met during the sweep.
// Over-relaxation of ncp-pgs scales each change; what leaves its set then is projected back.

namespace stiction {
namespace {

/// `update` as in sweep_sets.
template <class Update>
IslandOutcome sweep_until_solved(const Island& island,
                                 const SolverSettings& settings,
                                 NcpPgsWork& work,
                                 double* lambda,
                                 double* velocity,
                                 Update&& update) {
  return Judge(island, ContactModel::kNcp, settings, work.best, lambda, velocity).run([&](int) {
    return sweep_sets(island, lambda, update);
  });
}

/// As printed; rows whose diagonal is up to `floor` stay.
void update_published(
    const ContactProblem& p, int i, double omega, double floor, double* c, double* l) {
  const ConstraintSet& set = p.sets[i];
  const double* block = p.block(i);
  const int stride = ContactProblem::stride(set.dim), normal = set.dim - 1;
  const auto step = [&](double diagonal) { return omega * safe_inverse(diagonal, floor); };
  if (!set.is_cone()) {
    return sweep_rows(p, i, c, l, [&](int r) { return -step(block[(stride + 1) * r]) * c[r]; });
  }
  const double before = l[normal];
  l[normal] = std::max(0.0, before - step(block[(stride + 1) * normal]) * c[normal]);
  if (set.dim == 1) return;
  const double tangential = step(std::min(block[0], block[stride + 1]));
  for (int r = 0; r < normal; ++r)
    l[r] -= tangential * (c[r] + block[stride * normal + r] * (l[normal] - before));
  project_horizontally(set, l);
}

}  // namespace

void solve_ncp_pgs(const ContactProblem& problem,
                   const SolverSettings& settings,
                   SolverWorkspace& work,
                   ContactSolution& solution) {
  NcpPgsWork& own = work.parts().ncp_pgs;
  const double omega = settings.relaxation();
  solve_by_islands(problem, solution, [&](const Island& island, double* lambda, double* velocity) {
    const GaussSeidel gauss_seidel(island, own.locals);
    return sweep_until_solved(
        island, settings, own, lambda, velocity, [&](int i, double* c, double* l) {
          const ConstraintSet& set = problem.sets[i];
          double old[kMaxSetDim];
          std::copy(l, l + set.dim, old);
          gauss_seidel.update(i, GaussSeidel::Contact::kProjected, c, l);
          if (omega == 1.0) return;
          for (int r = 0; r < set.dim; ++r) l[r] = old[r] + omega * (l[r] - old[r]);
          project_horizontally(set, l);
        });
  });
}

void solve_ncp_pgs_published(const ContactProblem& problem,
                             const SolverSettings& settings,
                             SolverWorkspace& work,
                             ContactSolution& solution) {
  NcpPgsWork& own = work.parts().ncp_pgs;
  const double omega = settings.relaxation();
  solve_by_islands(problem, solution, [&](const Island& island, double* lambda, double* velocity) {
    const double floor = rigid_floor(island);
    return sweep_until_solved(
        island, settings, own, lambda, velocity, [&](int i, double* c, double* l) {
          update_published(problem, i, omega, floor, c, l);
        });
  });
}

}  // namespace stiction
