#pragma once

#include "stiction/simulator/simulator.hpp"

#include "scene_holder.hpp"

#include <memory>

namespace stiction::python {

/// The simulator as Python holds it, with the control that a bare torque array fills in.
struct SimulatorHolder : Simulator {
  SimulatorHolder(const Scene& scene, const SimulatorSettings& settings)
      : Simulator(scene, settings),
        held(hold()),
        scratch(held),
        shown(std::make_shared<SceneHolder>(scene)) {}

  Control held;                        ///< zero torque, servos hold the default configuration
  Control scratch;                     ///< `held` with the caller's torque
  std::shared_ptr<SceneHolder> shown;  ///< Simulator.scene
};

}  // namespace stiction::python
