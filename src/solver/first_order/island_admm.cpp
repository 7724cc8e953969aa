#include "solver/common/judge.hpp"
#include "solver/common/projection.hpp"
#include "solver/first_order/admm.hpp"
#include "solver/solvers.hpp"
#include "solver/workspace.hpp"

#include <optional>

// ncp-admm and ccp-admm: an island as a model of Admm (admm.hpp), bilateral rows not split. They
// differ by Gamma, and by the rule of the penalty, each that of its authors' code. The warm start
// is the impulse alone, besides the penalty: y = proj_K(lambda), x = y, z = c + Gamma(c), which is
// its value at a solution.

namespace stiction {
namespace {

template <ContactModel kModel>
struct IslandModel {
  const Island& island;
  static constexpr bool kShifts = kModel == ContactModel::kNcp;

  template <class Visit>
  void each_set(Visit&& visit) const {
    for (int i = island.first; i < island.last; ++i)
      visit(island.problem.sets[i], island.problem.sets[i].offset - island.begin);
  }
  void project(double* y) const {
    each_set([&](const ConstraintSet& set, int at) { stiction::project(set, y + at); });
  }
  /// rhs_N -= Gamma(z), with sign -1 the other way.
  void subtract_shift(const double* z, double* rhs, double sign = 1.0) const {
    if constexpr (kShifts) {
      each_set([&](const ConstraintSet& set, int at) {
        if (set.is_cone()) rhs[at + set.friction.normal()] -= sign * shift(set.friction, z + at);
      });
    }
  }
  /// rho = tau (L m)^1/2 (L / m)^power and so on (spectral_penalty.hpp), tau 1/2 for the NCP.
  static SpectralPenalty penalty(double m, double L, double warm) {
    if (kShifts) return {m, L, {0.2, 0.05, 0.5 * m, 0.5 * L, 0, 1, 1.0, 0.5}, warm};
    return {m, L, {0.4, 0.1, 1e-9 * L, 1e9 * L, 4, 4}, warm};
  }
};

template <ContactModel kModel>
void solve_by_admm(const ContactProblem& problem,
                   const SolverSettings& settings,
                   IslandAdmmWork& work,
                   ContactSolution& solution) {
  AdmmWork& w = work.admm;
  const double warm = solution.penalty;
  int slowest = 0;
  solve_by_islands(problem, solution, [&](const Island& island, double* lambda, double* velocity) {
    const IslandModel<kModel> model{island};
    const int n = island.rows();
    const double unit = mean_diagonal(island), eta = settings.proximal * unit;
    std::optional<Admm<IslandModel<kModel>>> admm;  // not before the start is found wanting
    const auto start = [&] {
      w.reserve(n);
      copy_dense(island, padded(n), w.G, w.g);
      for (int i = island.first; i < island.last; ++i)
        project(problem.sets[i], lambda + problem.sets[i].offset);
      velocities(island, lambda, velocity);
      std::copy(velocity + island.begin, velocity + island.end, w.z.data());
      model.subtract_shift(velocity + island.begin, w.z, -1.0);
      model.each_set([&](const ConstraintSet& set, int at) {
        const bool free = set.kind == SetKind::kFree;
        std::fill_n(w.split + at, set.dim, free ? 0.0 : 1.0);
        if (free) std::fill_n(w.z + at, set.dim, 0.0);
      });
      for (int r = 0; r < n; ++r) w.x[r] = w.y[r] = lambda[island.begin + r];
      const ShiftedDelassus delassus(w, n, eta, solution.factorisations);
      const double L = eta + delassus.largest_eigenvalue();
      admm.emplace(model,
                   delassus,
                   IslandModel<kModel>::penalty(eta, L, warm * unit),
                   settings.over_relaxation,
                   w);
    };
    Judge judge(island, kModel, settings, work.best, lambda, velocity);
    const IslandOutcome outcome = judge.run([&](int k) {
      if (k == 1) start();
      typename Admm<IslandModel<kModel>>::Gaps gaps;
      if (!admm->step(gaps)) return std::nan("");
      std::copy(w.y.data(), w.y + n, lambda + island.begin);
      admm->update_penalty(unit * gaps.primal, gaps.dual);
      return 0.5 * std::max(unit * gaps.primal, gaps.dual);
    });
    if (outcome.iterations > slowest) {
      slowest = outcome.iterations;
      solution.penalty = admm->rho() / unit;
    }
    return outcome;
  });
}

}  // namespace

void solve_ncp_admm(const ContactProblem& problem,
                    const SolverSettings& settings,
                    SolverWorkspace& work,
                    ContactSolution& solution) {
  solve_by_admm<ContactModel::kNcp>(problem, settings, work.parts().ncp_admm, solution);
}

void solve_ccp_admm(const ContactProblem& problem,
                    const SolverSettings& settings,
                    SolverWorkspace& work,
                    ContactSolution& solution) {
  solve_by_admm<ContactModel::kCcp>(problem, settings, work.parts().ccp_admm, solution);
}

}  // namespace stiction
