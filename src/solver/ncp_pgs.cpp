#include "ncp_pgs.hpp"

#include "stiction/math/split_mix.hpp"
#include "stiction/solver/pgs_kernel.hpp"

#include "mode_newton.hpp"

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

double velocity_scale(const ContactProblem& problem, int first, int last) {
  double scale = 0.0;
  const int begin = problem.sets[first].offset;
  const int end = problem.sets[last - 1].offset + problem.sets[last - 1].dim;
  for (int r = begin; r < end; ++r) scale = std::max(scale, std::abs(problem.g[r]));
  return scale;
}

/// One island while it is being solved.
struct Island {
  const ContactProblem& problem;
  const SolverSettings& settings;
  int first, last;
  double* lambda;
  double* velocity;

  Residuals certify() const { return residuals(problem, lambda, velocity, first, last); }
};

/// Another place to start from: each contact carries up to what would stop the largest velocity.
void scatter_impulses(const Island& island, double scale, int seed) {
  SplitMix uniform{static_cast<std::uint64_t>(seed)};
  const ContactProblem& problem = island.problem;
  for (int i = island.first; i < island.last; ++i) {
    const ConstraintSet& set = problem.sets[i];
    double* l = island.lambda + set.offset;
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

/// Sweeps until the island's residual meets the tolerance; returns their number.
///
/// The residual costs as much as a sweep, so it is evaluated when the iterate has nearly stopped,
/// and then at growing intervals. Newton is tried every 4 sweeps, later every 32, which find most
/// modes, or at once if the first sweep shows that the warm start is close. Where friction couples
/// the contacts strongly the sweeps can circle around a point that is no solution: when 32 of them
/// have not halved a residual above 1e-4, both start anew from other impulses, up to 12 times, and
/// then go on from the best that was seen.
int solve_island(const Island& island,
                 const Local* locals,
                 SolverWorkspace& work,
                 Residuals& certificate) {
  constexpr int kEvery = 4, kPatience = 32;
  constexpr double kClose = 2e-2, kFar = 1e-4, kNear = 1e-6;
  const SolverSettings& settings = island.settings;
  const ConstraintSet& last_set = island.problem.sets[island.last - 1];
  const int begin = island.problem.sets[island.first].offset, end = last_set.offset + last_set.dim;
  const double scale = velocity_scale(island.problem, island.first, island.last);
  const int max_restarts = end - begin <= kMaxRestartRows ? 12 : 0;
  int next_check = 1, interval = 1, next_newton = kEvery, restarts = 0;
  int patience_ends = kPatience;
  NewtonSettings newton{settings.tolerance, 8, 1e-6};  // a long first try is mostly in vain
  double milestone = kUnknown;
  Residuals best;
  best.relative = kUnknown;
  work.best.resize(island.problem.g.size());
  for (int k = 1;; ++k) {
    const double change = sweep(island.problem, locals, island.first, island.last, island.lambda);
    if (!(change < 1e300)) return k;
    const bool check = change <= settings.tolerance * scale && k >= next_check;
    const bool try_newton =
        settings.newton && (k >= next_newton || (k == 1 && change <= kClose * scale));
    const bool finished = k >= settings.max_iterations;
    if (!check && !try_newton && !finished) continue;
    certificate = island.certify();
    if (certificate.relative > settings.tolerance && try_newton) {
      certificate = newton_on_modes(island.problem,
                                    island.first,
                                    island.last,
                                    newton,
                                    certificate,
                                    island.lambda,
                                    island.velocity,
                                    work);
      newton.max_iterations = 20;
      // Near a hyperstatic solution the large term is slow, the small one at times singular.
      const bool small = certificate.relative < kNear && newton.proximal == 1e-6;
      newton.proximal = small ? 1e-9 : 1e-6;
    }
    if (certificate.relative <= settings.tolerance || std::isinf(certificate.relative)) return k;
    const bool exhausted = try_newton && restarts > 0 && restarts == max_restarts;
    if (certificate.relative < best.relative) {
      best = certificate;
      std::copy(island.lambda + begin, island.lambda + end, work.best.begin() + begin);
    } else if ((finished || exhausted) && best.relative < kUnknown) {
      certificate = best;
      std::copy(work.best.begin() + begin, work.best.begin() + end, island.lambda + begin);
    }
    if (finished) return k;
    next_check = k + interval;
    interval = std::min(2 * interval, 16);
    if (!try_newton) continue;
    if (exhausted) ++restarts;
    next_newton = k + std::clamp(k / 8, kEvery, kPatience);
    if (certificate.relative < 0.5 * milestone) {
      milestone = certificate.relative;
      patience_ends = k + kPatience;
    }
    const bool circling = restarts > 0 || (k >= patience_ends && certificate.relative > kFar);
    if (circling && restarts < max_restarts) scatter_impulses(island, scale, ++restarts);
  }
}

}  // namespace

void solve_ncp_pgs(const ContactProblem& problem,
                   const SolverSettings& settings,
                   SolverWorkspace& work,
                   ContactSolution& solution) {
  const std::size_t needed = static_cast<std::size_t>(problem.num_sets()) * kLocalDoubles;
  if (work.real.size() < needed) work.real.resize(needed);
  Local* locals = reinterpret_cast<Local*>(work.real.data());
  bool all_converged = true, all_limited = true;
  for (int island = 0; island < problem.num_islands(); ++island) {
    const int first = problem.island_start[island], last = problem.island_start[island + 1];
    prepare(problem, locals, first, last);
    const Island view{
        problem, settings, first, last, solution.impulse.data(), solution.velocity.data()};
    Residuals certificate;
    certificate.relative = certificate.backward = kUnknown;
    const int sweeps = solve_island(view, locals, work, certificate);
    solution.iterations = std::max(solution.iterations, sweeps);
    const bool converged = certificate.relative <= settings.tolerance;
    all_converged = all_converged && converged;
    all_limited = all_limited && (converged || certificate.backward <= kRounding);
    // One converged island: velocity and residuals are those of the final impulse already.
    solution.certified = problem.num_islands() == 1 && all_converged;
    if (solution.certified) solution.residuals = certificate;
  }
  solution.status = all_converged ? SolveStatus::kConverged
                    : all_limited ? SolveStatus::kRoundingLimited
                                  : SolveStatus::kMaxIterations;
}

}  // namespace stiction
