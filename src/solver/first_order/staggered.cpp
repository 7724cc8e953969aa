#include "stiction/math/constants.hpp"

#include "solver/common/polygon.hpp"
#include "solver/common/progress.hpp"
#include "solver/first_order/block_admm.hpp"
#include "solver/solvers.hpp"
#include "solver/workspace.hpp"

// Staggered projections (Kaufman et al., Staggered Projections for Frictional Contact in Multibody
// Systems, 2008; Le Lidec et al., 2024, Alg. 6): in turn
//   lambda_N <- argmin over lambda_N >= 0             of 1/2 l' G_N l + (g_N + G_NT lambda_T)' l
//   lambda_T <- argmin over |lambda_T| <= mu lambda_N of 1/2 l' G_T l + (g_T + G_TN lambda_N)' l
// each by ADMM (block_admm.hpp). Rows of limits, dry friction and bilateral sets belong to both
// problems, so each is the whole problem with the friction or the normal impulses held.

namespace stiction {
namespace {

struct Disk {
  void project(double radius, double* t) const {
    const double norm = std::sqrt(t[0] * t[0] + t[1] * t[1]), r = std::max(0.0, radius);
    if (norm <= r) return;
    t[0] *= r / norm;
    t[1] *= r / norm;
  }
};

/// The rows of one of the two problems, relative to the island's first: `friction` says whether
/// tangential (first, in pairs) or normal ones. Returns the number of rows.
int choose_rows(const Island& island, bool friction, int* rows) {
  const ContactProblem& p = island.problem;
  int n = 0;
  for (int i = island.first; i < island.last; ++i) {
    const int row = p.sets[i].offset - island.begin;
    if (!p.sets[i].is_cone()) continue;
    if (!friction) rows[n++] = row + 2;
    if (friction) rows[n++] = row, rows[n++] = row + 1;
  }
  for (int i = island.first; i < island.last; ++i) {
    if (p.sets[i].is_cone()) continue;
    for (int r = 0; r < p.sets[i].dim; ++r) rows[n++] = p.sets[i].offset - island.begin + r;
  }
  return n;
}

int count_cones(const Island& island) {
  int n = 0;
  for (int i = island.first; i < island.last; ++i) n += island.problem.sets[i].is_cone();
  return n;
}

/// Intervals of the rows that are not in pairs, in the order of choose_rows().
void set_intervals(const Island& island, bool friction, BlockAdmm& block) {
  int n = 0;
  const auto add = [&](int count, double lower, double upper) {
    for (; count > 0; --count, ++n) block.lower[n] = lower, block.upper[n] = upper;
  };
  for (int i = 0; i < count_cones(island); ++i) add(friction ? 2 : 1, 0.0, kInfinity);
  for (int i = island.first; i < island.last; ++i) {
    const ConstraintSet& set = island.problem.sets[i];
    if (set.kind == SetKind::kNonNegative) add(1, 0.0, kInfinity);
    if (set.kind == SetKind::kBox) add(1, set.lower, set.upper);
    if (set.kind == SetKind::kFree) add(set.dim, -kInfinity, kInfinity);
  }
}

/// The two problems of an island.
template <class Section>
class Staggered {
 public:
  static constexpr int kInner = 100;     // iterations of one projection
  static constexpr int kPatience = 100;  // alternations in which the residual is to halve

  Staggered(const Island& island,
            const SolverSettings& settings,
            const Section& section,
            StaggeredWork& work,
            int& factorisations,
            double* lambda,
            double* velocity)
      : island_(island),
        settings_(settings),
        section_(section),
        factorisations_(factorisations),
        lambda_(lambda + island.begin),
        velocity_(velocity + island.begin),
        all_impulses_(lambda),
        all_velocities_(velocity),
        rows_of_normal_(rows(island, work)),
        rows_of_friction_(rows_of_normal_ + island.rows()),
        scratch_(work.blocks, 3 * BlockAdmm::doubles(island.rows())),
        normal_(scratch_, choose_rows(island, false, rows_of_normal_), 0),
        friction_(scratch_, choose_rows(island, true, rows_of_friction_), count_cones(island)) {}

  IslandOutcome solve(Progress& progress);

 private:
  static int* rows(const Island& island, StaggeredWork& work) {
    work.rows.grow(2 * static_cast<std::size_t>(island.rows()));
    return work.rows;
  }
  void start();
  void start_block(const Scratch::Matrix& G, const int* rows, bool friction, BlockAdmm& block);
  void project(const int* rows, BlockAdmm& block, double tolerance);

