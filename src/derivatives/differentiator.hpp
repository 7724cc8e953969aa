#pragma once

#include "stiction/derivatives/step_derivatives.hpp"

#include "derivatives/adjoint.hpp"
#include "derivatives/columns.hpp"
#include "derivatives/parameter_changes.hpp"

namespace stiction {

/// Derivatives of one step after the other; workspace and output. What was linearised is kept until
/// forget() says that there is another step.
class Differentiator {
 public:
  void forget() { linearised_ = false; }
  const Linearisation& linearisation() const { return linear_; }

  /// All columns.
  const StepDerivatives& derivatives(const DerivativeInput& in,
                                     const std::vector<std::string>& parameters);
  /// J^T w, w [2 nv] of (q+, v+).
  const StepGradient& gradient(const DerivativeInput& in,
                               const Eigen::VectorXd& w,
                               const std::vector<std::string>& parameters);
  /// J x, x [3 nv] of (q, v, torque): [2 nv].
  const Eigen::VectorXd& tangent(const DerivativeInput& in, const Eigen::VectorXd& x);
  /// Of the step that was linearised.
  const GradientReport& report(const DerivativeInput& in);

 private:
  void prepare(const DerivativeInput& in);
  void fill_report(const DerivativeInput& in);
  void sort_changes(const DerivativeInput& in);
  void fill_parameters(const DerivativeInput& in, int island);
  void add_parameter_gradient(const Eigen::VectorXd& w);

  bool linearised_ = false;
  Linearisation linear_;
  ParameterChanges parameters_;
  std::vector<int> order_, start_;  ///< changes by island, [islands + 1] into them
  std::vector<int> island_of_row_;  ///< [rows]
  Columns columns_;
  Adjoint adjoint_;
  StepDerivatives out_;
  StepGradient gradient_;
  Eigen::VectorXd tangent_;
  std::vector<double> q_, v_, torque_;
  std::vector<double> force_, velocity_, impulse_;  ///< covectors of the scene's dofs and rows
};

}  // namespace stiction
