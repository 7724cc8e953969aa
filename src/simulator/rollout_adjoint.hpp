#pragma once

#include "stiction/simulator/simulator.hpp"

#include <vector>

namespace stiction {

/// Control of step `k`; `control` starts as tape.base.
void control_of(const RolloutInput& input, int k, Control& control);

/// Workspace of Simulator::adjoint(), and what it returns.
struct Simulator::Adjoint {
  std::vector<State> starts;  ///< of the steps of one segment
  State end;
  Control control;
  std::vector<std::string> parameters;
  Eigen::VectorXd cotangent;        ///< [2 nv] at the end of the step, then at its start
  std::vector<SpringName> springs;  ///< there, with cotangents [3 springs]
  Eigen::VectorXd by_springs;
  Eigen::VectorXd by_end;        ///< [2 nv + 3 springs of the step] scratch
  std::vector<char> reached;     ///< [trees] whose motion changes what is left of the cost
  std::vector<char> controlled;  ///< [trees]
  RolloutGradient out;
};

}  // namespace stiction
