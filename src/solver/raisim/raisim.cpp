#include "solver/common/judge.hpp"
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
// raisim-published finds the sliding impulse by its bisection, raisim by the exact root.
// Ours: G_TT + eps 1 and c_free_T - eps lambda_T in place of G_TT and c_free_T, which leaves the
// fixed points as they are and makes a singular block definite. Rows that are no contact take a
// plain projected Gauss-Seidel step.

namespace stiction {
namespace {

constexpr double kShift = 1e-10;  // eps / trace(G_ii)

/// l* of one contact from its velocity c at the impulse `before`; slide(G, c_free, mu, stick,
/// before) if it slides. A normal row that nothing moves (diagonal up to `floor`) carries nothing.
template <class Slide>
Eigen::Vector3d contact_impulse(Slide&& slide,
                                const double* block,
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
  return slide(G, c_free, mu, stick, before);
}

template <class Slide>
void solve_by_contacts(const ContactProblem& problem,
                       const SolverSettings& settings,
                       SolverWorkspace& work,
                       ContactSolution& solution,
                       Slide&& slide) {
  const double gamma = settings.raisim_gamma;
  solve_by_islands(problem, solution, [&](const Island& island, double* lambda, double* velocity) {
    const double floor = rigid_floor(island), scale = velocity_scale(island);
    double alpha = 1.0;
    const auto update = [&](int i, double* c, double* l) {
      const ConstraintSet& set = problem.sets[i];
      const int stride = ContactProblem::stride(set.dim) + 1;
      const double* block = problem.block(i);
      if (!set.is_cone()) {
        return sweep_rows(problem, i, c, l, [&](int r) {
          return block[stride * r] > floor ? -c[r] / block[stride * r] : 0.0;
        });
      }
      const Eigen::Map<const Eigen::Vector3d> contact_velocity(c);
      Eigen::Map<Eigen::Vector3d> impulse(l);
      const Eigen::Vector3d target =
          contact_impulse(slide, block, floor, set.friction.slope(), contact_velocity, impulse);
      impulse = (1.0 - alpha) * impulse + alpha * target;
      // An opened contact would fade into denormal numbers.
      if (target.isZero(0.0) && block[10] * l[2] <= 1e-20 * scale) impulse.setZero();
    };
    Judge judge(
        island, ContactModel::kRaisim, settings, work.parts().raisim_best, lambda, velocity);
    return judge.run([&](int) {
      const double change = sweep_sets(island, lambda, update) / alpha;
      alpha = (1.0 - gamma) * settings.raisim_alpha_min + gamma * alpha;
      return change;
    });
  });
}

}  // namespace

void solve_raisim(const ContactProblem& problem,
                  const SolverSettings& settings,
                  SolverWorkspace& work,
                  ContactSolution& solution) {
  solve_by_contacts(problem, settings, work, solution, slide_impulse);
}

void solve_raisim_published(const ContactProblem& problem,
                            const SolverSettings& settings,
                            SolverWorkspace& work,
                            ContactSolution& solution) {
  const double tolerance = settings.raisim_bisection_tolerance;
  solve_by_contacts(problem,
                    settings,
                    work,
                    solution,
                    [=](const auto& G, const auto& c, double mu, const auto& stick, const auto& l) {
                      return bisected_slide_impulse(G, c, mu, stick, l, tolerance);
                    });
}

}  // namespace stiction
