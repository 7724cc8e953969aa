#pragma once

#include "stiction/derivatives/step_derivatives.hpp"

#include "derivatives/adjoint.hpp"
#include "derivatives/columns.hpp"
#include "derivatives/linearisation.hpp"

namespace stiction {

/// Derivatives of one step after the other; workspace and output. What was linearised is kept until
/// begin() is told of another step.
class Differentiator {
 public:
  void forget() { linearised_ = false; }
  const Linearisation& linearisation() const { return linear_; }

  /// All columns.
  const StepDerivatives& derivatives(const DerivativeInput& in);
  /// J^T w, w [2 nv] of (q+, v+).
  const StepGradient& gradient(const DerivativeInput& in, const Eigen::VectorXd& w);
  /// J x, x [3 nv] of (q, v, torque): [2 nv].
  const Eigen::VectorXd& tangent(const DerivativeInput& in, const Eigen::VectorXd& x);
  /// Of the step that was linearised.
  const GradientReport& report(const DerivativeInput& in);

 private:
  void prepare(const DerivativeInput& in);
  void fill_report(const DerivativeInput& in);

  bool linearised_ = false;
  Linearisation linear_;
  Columns columns_;
  Adjoint adjoint_;
  StepDerivatives out_;
  StepGradient gradient_;
  Eigen::VectorXd tangent_;
  std::vector<double> q_, v_, torque_;
};

}  // namespace stiction
