#include "solver/common/judge.hpp"
#include "solver/common/projection.hpp"
#include "solver/first_order/admm.hpp"
#include "solver/solvers.hpp"
#include "solver/workspace.hpp"

#include <cmath>
#include <optional>

// ncp-admm and ccp-admm: an island as a model of Admm (admm.hpp), bilateral rows not split. They
// differ by Gamma and by the rule of the penalty, each that of its authors' code; ours and the
// published ones by these:
//
//                     ours                                 ...-published
//   rows of set i     l = lambda / d, d^2 = n / tr G_ii    lambda [N s]
//   over-relaxation   1.4; of the NCP after 16 iterations  1
//   eta               `proximal`                           `proximal` [1/kg]
//   penalty           kept after a change; warm            may change in each iteration; by rule
//   z of a cold start g + Gamma(g)                         0 for the CCP
//
// One d for all rows of a contact leaves its cone as it is. The gaps of l and of z = d (c +
// Gamma(c)) have one unit, the root of an energy, so that their balance, and with it the path of
// the iteration, does not depend on units. As published N s are weighed against m/s. The warm start
// is the impulse alone, besides the penalty: y = proj_K(lambda), x = y, z = c + Gamma(c), which is
// its value at a solution.

namespace stiction {
namespace {

template <ContactModel kModel, bool kIsPublished>
struct IslandModel {
  const Island& island;
  const double* scale;  ///< d of the island's rows
  static constexpr bool kShifts = kModel == ContactModel::kNcp, kPublished = kIsPublished;
  static constexpr ContactModel kContact = kModel;
  /// Over-relaxation, and after how many iterations without. Those of the NCP that find the modes:
  /// over-relaxed, Gamma leaves impulses there that move nothing.
  static constexpr double kRelaxation = kPublished ? 1.0 : 1.4;
  static constexpr int kPlain = kShifts && !kPublished ? 16 : 0;

