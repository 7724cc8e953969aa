#include "solver/common/island_residuals.hpp"
#include "solver/common/projection.hpp"
#include "solver/first_order/admm.hpp"
#include "solver/first_order/spectral_penalty.hpp"
#include "solver/solvers.hpp"
#include "solver/workspace.hpp"

#include <algorithm>
#include <cmath>
#include <optional>

// ADMM for the cone complementarity problem min 1/2 l^T G l + g^T l, l in K:
// Le Lidec et al., "Contact Models in Robotics: a Comparative Analysis", T-RO 2024, Algorithm 3,
// with its proximal term eta and over-relaxation alpha:
//
//   x     <- -(G + (rho + eta) I)^-1 (g + gamma - rho z - eta x)
//   t      = alpha x + (1 - alpha) z + gamma / rho
//   z     <- proj_K(t)
//   gamma <- rho (t - z)
//
// z is returned: it is in K. At a solution gamma = -c. Bilateral rows have no set to be split off:
// for them z = x, gamma = 0 and no rho. The warm start is lambda alone: gamma is rebuilt as
// rho (t - proj_K(t)) from t = lambda - c / rho, which is -c at a solution and minus the projection
// of c on K* at lambda = 0.

namespace stiction {
namespace {

class IslandAdmm {
 public:
  IslandAdmm(const Island& island,
             const SolverSettings& settings,
             AdmmWork& work,
             int& factorisations);
  /// `penalty` is rho / mean diag(G), 0: by rule; gets the last one.
  IslandOutcome solve(double* lambda, double* velocity, double& penalty);

 private:
  SpectralPenalty bounds(double penalty);
  void start(const double* lambda, const double* velocity);
  void step();
  bool near(double tolerance) const;
  double rho(int r) const { return split_[r] * penalty_.rho(); }

