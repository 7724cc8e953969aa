#pragma once

#include "stiction/derivatives/gradient_report.hpp"
#include "stiction/derivatives/step_derivatives.hpp"
#include "stiction/integrator/step_report.hpp"
#include "stiction/model/control.hpp"
#include "stiction/model/parameters.hpp"
#include "stiction/model/state.hpp"

#include <Eigen/Core>

#include <cstddef>
#include <string>
#include <vector>

namespace stiction {

/// Controls of a rollout, one row per step; empty matrices mean zero (torques) or held (targets).
struct RolloutInput {
  RowMajorMatrix taus;              ///< [T x nv]
  RowMajorMatrix position_targets;  ///< [T x nv]
  int steps = 0;                    ///< T when both are empty
  bool stop_on_bad_status =
      true;  ///< also if a step has not converged; never past one that is not finite
  int checkpoint_every = 0;  ///< steps between the states that a tape keeps, >= 0; 0: sqrt(T)
};

struct RolloutLog {
  RowMajorMatrix q;                 ///< [T+1 x nq]
  RowMajorMatrix v;                 ///< [T+1 x nv]
  std::vector<StepReport> reports;  ///< [T]
  int steps = 0;                    ///< taken; fewer than asked after a bad status
};

/// What Simulator::adjoint() needs of a rollout: whole states every so many steps, between which it
/// repeats the steps bit for bit, and all that drove them.
struct RolloutTape {
  int steps = 0;
  int checkpoint_every = 1;
  std::vector<State> checkpoints;  ///< before steps 0, checkpoint_every, ...; last the end
  Control base;
  RolloutInput input;
  Parameters parameters;
  StepStatus status = StepStatus::kOk;  ///< of the last step

  /// [bytes] Of the tape and of the states that adjoint() keeps at a time.
  std::size_t bytes() const;
};

/// dl of a scalar l of a rollout: by every state, a tangent [q | v] as in StepDerivatives, and at
/// fixed states by every torque.
struct RolloutCotangents {
  RowMajorMatrix states;  ///< [T+1 x 2 nv], or [1 x 2 nv] by the last one
  RowMajorMatrix taus;    ///< [T x nv]; empty: zero
};

/// In how many steps of a rollout GradientReport says what.
struct RolloutGradientReport {
  int steps = 0;
  /// One-sided, or one derivative of several; `kinks` of those by differences.
  int gap_kinks = 0, at_switch = 0, not_unique = 0, kinks = 0;
  /// Not exact.
  int capped = 0, scaled_impacts = 0, swept = 0, inexact = 0, slowed = 0, safe = 0, asleep = 0;
  /// Neither two-sided nor exact: redundant rows that no motion keeps together.
  int contradicting = 0;
  int parameter_kinks = 0;              ///< by what was asked for; says nothing of the states
  int not_converged = 0;                ///< not exact either: the solver stopped short
  int undecided = 0, not_followed = 0;  ///< nor this; `capped` counts bounded recoveries too
  int by_differences = 0;               ///< nor this: GradientReport::method
  int saturated = 0;
  double error_estimate = 0.0;         ///< the largest
  double smallest_gap = kInfinity;     ///< of all steps [m, rad]
  double smallest_margin = kInfinity;  ///< of all steps [N s or m/s], see GradientReport::margin
  int smallest_margin_step = 0;
  double smallest_pivot = 1.0;  ///< of all steps
  int smallest_pivot_step = 0;
  /// No active row of any step links a tree that is controlled to the trees of the cost: the
  /// gradient by its controls is zero, whatever they do. Controlled are trees with torques or a
  /// servo, where there are none those with joints.
  bool touches_nothing = false;
  bool two_sided() const {
    return gap_kinks == 0 && at_switch == 0 && not_unique == 0 && kinks == 0 && contradicting == 0;
  }
  bool exact() const {
    return capped == 0 && scaled_impacts == 0 && swept == 0 && inexact == 0 && slowed == 0 &&
           safe == 0 && asleep == 0 && not_converged == 0 && by_differences == 0 &&
           undecided == 0 && not_followed == 0 && contradicting == 0;
  }
};

/// dl by the controls of every step, by the initial state as a tangent, and by parameters that are
/// the same in all steps. By a control that is held it is the sum of the column. Warm starts of the
/// initial state count as constant, the extensions of its springs do not: see StepDerivatives.
struct RolloutGradient {
  RowMajorMatrix taus, position_targets, velocity_targets;  ///< [T x nv]
  Eigen::VectorXd initial_q, initial_v;                     ///< [nv]
  std::vector<SpringName> springs;                          ///< of the first step
  Eigen::VectorXd initial_springs;                          ///< [3 springs] by their extensions
  std::vector<ParameterRange> ranges;                       ///< as asked for
  Eigen::VectorXd parameters;                               ///< by their columns
  RolloutGradientReport report;
  bool interrupted = false;  ///< by SolverSettings::interrupt: nothing of it is whole
};

}  // namespace stiction
