#include "solver/common/island.hpp"
#include "solver/common/progress.hpp"
#include "solver/common/set_sweep.hpp"
#include "solver/raisim/raisim_slide.hpp"
#include "solver/solvers.hpp"
#include "solver/workspace.hpp"
#include <Eigen/Cholesky>

#include <algorithm>
#include <cmath>

// RaiSim's contact solver (Hwangbo, Lee and Hutter, "Per-Contact Iteration Method for Solving
// Contact Dynamics", 2018; Algorithm 4 of Le Lidec et al., "Contact Models in Robotics", 2024): per
// contact
//   c_free = g_i + sum_{j != i} G_ij lambda_j,  stick = -G_ii^-1 c_free
//   l* = 0 if c_free_N >= 0, stick if it is in K, else slide (raisim_slide.hpp)
//   lambda_i <- (1 - alpha) lambda_i + alpha l*
// and after each sweep alpha <- (1 - gamma) alpha_min + gamma alpha, from alpha = 1.
// Ours: G_TT + eps 1 and c_free_T - eps lambda_T in place of G_TT and c_free_T, which leaves the
// fixed points as they are and makes a singular block definite. Rows that are no contact take a
// plain projected Gauss-Seidel step.

namespace stiction {
namespace {

constexpr double kShift = 1e-10;  // eps / trace(G_ii)

/// l* of one contact from its velocity c at the impulse `before`. A normal row that nothing moves
/// (diagonal up to `floor`) carries nothing.
Eigen::Vector3d contact_impulse(const double* block,
                                double floor,
                                double mu,
                                const Eigen::Vector3d& c,
                                const Eigen::Vector3d& before) {
  Eigen::Matrix3d G = Eigen::Map<const Eigen::Matrix3d, 0, Eigen::OuterStride<4>>(block);
  const double c_free_normal = c[2] - G.row(2).dot(before);
  if (c_free_normal >= 0.0 || G(2, 2) <= floor) return Eigen::Vector3d::Zero();
  if (mu == 0.0) return {0.0, 0.0, -c_free_normal / G(2, 2)};
  G.diagonal().head<2>().array() += kShift * G.trace();
  const Eigen::Vector3d c_free = c - G * before;
  const Eigen::Vector3d stick = G.llt().solve(-c_free);
  if (stick.head<2>().norm() <= mu * stick[2]) return stick;
  return slide_impulse(G, c_free, mu, stick, before);
}

class PerContactIteration {
 public:
  PerContactIteration(const Island& island,
                      const SolverSettings& settings,
                      Buffer<double>& best,
                      double* lambda,
                      double* velocity);
  IslandOutcome solve();

 private:
  double sweep(double alpha);

  const Island island_;
  const SolverSettings& settings_;
  double* lambda_;
  double floor_;  ///< diagonals up to it count as zero
  double scale_;  ///< of the velocities [m/s]
  Progress progress_;
};

PerContactIteration::PerContactIteration(const Island& island,
                                         const SolverSettings& settings,
                                         Buffer<double>& best,
                                         double* lambda,
                                         double* velocity)
    : island_(island),
      settings_(settings),
      lambda_(lambda),
      floor_(1e-14 * island.problem.largest_diagonal(island.first, island.last)),
      scale_(velocity_scale(island)),
      progress_(island_, ContactModel::kRaisim, settings, best, lambda, velocity) {}

/// Returns the largest step before relaxation, in velocity units.
double PerContactIteration::sweep(double alpha) {
  const ContactProblem& problem = island_.problem;
  double change = 0.0;
  for (int i = island_.first; i < island_.last; ++i) {
    const ConstraintSet& set = problem.sets[i];
    const int stride = ContactProblem::stride(set.dim);
    const double* block = problem.values.data() + problem.diagonal_start[i];
    double* l = lambda_ + set.offset;
    double c[kMaxSetDim], old[kMaxSetDim], largest = 0.0, step = 0.0;
    problem.velocity(i, lambda_, c);
    std::copy(l, l + set.dim, old);
    if (set.is_cone()) {
      const Eigen::Map<const Eigen::Vector3d> velocity(c), before(old);
      const Eigen::Vector3d target =
          contact_impulse(block, floor_, set.friction.slope(), velocity, before);
      for (int r = 0; r < 3; ++r) l[r] = (1.0 - alpha) * old[r] + alpha * target[r];
      // An opened contact would fade into denormal numbers.
      if (target.isZero(0.0) && block[10] * l[2] <= 1e-20 * scale_) std::fill(l, l + 3, 0.0);
    } else {
      sweep_rows(problem, i, c, l, [&](int r) {
        const double own = block[(stride + 1) * r];
        return own > floor_ ? -c[r] / own : 0.0;
      });
    }
    for (int r = 0; r < set.dim; ++r) {
      largest = std::max(largest, block[stride * r + r]);
      step = std::max(step, std::abs(l[r] - old[r]));
    }
    change = std::max(change, largest * step / (set.is_cone() ? alpha : 1.0));
  }
  return change;
}

/// The residual costs a sweep: it is evaluated when the iterate has nearly stopped, then at growing
/// intervals, and every 32 sweeps.
IslandOutcome PerContactIteration::solve() {
  constexpr int kEvery = 32;
  const double goal = settings_.tolerance * scale_;
  const double gamma = settings_.raisim_gamma;
  double alpha = 1.0;
  int next_check = 1, interval = 1;
  for (int k = 1;; ++k) {
    const double change = sweep(alpha);
    alpha = (1.0 - gamma) * settings_.raisim_alpha_min + gamma * alpha;
    const bool finished = k >= settings_.max_iterations;
    const bool stopped = change <= goal && k >= next_check;
    if (!stopped && !finished && k % kEvery != 0) continue;
    if (progress_.solved()) return {k, SolveStatus::kConverged};
    const bool still = change == 0.0;
    if (finished || still || !progress_.finite()) {
      progress_.return_to_best();
      return {k, still ? SolveStatus::kStalled : SolveStatus::kMaxIterations};
    }
    if (progress_.rounding_limited()) return {k, SolveStatus::kRoundingLimited};
    next_check = k + interval;
    interval = std::min(2 * interval, kEvery);
  }
}

}  // namespace

void solve_raisim(const ContactProblem& problem,
                  const SolverSettings& settings,
                  SolverWorkspace& work,
                  ContactSolution& solution) {
  solve_by_islands(problem, solution, [&](const Island& island, double* lambda, double* velocity) {
    return PerContactIteration(island, settings, work.parts().raisim_best, lambda, velocity)
        .solve();
  });
}

}  // namespace stiction
