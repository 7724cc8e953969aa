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

/// The largest error of each column of `J` against the closest of the central differences at
/// several h, relative to the largest entry of its block (q, v or torque); [3 nv].
struct ColumnErrors {
  Eigen::VectorXd error;
  std::vector<bool> kink;  ///< one-sided differences disagree at every h: not differentiable there
  double worst(int first, int count) const;  ///< of columns without a kink
  int kinks() const;
};
ColumnErrors column_errors(Simulator& simulator,
                           const State& state,
                           const Control& control,
                           const Eigen::MatrixXd& J);

}  // namespace stiction::test