  const Island& island_;
  const SolverSettings& settings_;
  const Section& section_;
  int& factorisations_;
  double *lambda_, *velocity_;  // of the island
  double *all_impulses_, *all_velocities_;
  int *rows_of_normal_, *rows_of_friction_;
  Scratch scratch_;
  BlockAdmm normal_, friction_;
  double largest_diagonal_ = 0.0;
};

template <class Section>
void Staggered<Section>::start_block(const Scratch::Matrix& G,
                                     const int* rows,
                                     bool friction,
                                     BlockAdmm& block) {
  bool warm = false;
  for (int r = 0; r < island_.rows(); ++r) warm = warm || lambda_[r] != 0.0;
  for (int j = 0; j < block.rows(); ++j)
    for (int i = 0; i < block.rows(); ++i) block.G(i, j) = G(rows[i], rows[j]);
  set_intervals(island_, friction, block);
  for (int i = 0; i < block.rows(); ++i) {
    const bool open = std::isfinite(block.lower[i]) || std::isfinite(block.upper[i]);
    block.gamma[i] = warm && open ? -velocity_[rows[i]] : 0.0;
  }
  block.start(
      settings_.proximal * mean_diagonal(island_), settings_.over_relaxation, factorisations_);
}

template <class Section>
void Staggered<Section>::start() {
  const int n = island_.rows();
  // Behind the blocks, whose sizes add up to less than 2 n rows of their own.
  Scratch::Matrix G = scratch_.matrix(n, n);
  copy_dense(island_, G.data(), scratch_.take(n));
  largest_diagonal_ = island_.problem.largest_diagonal(island_.first, island_.last);
  start_block(G, rows_of_normal_, false, normal_);
  start_block(G, rows_of_friction_, true, friction_);
}

/// Solves one problem with the other impulses held: g_b + G_b,rest lambda_rest = c_b - G_b
/// lambda_b.
template <class Section>
void Staggered<Section>::project(const int* rows, BlockAdmm& block, double tolerance) {
  const double V = velocity_scale(island_);
  double L = largest_diagonal_ > 0.0 ? V / largest_diagonal_ : 0.0;
  for (int r = 0; r < island_.rows(); ++r) L = std::max(L, std::abs(lambda_[r]));
  velocities(island_, all_impulses_, all_velocities_);
  for (int i = 0; i < block.rows(); ++i) {
    block.z[i] = lambda_[rows[i]];
    block.g[i] = velocity_[rows[i]];
  }
  block.g.noalias() -= block.G * block.z;
  const BlockAdmm::Goal goal{
      tolerance, L > 0.0 ? L : 1.0, V > 0.0 ? V : std::max(1.0, L) * largest_diagonal_, kInner};
  block.solve(section_, goal, factorisations_);
  for (int i = 0; i < block.rows(); ++i) lambda_[rows[i]] = block.z[i];
}

/// The problems are solved to a tenth of the residual of the whole, which keeps the fixed points.
template <class Section>
IslandOutcome Staggered<Section>::solve(Progress& progress) {
  if (progress.solved()) return {0, SolveStatus::kConverged};
  start();
  const int cones = count_cones(island_);
  double to_halve = progress.relative();
  int patience_ends = kPatience;
  for (int k = 1;; ++k) {
    const double tolerance =
        0.1 * std::max(settings_.tolerance, std::min(0.1, progress.relative()));
    project(rows_of_normal_, normal_, tolerance);
    for (int i = 0, at = island_.first; at < island_.last; ++at) {
      const ConstraintSet& set = island_.problem.sets[at];
      if (!set.is_cone()) continue;
      friction_.radius[i] = set.friction.slope() * lambda_[rows_of_normal_[i]];
      ++i;
    }
    if (cones > 0) project(rows_of_friction_, friction_, tolerance);
    if (progress.solved()) return {k, SolveStatus::kConverged};
    if (progress.relative() < 0.5 * to_halve) {
      to_halve = progress.relative();
      patience_ends = k + kPatience;
    }
    if (k < patience_ends && k < settings_.max_iterations && progress.finite()) continue;
    progress.return_to_best();
    return {k, k >= patience_ends ? SolveStatus::kStalled : SolveStatus::kMaxIterations};
  }
}

template <class Section>
void solve_with(const Section& section,
                ContactModel model,
                const ContactProblem& problem,
                const SolverSettings& settings,
                SolverWorkspace& work,
                ContactSolution& solution) {
  StaggeredWork& own = work.parts().staggered;
  solve_by_islands(problem, solution, [&](const Island& island, double* lambda, double* velocity) {
    Progress progress(island, model, settings, own.best, lambda, velocity);
    return Staggered<Section>(
               island, settings, section, own, solution.factorisations, lambda, velocity)
        .solve(progress);
  });
}

}  // namespace

void solve_lcp_staggered(const ContactProblem& problem,
                         const SolverSettings& settings,
                         SolverWorkspace& work,
                         ContactSolution& solution) {
  solve_with(Polygon(settings.facets), ContactModel::kLcp, problem, settings, work, solution);
}

void solve_ncp_staggered(const ContactProblem& problem,
                         const SolverSettings& settings,
                         SolverWorkspace& work,
                         ContactSolution& solution) {
  solve_with(Disk{}, ContactModel::kNcp, problem, settings, work, solution);
}

}  // namespace stiction