  template <class Visit>
  void each_set(Visit&& visit) const {
    for (int i = island.first; i < island.last; ++i)
      visit(island.problem.sets[i], island.problem.sets[i].offset - island.begin);
  }
  void project(double* y) const {
    each_set([&](const ConstraintSet& set, int at) {
      if (set.kind != SetKind::kBox) return stiction::project(set, y + at);
      double l = scale[at] * y[at];
      stiction::project(set, &l);
      y[at] = l / scale[at];
    });
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
    if (kPublished && kShifts) return {m, L, {0.2, 0.05, 1e-12, 1e12, 0, 0, 1.0, 0.5}};
    if (kPublished) return {m, L, {0.4, 0.1, 1e-12, 1e12}};
    if (kShifts) return {m, L, {0.2, 0.05, 0.5 * m, 0.5 * L, 0, 1, 1.0, 0.5}, warm};
    return {m, L, {0.4, 0.1, 1e-9 * L, 1e9 * L, 4, 4}, warm};
  }
};

/// d of the rows of sets; those that nothing can move have that of the mean.
void find_scales(const Island& island, double* scale) {
  const double floor = rigid_floor(island), all = mean_diagonal(island);
  for (int i = island.first; i < island.last; ++i) {
    const ConstraintSet& set = island.problem.sets[i];
    double mean = 0.0;
    for (int r = 0; r < set.dim; ++r) mean += island.problem.diagonal_entry(i, r) / set.dim;
    const double d = 1.0 / std::sqrt(mean > floor ? mean : all);
    std::fill_n(scale + (set.offset - island.begin), set.dim, d);
  }
}

/// d G d and d g.
void scale_rows(int n, AdmmWork& w) {
  for (int c = 0; c < n; ++c) {
    double* column = w.G + static_cast<std::size_t>(c) * padded(n);
    for (int r = 0; r < n; ++r) column[r] *= w.scale[r] * w.scale[c];
    w.g[c] *= w.scale[c];
  }
}

/// G, g and scales of an island.
void copy_scaled(const Island& island, bool published, AdmmWork& w) {
  const int n = island.rows();
  w.reserve(n);
  copy_dense(island, padded(n), w.G, w.g);
  if (published) return std::fill_n(w.scale.data(), n, 1.0), void();
  find_scales(island, w.scale);
  scale_rows(n, w);
}

/// x, y, z from lambda, which is projected.
template <class Model>
void start_from(const Model& model, double* lambda, double* velocity, AdmmWork& w) {
  const Island& island = model.island;
  model.each_set([&](const ConstraintSet& set, int) { project(set, lambda + set.offset); });
  velocities(island, lambda, velocity);
  bool dual = !Model::kPublished || Model::kShifts;
  for (int r = 0; r < island.rows(); ++r) {
    const double l = lambda[island.begin + r];
    w.x[r] = w.y[r] = l / w.scale[r];
    dual = dual || l != 0.0;
  }
  for (int r = 0; r < island.rows(); ++r)
    w.z[r] = dual ? w.scale[r] * velocity[island.begin + r] : 0.0;
  model.subtract_shift(w.z, w.z, -1.0);
  model.each_set([&](const ConstraintSet& set, int at) {
    const bool free = set.kind == SetKind::kFree;
    std::fill_n(w.split + at, set.dim, free ? 0.0 : 1.0);
    if (free) std::fill_n(w.z + at, set.dim, 0.0);
  });
}

template <class Model>
void solve_by_admm(const ContactProblem& problem,
                   const SolverSettings& settings,
                   IslandAdmmWork& work,
                   ContactSolution& solution) {
  AdmmWork& w = work.admm;
  constexpr int kEvery = 8;  // a residual costs half an iteration
  const double warm = solution.penalty;
  int slowest = 0;
  solve_by_islands(problem, solution, [&](const Island& island, double* lambda, double* velocity) {
    std::optional<Admm<Model>> admm;  // not before the start is found wanting
    const auto start = [&] {
      copy_scaled(island, Model::kPublished, w);
      const Model model{island, w.scale};
      start_from(model, lambda, velocity, w);
      const double eta = settings.proximal;
      const ShiftedDelassus delassus(w, island.rows(), eta, solution.factorisations);
      const double L = eta + delassus.largest_eigenvalue();
      admm.emplace(model, delassus, Model::penalty(eta, L, warm), settings.relaxation(), w);
    };
    Judge judge(island, Model::kContact, settings, work.best, lambda, velocity);
    const IslandOutcome outcome = judge.run(
        [&](int k) {
          if (k == 1) start();
          if (k == Model::kPlain + 1) admm->over_relax(settings.relaxation(Model::kRelaxation));
          typename Admm<Model>::Gaps gaps;
          if (!admm->step(gaps)) return std::nan("");
          for (int r = 0; r < island.rows(); ++r) lambda[island.begin + r] = w.scale[r] * w.y[r];
          admm->update_penalty(gaps.primal, gaps.dual);
          return 0.5 * gaps.speed;
        },
        kEvery);
    if (outcome.iterations > slowest) {
      slowest = outcome.iterations;
      solution.penalty = admm->rho();
    }
    return outcome;
  });
}

}  // namespace

void solve_ncp_admm(const ContactProblem& problem,
                    const SolverSettings& settings,
                    SolverWorkspace& work,
                    ContactSolution& solution) {
  using Model = IslandModel<ContactModel::kNcp, false>;
  solve_by_admm<Model>(problem, settings, work.parts().ncp_admm, solution);
}

void solve_ncp_admm_published(const ContactProblem& problem,
                              const SolverSettings& settings,
                              SolverWorkspace& work,
                              ContactSolution& solution) {
  using Model = IslandModel<ContactModel::kNcp, true>;
  solve_by_admm<Model>(problem, settings, work.parts().ncp_admm, solution);
}

void solve_ccp_admm(const ContactProblem& problem,
                    const SolverSettings& settings,
                    SolverWorkspace& work,
                    ContactSolution& solution) {
  using Model = IslandModel<ContactModel::kCcp, false>;
  solve_by_admm<Model>(problem, settings, work.parts().ccp_admm, solution);
}

void solve_ccp_admm_published(const ContactProblem& problem,
                              const SolverSettings& settings,
                              SolverWorkspace& work,
                              ContactSolution& solution) {
  using Model = IslandModel<ContactModel::kCcp, true>;
  solve_by_admm<Model>(problem, settings, work.parts().ccp_admm, solution);
}

}  // namespace stiction
