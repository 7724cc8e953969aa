// The solver alone: arrays in, impulses and their certificate out. No robot, no scene.
//
// A cube of 1 kg touches the ground with its four lower corners and moves sideways at 1 m/s. Which
// impulses at the corners end the step of 1 ms? Per corner the rows are (t1, t2, n), normal last;
// c = G lambda + g is the velocity after.

#include "stiction/solver/solver.hpp"

#include <Eigen/Core>

#include <cstdio>
#include <string_view>
#include <vector>

namespace {

// Matrix of the cross product p x.
Eigen::Matrix3d skew(const Eigen::Vector3d& p) {
  Eigen::Matrix3d m;
  m << 0, -p.z(), p.y(), p.z(), 0, -p.x(), -p.y(), p.x(), 0;
  return m;
}

}  // namespace

int main() {
  const double mass = 1.0, side = 0.2, mu = 0.4, dt = 1e-3;
  Eigen::Matrix<double, 12, 6> J;  // velocity of each corner
  int row = 0;
  for (const double x : {1.0, -1.0}) {
    for (const double y : {1.0, -1.0}) {
      const Eigen::Vector3d corner = 0.5 * side * Eigen::Vector3d(x, y, -1.0);
      J.block<3, 3>(row, 0).setIdentity();
      J.block<3, 3>(row, 3) = -skew(corner);
      row += 3;
    }
  }
  Eigen::Matrix<double, 6, 1> inverse_mass, v_free;  // of a cube, about its centre
  inverse_mass.head<3>().setConstant(1.0 / mass);
  inverse_mass.tail<3>().setConstant(6.0 / (mass * side * side));
  v_free << 1.0, 0, -9.81 * dt, 0, 0, 0;  // after gravity alone
  // Rank 6 of 12: four corners of a rigid cube are hyperstatic.
  const Eigen::MatrixXd G = J * inverse_mass.asDiagonal() * J.transpose();
  const Eigen::VectorXd g = J * v_free;

  const std::vector<stiction::ConstraintSet> cones(4, stiction::ConstraintSet::cone(mu));
  const auto problem = stiction::ContactProblem::from_dense(G, g, cones);
  stiction::SolverWorkspace work;
  stiction::ContactSolution solution;
  bool converged = true;
  for (const stiction::SolverEntry& entry : stiction::solvers()) {
    solution.impulse.clear();  // cold
    stiction::solve(problem, {.name = entry.name, .tolerance = 1e-8}, work, solution);
    const stiction::Residuals& r = solution.residuals;
    const char* status = stiction::to_string(solution.status);
    std::printf("%s: %s after %d iterations\n", entry.name, status, solution.iterations);
    std::printf("  outside the cone %.1e N s, wrong velocity %.1e m/s, work %.1e J\n",
                r.primal,
                r.dual,
                r.complementarity);
    // raisim-published ends with the precision of its bisection.
    const bool must = std::string_view(entry.name) != "raisim-published";
    converged = converged && (solution.converged() || !must);
  }

  const Eigen::Map<const Eigen::VectorXd> lambda(solution.impulse.data(), 12);
  const Eigen::Vector3d sum = lambda.reshaped(3, 4).rowwise().sum();
  const Eigen::VectorXd v_after = v_free + inverse_mass.asDiagonal() * (J.transpose() * lambda);
  std::printf("normal impulse, sum [N s]: %.9f weight x dt: %.9f\n", sum.z(), mass * 9.81 * dt);
  std::printf("friction, sum [N s]: %.9f -mu x normal: %.9f\n", sum.x(), -mu * sum.z());
  std::printf("velocity after [m/s]: %.6f %.6f %.6f\n", v_after[0], v_after[1], v_after[2]);

  // Any constraints, stacked in order: a contact, a joint limit, dry friction, a rigid connection.
  const std::vector<stiction::ConstraintSet> sets = {stiction::ConstraintSet::cone(0.5),
                                                     stiction::ConstraintSet::non_negative(),
                                                     stiction::ConstraintSet::box(-0.1, 0.1),
                                                     stiction::ConstraintSet::free(2)};
  const Eigen::MatrixXd diagonal = Eigen::VectorXd::LinSpaced(7, 1, 2).asDiagonal();
  const auto mixed =
      stiction::ContactProblem::from_dense(diagonal, Eigen::VectorXd::LinSpaced(7, -1, 1), sets);
  stiction::ContactSolution mixed_solution;
  stiction::solve(mixed, {}, work, mixed_solution);
  std::printf("mixed:");
  for (const double x : mixed_solution.impulse) std::printf(" %.6f", x);
  std::printf("\n");
  return converged && mixed_solution.converged() ? 0 : 1;
}
