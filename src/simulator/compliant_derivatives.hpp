#pragma once

#include "stiction/simulator/simulator.hpp"

#include "derivatives/implicit_derivatives.hpp"

namespace stiction {

/// Derivatives of one compliant step, made by a simulator of its own: that of the step is not
/// touched. Of implicit-euler exact where ImplicitDerivatives knows them, else by central
/// differences of whole steps from its start, warm starts included.
///
/// Along a direction x, of unit largest entry in SI units, the step h is such that the end changes
/// by about kChange = 1e-6 [rad, m, rad/s, m/s]: kFirst = 1e-6 first, and scaled by what that
/// changes. With D(h) = (end(h) - end(-h)) / 2h the result is (4 D(h/2) - D(h)) / 3, of fourth
/// order; where one-sided differences or the two D disagree by a hundredth of the largest entry of
/// the block (of the column itself in tangent(), which has no block), a kink, it is D(h/2). Solvers
/// run to 1e-13, so that differences do not see where they stop.
class CompliantDerivatives {
 public:
  CompliantDerivatives(const Scene& scene, const SimulatorSettings& settings);

  /// Another step, from `before`, that ended with `status`.
  void begin(const Parameters& parameters,
             const State& before,
             const Control& control,
             StepStatus status);
  /// Of the steps from now on: what it ends throws Interrupted.
  void set_interrupt(const Interrupt& interrupt) { twin_.set_interrupt(interrupt); }

  const StepDerivatives& derivatives();
  /// J^T w, w [2 nv] or [2 nv + 3 ns].
  const StepGradient& gradient(const Eigen::VectorXd& w);
  /// J x, x [3 nv] of (q, v, torque) or [3 nv + 3 ns]: [2 nv] or [2 nv + 3 ns]. Five
  /// steps, if not exact.
  const Eigen::VectorXd& tangent(const Eigen::VectorXd& x);
  const GradientReport& report();
  int num_springs() const { return static_cast<int>(out_.report.springs.size()); }

 private:
  /// How well differences along a direction agree: largest entries.
  struct Quality {
    double split, change;  ///< of one-sided differences; of D(h / 2) and D(h)
  };

  void step(const State& from, const Control& control, State& end);
  void list_springs();
  void displace(const Eigen::VectorXd& x, double t);
  void end_of(const Eigen::VectorXd& x, double t, Eigen::VectorXd& y);
  Quality differentiate(const Eigen::VectorXd& x);
  bool fill_exact();
  void fill_differences();
  void fill();

  Simulator twin_;
  State before_, from_, end_, moved_end_;
  Control control_, pushed_;
  bool filled_ = false;
  ImplicitDerivatives implicit_;
  RowMajorMatrix J_;               ///< [2 nv + 3 ns x 3 nv + 3 ns]
  RowMajorMatrix coarser_;         ///< D(h) of its columns
  Eigen::VectorXd ends_[4], y_;    ///< of h, -h, h / 2, -h / 2; of the first try
  Eigen::VectorXd coarse_, fine_;  ///< D(h), D(h / 2)
  StepDerivatives out_;
  StepGradient gradient_;
  Eigen::VectorXd tangent_;
};

}  // namespace stiction
