#include "stiction/math/split_mix.hpp"
#include "stiction/solver/pgs_kernel.hpp"

#include "island.hpp"
#include "mode_newton.hpp"
#include "solvers.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>

// Block projected Gauss-Seidel for the NCP on islands; the local updates are in pgs_kernel.hpp.

namespace stiction {
namespace {

constexpr int kMaxDim = 6;
constexpr double kUnknown = 1e300;
constexpr int kMaxRestartRows = 100;  // larger islands circle in one place only: sweeps get on
constexpr double kRounding = 1e-12;   // backward residual below which double is exhausted

/// Per-set constants of a solve. Bilateral rows are solved row by row within their block, which
/// needs the diagonal only.
struct Local {
  ConeStep<double> cone;
  double inverse[kMaxDim];  ///< 1 / G_rr of the other sets
  double diag_max;
};
constexpr int kLocalDoubles = sizeof(Local) / sizeof(double);

void prepare(const ContactProblem& problem, Local* locals, int first, int last) {
  double scale = 0.0;
  for (int i = first; i < last; ++i) {
    const int s = ContactProblem::stride(problem.sets[i].dim);
    const double* b = problem.values.data() + problem.diagonal_start[i];
    for (int r = 0; r < problem.sets[i].dim; ++r) scale = std::max(scale, b[s * r + r]);
  }
  for (int i = first; i < last; ++i) {
    const ConstraintSet& set = problem.sets[i];
    const double* b = problem.values.data() + problem.diagonal_start[i];
    Local& local = locals[i];
    if (set.kind == SetKind::kCone) {
      const double block[6] = {b[0], b[1], b[2], b[5], b[6], b[10]};
      local.cone = cone_step(block, 1e-14 * scale);
      local.diag_max = std::max({b[0], b[5], b[10]});
      continue;
    }
    const int s = ContactProblem::stride(set.dim);
    local.diag_max = 0.0;
    for (int r = 0; r < set.dim; ++r) {
      local.diag_max = std::max(local.diag_max, b[s * r + r]);
      local.inverse[r] = safe_inverse(b[s * r + r], 1e-14 * scale);
    }
  }
}

void update_free(const ContactProblem& problem, int i, const Local& local, double* c, double* l) {
  const int dim = problem.sets[i].dim, s = ContactProblem::stride(dim);
  const double* b = problem.values.data() + problem.diagonal_start[i];
  for (int r = 0; r < dim; ++r) {
    const double step = -local.inverse[r] * c[r];
    l[r] += step;
    for (int k = r + 1; k < dim; ++k) c[k] += b[s * r + k] * step;
  }
}

/// One Gauss-Seidel pass; returns the largest change of impulse in velocity units, G_ii |dlambda|.
double sweep(
    const ContactProblem& problem, const Local* locals, int first, int last, double* lambda) {
  double change = 0.0;
  for (int i = first; i < last; ++i) {
    const ConstraintSet& set = problem.sets[i];
    const Local& local = locals[i];
    double* l = lambda + set.offset;
    double c[kMaxDim], old[kMaxDim];
    problem.velocity(i, lambda, c);
    for (int r = 0; r < set.dim; ++r) old[r] = l[r];
    switch (set.kind) {
      case SetKind::kCone:
        update_cone(local.cone, set.mu, c, l);
        break;
      case SetKind::kNonNegative:
        l[0] = std::max(0.0, l[0] - local.inverse[0] * c[0]);
        break;
      case SetKind::kBox:
        l[0] = std::min(set.upper, std::max(set.lower, l[0] - local.inverse[0] * c[0]));
        break;
      case SetKind::kFree:
        update_free(problem, i, local, c, l);
        break;
    }
    for (int r = 0; r < set.dim; ++r)
      change = std::max(change, local.diag_max * std::abs(l[r] - old[r]));
  }
  return change;
}

/// Another place to start from: each contact carries up to what would stop the largest velocity.
void scatter_impulses(
    const ContactProblem& problem, int first, int last, double scale, int seed, double* lambda) {
  SplitMix uniform{static_cast<std::uint64_t>(seed)};
  for (int i = first; i < last; ++i) {
    const ConstraintSet& set = problem.sets[i];
    double* l = lambda + set.offset;
    const double* b = problem.values.data() + problem.diagonal_start[i];
    if (set.kind == SetKind::kBox) l[0] = std::clamp(0.0, set.lower, set.upper);
    if (set.kind == SetKind::kNonNegative) l[0] = uniform() * scale * safe_inverse(b[0], 0.0);
    if (set.kind != SetKind::kCone) continue;
    const double n = uniform() * scale * safe_inverse(b[10], 0.0);
    l[0] = set.mu * n * (uniform() - 0.5);
    l[1] = set.mu * n * (uniform() - 0.5);
    l[2] = n;
  }
}

/// The NCP of one island: sweeps, Newton, and restarts where neither arrives.
class IslandSolver {
 public:
  IslandSolver(const Island& island,
               const SolverSettings& settings,
               const Local* locals,
               SolverWorkspace& work,
               double* lambda,
               double* velocity)
      : problem_(island.problem),
        settings_(settings),
        locals_(locals),
        work_(work),
        lambda_(lambda),
        velocity_(velocity),
        first_(island.first),
        last_(island.last),
        begin_(island.begin),
        end_(island.end),
        scale_(velocity_scale(island)),
        max_restarts_(island.rows() <= kMaxRestartRows ? 12 : 0) {
    certificate_.relative = certificate_.backward = best_.relative = kUnknown;
    newton_.tolerance = settings.tolerance;
    newton_.max_iterations = 8;  // a long first try is mostly in vain
    work_.best.resize(problem_.g.size());
  }

