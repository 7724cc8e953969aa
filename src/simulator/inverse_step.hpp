#pragma once

#include "stiction/simulator/simulator.hpp"

#include "simulator/rigid_step.hpp"

namespace stiction {

/// A step that is only prepared, beside the simulator's own.
struct Simulator::InverseStep {
  InverseStep(const Scene& scene, const SimulatorSettings& settings) : step(scene, settings) {
    step.keep_contradictions();
  }

  RigidStep step;
  State before, start;
  Eigen::VectorXd dv;        ///< [nv] v+ - v in the axes of the start
  Eigen::VectorXd momentum;  ///< [nv] M^ (v+ - v_free)
};

}  // namespace stiction
