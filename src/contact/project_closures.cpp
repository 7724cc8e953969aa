#include "project_closures.hpp"

#include "stiction/integrator/semi_implicit_euler.hpp"
#include "stiction/math/symmetric_eigen.hpp"

#include "constraint_row.hpp"

namespace stiction {

/// G^+ x of a symmetric G >= 0: what redundant rows have in common is shared in equal parts.
static Eigen::VectorXd apply_pseudo_inverse(Eigen::MatrixXd G, const Eigen::VectorXd& x) {
  const int n = static_cast<int>(G.rows());
  Eigen::VectorXd values(n), scratch(7 * n + 24);
  Eigen::MatrixXd V(n, n);
  if (!symmetric_eigen(G.data(), n, values.data(), V.data(), scratch.data()))
    return Eigen::VectorXd::Zero(n);
  const double zero = 1e-13 * n * values.maxCoeff();
  Eigen::VectorXd y = V.transpose() * x;
  for (int i = 0; i < n; ++i) y[i] = values[i] > zero ? y[i] / values[i] : 0.0;
  return V * y;
}

void project_closures(const Scene& scene,
                      const Parameters& parameters,
                      DynamicsWorkspace& work,
                      State& state) {
  if (scene.closures().empty() && scene.gears().empty()) return;
  // The rows of one step with dt = 1, no forces and no velocity: c* = -Phi, and the "step" is the
  // correction itself. Not on the allocation-free path: the projection is an option.
  State trial = state;
  trial.v.setZero();
  ContactSettings settings;
  settings.closure_gain = 1.0;
  settings.recovery_speed = settings.recovery_angular_speed = kInfinity;
  const Control no_control;
  ConstraintRows rows;
  ContactProblem problem;
  Parameters still = parameters;
  still.gravity = {0, 0, 0};
  std::fill(still.dry_friction.begin(), still.dry_friction.end(), 0.0);
  std::fill(still.lower.begin(), still.lower.end(), -kInfinity);
  std::fill(still.upper.begin(), still.upper.end(), kInfinity);
  std::fill(still.kp.begin(), still.kp.end(), 0.0);
  std::fill(still.kd.begin(), still.kd.end(), 0.0);
  std::vector<double> impulse;
  for (int round = 0; round < 4; ++round) {
    forward_kinematics(scene, still, trial.q.data(), trial.v.data(), work);
    compute_dynamics(scene, still, trial.q.data(), trial.v.data(), no_control, 1.0, work);
    build_problem(scene, still, trial, {}, settings, 1.0, work, rows, problem, impulse);
    const Eigen::Map<const Eigen::VectorXd> phi(problem.g.data(), problem.num_rows());
    if (phi.lpNorm<Eigen::Infinity>() <= 1e-12) break;
    const Eigen::VectorXd lambda = -apply_pseudo_inverse(problem.dense(), phi);
    impulse.assign(lambda.data(), lambda.data() + lambda.size());
    apply_impulses(rows, scene, impulse, work);
    semi_implicit_euler(scene, still, 1.0, work, trial);
    trial.v.setZero();
  }
  state.q = trial.q;
}

}  // namespace stiction