  /// Returns the number of sweeps.
  int solve();
  const Residuals& certificate() const { return certificate_; }
  bool solved() const { return certificate_.relative <= settings_.tolerance; }

 private:
  static constexpr int kPatience = 32;  // sweeps in which the residual is to halve

  void try_newton();
  void keep_best();
  void return_to_best();
  void restart_if_circling(int sweeps);

  const ContactProblem& problem_;
  const SolverSettings& settings_;
  const Local* locals_;
  SolverWorkspace& work_;
  double *lambda_, *velocity_;
  int first_, last_, begin_, end_;
  double scale_;  // of the velocities [m/s]
  Residuals certificate_, best_;
  NewtonSettings newton_;
  int max_restarts_, restarts_ = 0;
  int patience_ends_ = kPatience;
  double residual_to_halve_ = kUnknown;
};

/// The residual costs as much as a sweep, so it is evaluated when the iterate has nearly stopped,
/// and then at growing intervals. Newton is tried every 4 sweeps, later every k/8 up to 32, which
/// find most modes, or at once if the first sweep shows that the warm start is close.
int IslandSolver::solve() {
  constexpr int kEvery = 4;
  constexpr double kClose = 2e-2;
  int next_check = 1, interval = 1, next_newton = kEvery;
  for (int k = 1;; ++k) {
    const double change = sweep(problem_, locals_, first_, last_, lambda_);
    if (!(change < kUnknown)) return k;  // not finite: solve() finds it
    const bool finished = k >= settings_.max_iterations;
    const bool stopped = change <= settings_.tolerance * scale_ && k >= next_check;
    const bool newton =
        settings_.newton && (k >= next_newton || (k == 1 && change <= kClose * scale_));
    if (!finished && !stopped && !newton) continue;
    certificate_ = residuals(problem_, lambda_, velocity_, first_, last_);
    if (newton && !solved()) try_newton();
    if (solved() || std::isinf(certificate_.relative)) return k;
    keep_best();
    if (finished) {
      return_to_best();
      return k;
    }
    next_check = k + interval;
    interval = std::min(2 * interval, 16);
    if (!newton) continue;
    next_newton = k + std::clamp(k / 8, kEvery, kPatience);
    restart_if_circling(k);
  }
}

void IslandSolver::try_newton() {
  constexpr double kLarge = 1e-6, kSmall = 1e-9, kNear = 1e-6;
  const double before = certificate_.relative;
  certificate_ =
      newton_on_modes(problem_, first_, last_, newton_, certificate_, lambda_, velocity_, work_);
  newton_.max_iterations = 20;
  // Near a hyperstatic solution the large term is slow, the small one at times singular.
  if (certificate_.relative >= kNear)
    newton_.proximal = kLarge;
  else if (certificate_.relative > 0.5 * before)
    newton_.proximal = newton_.proximal == kLarge ? kSmall : kLarge;
}

void IslandSolver::keep_best() {
  if (!(certificate_.relative < best_.relative)) return;
  best_ = certificate_;
  std::copy(lambda_ + begin_, lambda_ + end_, work_.best.begin() + begin_);
}

void IslandSolver::return_to_best() {
  if (!(best_.relative < certificate_.relative)) return;
  certificate_ = best_;
  std::copy(work_.best.begin() + begin_, work_.best.begin() + end_, lambda_ + begin_);
}

/// Where friction couples contacts strongly the sweeps can circle around a point that is no
/// solution. When 32 of them have not halved a residual above 1e-7, the island starts anew from
/// other impulses, up to 12 times, and then goes on from the best that was seen.
void IslandSolver::restart_if_circling(int sweeps) {
  constexpr double kFar = 1e-7;
  if (certificate_.relative < 0.5 * residual_to_halve_) {
    residual_to_halve_ = certificate_.relative;
    patience_ends_ = sweeps + kPatience;
  }
  const bool circling = sweeps >= patience_ends_ && certificate_.relative > kFar;
  if (max_restarts_ == 0 || restarts_ > max_restarts_ || (restarts_ == 0 && !circling)) return;
  if (restarts_ == max_restarts_) {
    return_to_best();
  } else {
    scatter_impulses(problem_, first_, last_, scale_, restarts_ + 1, lambda_);
  }
  ++restarts_;
}

}  // namespace

void solve_ncp_pgs(const ContactProblem& problem,
                   const SolverSettings& settings,
                   SolverWorkspace& work,
                   ContactSolution& solution) {
  const std::size_t needed = static_cast<std::size_t>(problem.num_sets()) * kLocalDoubles;
  if (work.real.size() < needed) work.real.resize(needed);
  Local* locals = reinterpret_cast<Local*>(work.real.data());
  const auto solve_island = [&](const Island& island, double* lambda, double* velocity) {
    prepare(problem, locals, island.first, island.last);
    IslandSolver solver(island, settings, locals, work, lambda, velocity);
    const int sweeps = solver.solve();
    // One converged island: velocity and residuals are those of the final impulse already.
    solution.certified = problem.num_islands() == 1 && solver.solved();
    if (solution.certified) solution.residuals = solver.certificate();
    return IslandOutcome{sweeps,
                         solver.solved() ? SolveStatus::kConverged : SolveStatus::kMaxIterations};
  };
  solve_by_islands(problem, solution, solve_island);
}

}  // namespace stiction
