#pragma once

#include "stiction/model/tangents.hpp"
#include "stiction/simulator/simulator.hpp"

#include <Eigen/Core>

#include <vector>

namespace stiction::test {

/// [2 nv] The end of the step from `state` moved by (dq, dv) under `control` with dtorque, as seen
/// from `end`; the simulator's step, warm starts of `state`.
Eigen::VectorXd stepped(Simulator& simulator,
                        const State& state,
                        const Control& control,
                        const State& end,
                        const Eigen::VectorXd& x);

/// Central and one-sided differences of the step, [2 nv x 3 nv] by (q, v, torque).
struct StepDifferences {
  Eigen::MatrixXd central, forward, backward;
};
StepDifferences step_differences(Simulator& simulator,
                                 const State& state,
                                 const Control& control,
                                 double h);

/// The largest error of each column of `J` in the rows of q+ and in those of v+, against the
/// closest of the central differences at several h, relative to the largest entry of its block: six
/// of them, rows q+ and v+ by columns q, v and torque.
struct ColumnErrors {
  Eigen::MatrixXd error;   ///< [2 x 3 nv]
  std::vector<bool> kink;  ///< one-sided differences disagree at every h: not differentiable there
  /// Of columns without a kink; infinite if there are none, as nothing was compared.
  double worst(int first, int count) const;
  int kinks(int first, int count) const;
  int kinks() const { return kinks(0, static_cast<int>(kink.size())); }
};
ColumnErrors column_errors(Simulator& simulator,
                           const State& state,
                           const Control& control,
                           const Eigen::MatrixXd& J);

}  // namespace stiction::test
