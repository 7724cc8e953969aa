#include "stiction/solver/central_path.hpp"

#include "stiction/math/constants.hpp"

#include "contact/central_path.hpp"
#include "math/number_text.hpp"
#include "solver/common/lorentz.hpp"
#include "solver/ncp_newton/interior_point.hpp"
#include "solver/workspace.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>

// The interior point method, stopped on its path: far from it as ever, but never aiming below the
// energy; near it Newton steps at a fixed centre, which converge quadratically. The NT scaling of a
// step changes nothing in its limit.

namespace stiction {

void InteriorPoint::restart_above(double energy, double size) {
  const double root = std::sqrt(std::max(1.0, energy / (unit_ * unit_)) * size);
  restart({10.0 * root, 0.1 * root, 0.1, 0.99});
}

/// Of the equations of the path, each relative to the largest terms of its kind.
double InteriorPoint::path_error() const {
  double velocity = 1e-300, pairs = 0.0;
  for (int i = 0; i < n_; ++i) {
    const double* row = w_.matrix + static_cast<std::size_t>(i) * stride_;
    double sum = std::abs(w_.g[i]);
    for (int j = 0; j < n_; ++j) sum += std::abs(row[j] * w_.at.now.l[j]);
    velocity = std::max(velocity, sum);
  }
  const auto bound = [&](double l, double limit, double y) {
    const double size = std::max(least_, (std::abs(l) + std::abs(limit)) * y);
    pairs = std::max(pairs, std::abs(std::abs(l - limit) * y - least_) / size);
  };
  for (int k = 0; k < cells_; ++k) {
    const int r = w_.cells[k].row;
    const double *l = w_.at.now.l + r, *y = w_.at.now.y + r;
    if (w_.cells[k].kind == Kind::kCone) {
      with_dim(w_.cells[k].dim, [&](auto D) {
        double q[D];
        lorentz::product<D>(l, y, q);
        q[D - 1] -= least_;
        for (int i = 0; i < D; ++i)
          pairs = std::max(pairs, std::abs(q[i]) / std::max(least_, l[D - 1] * y[D - 1]));
      });
    } else if (w_.cells[k].kind != Kind::kFree) {
      if (std::isfinite(w_.low[r])) bound(*l, w_.low[r], *y);
      if (std::isfinite(w_.high[r])) bound(*l, w_.high[r], w_.at.now.z[r]);
    }
  }
  return std::max(pairs, residual_ / velocity);
}

/// How far it went; 0 if it cannot.
double InteriorPoint::step_along_path() {
  if (!factorise()) return 0.0;
  const bool near = mean_ <= 2.0 * least_ && worst_ >= 0.1 * std::min(least_, mean_) &&
                    (mean_ >= 0.5 * least_ || mean_ == 0.0);
  double alpha = near ? 0.0 : choose_direction(predict());
  if (!(alpha > 1e-3)) {
    direction(least_, false, 1.0);
    alpha = std::min(1.0, 0.995 * longest_step());
  }
  if (alpha > 0.0) move(alpha);
  return alpha;
}

double InteriorPoint::centre(double energy,
                             double slip,
                             int max_steps,
                             const Interrupt& interrupt) {
  constexpr double kRounding = 1e-15, kSmall = 1e-12;
  slip_ = slip;
  least_ = energy / (unit_ * unit_);
  evaluate();
  double error = path_error();
  for (int last = steps_ + max_steps; steps_ < last && error > kRounding; ++steps_) {
    if (interrupt.requested()) break;
    if (!(step_along_path() > 1e-12)) break;
    const double before = error;
    error = path_error();
    if (!(std::abs(mean_) + residual_ < 1e100)) return kInfinity;
    if (before < kSmall && error > 0.5 * before) break;
  }
  return std::isfinite(error) ? error : kInfinity;
}

namespace {

/// Sizes of pairs to begin with, one after the other where the path is not reached.
constexpr double kSizes[] = {1.0, 1e4, 1e-2, 1e2};
constexpr int kMaxSteps = 100;

/// The relative residual of one island's equations.
double solve_island(const Island& island,
                    double energy,
                    const SolverSettings& settings,
                    InteriorWork& work,
                    WorkAccount& account,
                    ContactSolution& out,
                    int& steps) {
  InteriorPoint interior(island, InteriorPoint::Problem::kPath, work, account);
  double error = kInfinity;
  for (const double size : kSizes) {
    interior.restart_above(energy, size);
    error = interior.centre(energy, path_slip(energy), kMaxSteps, settings.interrupt);
    if (error <= settings.tolerance || settings.interrupt.requested()) break;
  }
  interior.copy_impulse(out.impulse.data());
  interior.copy_dual(out.path_velocity.data());
  steps = interior.steps();
  return error;
}

}  // namespace

void solve_on_path(const ContactProblem& problem,
                   double epsilon,
                   const SolverSettings& settings,
                   SolverWorkspace& work,
                   ContactSolution& solution) {
  if (!(epsilon > 0.0 && std::isfinite(epsilon)))
    throw std::invalid_argument("epsilon = " + number_text(epsilon) + " J: must be > 0 and finite");
  SolverWorkspace::Parts& parts = work.parts();
  const ContactProblem& circular = parts.circular.take(problem);
  solution.impulse.assign(problem.g.size(), 0.0);
  solution.path_velocity.assign(problem.g.size(), 0.0);
  solution.velocity.resize(problem.g.size());
  solution.regularisation.clear();
  solution.stages.clear();
  solution.model = ContactModel::kNcp;
  solution.path_energy = epsilon;
  solution.iterations = solution.factorisations = 0;
  solution.certified = false;
  solution.deterministic = true;
  double worst = 0.0;
  WorkAccount account;
  solve_by_islands(circular, solution, [&](const Island& island, double*, double*) {
    IslandOutcome outcome;
    const double error = solve_island(island,
                                      epsilon,
                                      settings,
                                      parts.ncp_newton.interior,
                                      account,
                                      solution,
                                      outcome.iterations);
    if (!(error <= settings.tolerance)) outcome.status = SolveStatus::kStalled;
    worst = std::max(worst, error);
    return outcome;
  });
  solution.factorisations = account.factorisations;
  if (parts.circular.copied()) parts.circular.from_circular(solution.impulse.data());
  solution.residuals = residuals(problem, solution.impulse.data(), solution.velocity.data());
  if (!std::isfinite(solution.residuals.relative)) {
    solution.impulse.assign(problem.g.size(), 0.0);
    solution.residuals = residuals(problem, solution.impulse.data(), solution.velocity.data());
    solution.status = SolveStatus::kNotFinite;
  }
  solution.model_residuals = {};
  solution.model_residuals.relative = worst;
}

}  // namespace stiction
