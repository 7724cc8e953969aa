#include "stiction/math/constants.hpp"

#include "solver/common/judge.hpp"
#include "solver/common/polygon.hpp"
#include "solver/first_order/admm.hpp"
#include "solver/solvers.hpp"
#include "solver/workspace.hpp"

#include <optional>

// Staggered projections (Kaufman et al., Staggered Projections for Frictional Contact in Multibody
// Systems, 2008; Le Lidec et al., 2024, Alg. 6): in turn
//   lambda_N <- argmin over lambda_N >= 0             of 1/2 l' G_N l + (g_N + G_NT lambda_T)' l
//   lambda_T <- argmin over |lambda_T| <= mu lambda_N of 1/2 l' G_T l + (g_T + G_TN lambda_N)' l
// each by ADMM (admm.hpp). Rows of limits, dry friction and bilateral sets belong to both problems,
// so each is the whole problem with the friction or the normal impulses held.

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

/// One of the two problems: over pairs of rows in sections of a cone, which come first, and rows in
/// intervals.
template <class Section>
struct Block {
  const Section& section;
  StaggeredWork::Block& work;
  int pairs = 0, rows = 0;

  void project(double* y) const {
    for (int i = 0; i < pairs; ++i) section.project(work.radius[i], y + 2 * i);
    for (int r = 2 * pairs; r < rows; ++r)
      y[r] = std::min(work.upper[r], std::max(work.lower[r], y[r]));
  }
  void subtract_shift(const double*, double*) const {}
};

/// The two problems of an island.
template <class Section>
class Staggered {
 public:
  Staggered(const Island& island,
            const SolverSettings& settings,
            const Section& section,
            StaggeredWork& work,
            int& factorisations,
            double* lambda,
            double* velocity)
      : island_(island),
        settings_(settings),
        work_(work),
        factorisations_(factorisations),
        lambda_(lambda),
        velocity_(velocity),
        blocks_{{section, work.normal}, {section, work.friction}} {}

  IslandOutcome solve(Judge& judge);

 private:
  static constexpr int kNormal = 0, kFriction = 1;
  void start(int k);
  void solve_block(int k, double tolerance);

  const Island& island_;
  const SolverSettings& settings_;
  StaggeredWork& work_;
  int& factorisations_;
  double *lambda_, *velocity_;
  Block<Section> blocks_[2];
  std::optional<Admm<Block<Section>>> admm_[2];
  double largest_diagonal_ = 0.0;
};

/// Lists the rows of a problem and prepares its matrix, intervals and penalty.
template <class Section>
void Staggered<Section>::start(int k) {
  const ContactProblem& p = island_.problem;
  Block<Section>& block = blocks_[k];
  StaggeredWork::Block& w = block.work;
  grow(island_.rows(), w.row, w.lower, w.upper, w.radius);
  int n = 0;
  const auto add = [&](int row, double lower, double upper) {
    w.row[n] = row;
    w.lower[n] = lower;
    w.upper[n++] = upper;
  };
  for (int i = island_.first; i < island_.last; ++i) {
    const ConstraintSet& set = p.sets[i];
    if (!set.is_cone()) continue;
    if (k == kNormal) add(set.offset + 2, 0.0, kInfinity);
    for (int r = 0; k == kFriction && r < 2; ++r) add(set.offset + r, 0.0, kInfinity);
    block.pairs += k == kFriction;
  }
  for (int i = island_.first; i < island_.last; ++i) {
    const ConstraintSet& set = p.sets[i];
    if (set.kind == SetKind::kNonNegative) add(set.offset, 0.0, kInfinity);
    if (set.kind == SetKind::kBox) add(set.offset, set.lower, set.upper);
    for (int r = 0; set.kind == SetKind::kFree && r < set.dim; ++r)
      add(set.offset + r, -kInfinity, kInfinity);
  }
  block.rows = n;
  AdmmWork& a = w.admm;
  a.reserve(n);
  const int stride = padded(n), all = padded(island_.rows());
  const bool warm = std::any_of(
      lambda_ + island_.begin, lambda_ + island_.end, [](double x) { return x != 0.0; });
  std::fill(a.G.data(), a.G + static_cast<std::size_t>(n) * stride, 0.0);
  for (int i = 0; i < n; ++i) {
    for (int j = 0; j < n; ++j)
      a.G[static_cast<std::size_t>(i) * stride + j] =
          work_.G[static_cast<std::size_t>(w.row[i] - island_.begin) * all + w.row[j] -
                  island_.begin];
    const bool bounded = std::isfinite(w.lower[i]) || std::isfinite(w.upper[i]);
    a.split[i] = bounded;
    a.scale[i] = 1.0;
    a.z[i] = warm && bounded ? velocity_[w.row[i]] : 0.0;
  }
  constexpr double kRange = 1e12;
  const double eta = settings_.proximal * mean_diagonal(island_);
  const ShiftedDelassus delassus(a, n, eta, factorisations_);
  const SpectralPenalty::Rule rule{0.4, 0.1, eta / kRange, kRange * kRange * eta, 0, 0, 1.5};
  admm_[k].emplace(block,
                   delassus,
                   SpectralPenalty(eta, eta + delassus.largest_eigenvalue(), rule),
                   settings_.relaxation(),
                   a);
}