  const Island& island_;
  const SolverSettings& settings_;
  const int n_;
  const double mean_, eta_;
  AdmmWork& work_;
  int& factorisations_;
  Scratch scratch_;
  Scratch::Vector x_, z_, gamma_, rhs_, split_;
  std::optional<ShiftedDelassus> delassus_;  // not before the start has been found wanting
  double scale_ = 0.0;                       // of velocities [m/s]
  double primal_ = 0.0, dual_ = 0.0;         // of the last step [N s], [m/s]
  double largest_ = 0.0;                     // eigenvalue L
  double impulse_scale_ = 0.0;               // [N s]
  SpectralPenalty penalty_{1.0, 1.0, {}};
};

IslandAdmm::IslandAdmm(const Island& island,
                       const SolverSettings& settings,
                       AdmmWork& work,
                       int& factorisations)
    : island_(island),
      settings_(settings),
      n_(island.rows()),
      mean_(mean_diagonal(island)),
      eta_(settings.proximal * mean_),
      work_(work),
      factorisations_(factorisations),
      scratch_(work.vectors, 5 * static_cast<std::size_t>(n_)),
      x_(scratch_.vector(n_)),
      z_(scratch_.vector(n_)),
      gamma_(scratch_.vector(n_)),
      rhs_(scratch_.vector(n_)),
      split_(scratch_.vector(n_)) {}

/// m = eta + min R and L by power iteration, R the physical compliance; powers of the authors'
/// code.
SpectralPenalty IslandAdmm::bounds(double penalty) {
  const auto R = island_.problem.compliance.begin();
  const double m = eta_ + *std::min_element(R + island_.begin, R + island_.end);
  largest_ = delassus_->largest_eigenvalue(x_.data(), rhs_.data()) + eta_;
  const SpectralPenalty::Rule rule{0.4, 0.1, 1e-9 * largest_, 1e9 * largest_, 4, 4};
  return {std::min(m, largest_), largest_, rule, penalty * mean_};
}

/// z, x, gamma from the warm start and its velocity.
void IslandAdmm::start(const double* lambda, const double* velocity) {
  const ContactProblem& p = island_.problem;
  const double rho = penalty_.rho();
  for (int i = island_.first; i < island_.last; ++i) {
    const ConstraintSet& set = p.sets[i];
    double t[kMaxSetDim] = {}, projected[kMaxSetDim] = {};
    for (int k = 0; k < set.dim; ++k) {
      const int row = set.offset + k;
      z_[row - island_.begin] = lambda[row];
      t[k] = projected[k] = lambda[row] - velocity[row] / rho;
      split_[row - island_.begin] = set.kind == SetKind::kFree ? 0.0 : 1.0;
    }
    project(set, &z_[set.offset - island_.begin]);
    project(set, projected);
    for (int k = 0; k < set.dim; ++k)
      gamma_[set.offset - island_.begin + k] = rho * (t[k] - projected[k]);
  }
  x_ = z_;
}

/// Algorithm 3, lines 3 to 5.
void IslandAdmm::step() {
  const ContactProblem& p = island_.problem;
  const double alpha = settings_.over_relaxation, penalty = penalty_.rho();
  const double* g = p.g.data() + island_.begin;
  for (int r = 0; r < n_; ++r) rhs_[r] = rho(r) * z_[r] + eta_ * x_[r] - g[r] - gamma_[r];
  delassus_->solve(rhs_.data());
  primal_ = dual_ = impulse_scale_ = 0.0;
  for (int i = island_.first; i < island_.last; ++i) {
    const ConstraintSet& set = p.sets[i];
    const int begin = set.offset - island_.begin;
    double t[kMaxSetDim] = {}, z[kMaxSetDim] = {};
    for (int k = 0; k < set.dim; ++k) {
      const int r = begin + k;
      t[k] = split_[r] == 0.0 ? rhs_[r]
                              : alpha * rhs_[r] + (1.0 - alpha) * z_[r] + gamma_[r] / penalty;
      z[k] = t[k];
    }
    project(set, z);
    for (int k = 0; k < set.dim; ++k) {
      const int r = begin + k;
      if (split_[r] != 0.0)
        primal_ = std::max(primal_, std::abs(t[k] - z[k] - gamma_[r] / penalty));
      dual_ = std::max(dual_, std::abs(rho(r) * (z[k] - z_[r]) + eta_ * (rhs_[r] - x_[r])));
      impulse_scale_ = std::max(impulse_scale_, std::abs(z[k]));
      gamma_[r] = penalty * (t[k] - z[k]);
      z_[r] = z[k];
      x_[r] = rhs_[r];
    }
  }
}

/// Whether the exact residual may be below the tolerance: that of z is off by G (x - z) and the
/// dual residual.
bool IslandAdmm::near(double tolerance) const {
  return largest_ * primal_ + dual_ <= 1e2 * tolerance * scale_;
}

IslandOutcome IslandAdmm::solve(double* lambda, double* velocity, double& penalty) {
  const auto solved = [&] {
    return island_residuals(ContactModel::kCcp, island_, settings_, lambda, velocity).relative <=
           settings_.tolerance;
  };
  if (solved()) return {0, SolveStatus::kConverged};
  delassus_.emplace(island_, eta_, work_.matrix, factorisations_);
  scale_ = velocity_scale(island_);
  penalty_ = bounds(penalty);
  start(lambda, velocity);
  int next_check = 1;
  for (int k = 1;; ++k) {
    if (!delassus_->set_penalty(penalty_.rho())) return {k, SolveStatus::kStalled};
    step();
    const bool last = k >= settings_.max_iterations || settings_.interrupt.requested() ||
                      !std::isfinite(primal_ + dual_);
    if (last || (k >= next_check && (near(settings_.tolerance) || k % 32 == 0))) {
      std::copy(z_.data(), z_.data() + n_, lambda + island_.begin);
      penalty = penalty_.rho() / mean_;
      if (solved()) return {k, SolveStatus::kConverged};
      if (last) return {k, SolveStatus::kMaxIterations};
      next_check = k + check_interval(k);
    }
    penalty_.update(primal_ / std::max(impulse_scale_, scale_ / largest_),
                    dual_ / std::max(scale_, largest_ * impulse_scale_));
  }
}

}  // namespace

void solve_ccp_admm(const ContactProblem& problem,
                    const SolverSettings& settings,
                    SolverWorkspace& work,
                    ContactSolution& solution) {
  const double start = solution.penalty;
  int most = -1;
  solve_by_islands(problem, solution, [&](const Island& island, double* lambda, double* velocity) {
    IslandAdmm admm(island, settings, work.parts().admm, solution.factorisations);
    double penalty = start;
    const IslandOutcome out = admm.solve(lambda, velocity, penalty);
    if (out.iterations > most) solution.penalty = penalty;  // of the slowest island
    most = std::max(most, out.iterations);
    return out;
  });
}

}  // namespace stiction
