#include "ncp_pgs.hpp"

#include "stiction/solver/pgs_kernel.hpp"

#include "mode_newton.hpp"

#include <algorithm>
#include <cmath>

// Block projected Gauss-Seidel for the NCP on islands; the local updates are in pgs_kernel.hpp.

namespace stiction {
namespace {

constexpr int kMaxDim = 6;
constexpr double kUnknown = 1e300;
constexpr double kRounding = 1e-12;  // backward residual below which double is exhausted

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
      if (r < kMaxDim) local.inverse[r] = safe_inverse(b[s * r + r], 1e-14 * scale);
    }
  }
}

void update_free(const ContactProblem& problem, int i, const Local& local, double* c, double* l) {
  const int dim = problem.sets[i].dim, s = ContactProblem::stride(dim);
  const double* b = problem.values.data() + problem.diagonal_start[i];
  for (int r = 0; r < dim; ++r) {
    const double step = -local.inverse[r < kMaxDim ? r : 0] * c[r];
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

/// Sweeps until the island's residual meets the tolerance; returns their number.
int solve_island(const Island& island,
                 const Local* locals,
                 SolverWorkspace& work,
                 Residuals& certificate) {
  constexpr int kNewtonIterations = 20;
  const SolverSettings& settings = island.settings;
  const double scale = velocity_scale(island.problem, island.first, island.last);
  // The residual costs as much as a sweep, so it is evaluated when the iterate has nearly stopped,
  // and then at growing intervals. Newton is tried every 4 sweeps, which find most modes, or at
  // once if the first sweep shows that the warm start is close; if it fails, the sweeps go on from
  // the best iterate.
  constexpr double kClose = 2e-2;
  int next_check = 1, interval = 1, next_newton = 4;
  for (int k = 1; k <= settings.max_iterations; ++k) {
    const double change = sweep(island.problem, locals, island.first, island.last, island.lambda);
    if (!(change < 1e300)) return k;
    const bool check = change <= settings.tolerance * scale && k >= next_check;
    const bool newton =
        settings.newton && (k >= next_newton || (k == 1 && change <= kClose * scale));
    if (!check && !newton && k < settings.max_iterations) continue;
    certificate = island.certify();
    if (certificate.relative > settings.tolerance && newton) {
      certificate = newton_on_modes(island.problem,
                                    island.first,
                                    island.last,
                                    settings.tolerance,
                                    kNewtonIterations,
                                    certificate,
                                    island.lambda,
                                    island.velocity,
                                    work);
      next_newton = k + 4;
    }
    if (certificate.relative <= settings.tolerance || std::isinf(certificate.relative)) return k;
    next_check = k + interval;
    interval = std::min(2 * interval, 16);
  }
  return settings.max_iterations;
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