/// Solves one problem with the other impulses held: g_b + G_b,rest lambda_rest = c_b - G_b
/// lambda_b.
template <class Section>
void Staggered<Section>::solve_block(int k, double tolerance) {
  constexpr int kMost = 100;         // iterations
  constexpr int kBalanceEvery = 10;  // a factor costs many
  const Block<Section>& block = blocks_[k];
  const Buffer<int>& row = block.work.row;
  const AdmmWork& a = block.work.admm;
  const double V = velocity_scale(island_);
  double L = largest_diagonal_ > 0.0 ? V / largest_diagonal_ : 0.0;
  for (int r = island_.begin; r < island_.end; ++r) L = std::max(L, std::abs(lambda_[r]));
  const double speed = V > 0.0 ? V : std::max(1.0, L) * largest_diagonal_;
  if (!(L > 0.0)) L = 1.0;
  velocities(island_, lambda_, velocity_);
  for (int i = 0; i < block.rows; ++i) a.x[i] = a.y[i] = lambda_[row[i]];
  for (int i = 0; i < block.rows; ++i) {
    const double* G = a.G + static_cast<std::size_t>(i) * padded(block.rows);
    a.g[i] = velocity_[row[i]];
    for (int j = 0; j < block.rows; ++j) a.g[i] -= G[j] * a.y[j];
  }
  for (int it = 1; it <= kMost; ++it) {
    typename Admm<Block<Section>>::Gaps gaps;
    if (!admm_[k]->step(gaps)) break;
    const double primal = gaps.primal / L, dual = gaps.dual / speed;
    if (std::max(primal, dual) <= tolerance) break;
    if (it % kBalanceEvery == 0) admm_[k]->update_penalty(primal, dual);
  }
  for (int i = 0; i < block.rows; ++i) lambda_[row[i]] = a.y[i];
}

/// The problems are solved to a tenth of the residual of the whole, which keeps the fixed points.
template <class Section>
IslandOutcome Staggered<Section>::solve(Judge& judge) {
  constexpr int kPatience = 100;  // alternations in which the residual is to halve
  if (judge.solved()) return {0, SolveStatus::kConverged};
  const int n = island_.rows();
  work_.g.grow(n);
  work_.G.grow(static_cast<std::size_t>(n) * padded(n));
  copy_dense(island_, padded(n), work_.G, work_.g);
  largest_diagonal_ = island_.problem.largest_diagonal(island_.first, island_.last);
  start(kNormal);
  start(kFriction);
  double to_halve = judge.relative();
  int patience_ends = kPatience;
  for (int k = 1;; ++k) {
    const double tolerance = 0.1 * std::max(settings_.tolerance, std::min(0.1, judge.relative()));
    solve_block(kNormal, tolerance);
    for (int i = 0, at = island_.first; at < island_.last; ++at) {
      const ConstraintSet& set = island_.problem.sets[at];
      if (set.is_cone())
        work_.friction.radius[i++] = set.friction.slope() * lambda_[set.offset + 2];
    }
    if (blocks_[kFriction].pairs > 0) solve_block(kFriction, tolerance);
    if (judge.solved()) return {k, SolveStatus::kConverged};
    if (judge.relative() < 0.5 * to_halve) {
      to_halve = judge.relative();
      patience_ends = k + kPatience;
    }
    if (k < patience_ends && k < settings_.max_iterations && judge.finite()) continue;
    judge.return_to_best();
    return {k, k >= patience_ends ? SolveStatus::kStalled : SolveStatus::kMaxIterations};
  }
}

template <class Section>
void solve_with(const Section& section,
                ContactModel model,
                const ContactProblem& problem,
                const SolverSettings& settings,
                StaggeredWork& work,
                ContactSolution& solution) {
  solve_by_islands(problem, solution, [&](const Island& island, double* lambda, double* velocity) {
    Judge judge(island, model, settings, work.best, lambda, velocity);
    return Staggered<Section>(
               island, settings, section, work, solution.factorisations, lambda, velocity)
        .solve(judge);
  });
}

}  // namespace

void solve_lcp_staggered(const ContactProblem& problem,
                         const SolverSettings& settings,
                         SolverWorkspace& work,
                         ContactSolution& solution) {
  const Polygon polygon(settings.facets);
  solve_with(polygon, ContactModel::kLcp, problem, settings, work.parts().staggered, solution);
}

void solve_ncp_staggered(const ContactProblem& problem,
                         const SolverSettings& settings,
                         SolverWorkspace& work,
                         ContactSolution& solution) {
  solve_with(Disk{}, ContactModel::kNcp, problem, settings, work.parts().staggered, solution);
}

}  // namespace stiction
