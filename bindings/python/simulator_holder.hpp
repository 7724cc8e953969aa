#pragma once

#include "stiction/simulator/simulator.hpp"

#include "inside.hpp"
#include "scene_holder.hpp"

#include <memory>
#include <string>

namespace stiction::python {

/// The simulator as Python holds it, with the control that a bare torque array fills in.
struct SimulatorHolder : Simulator {
  SimulatorHolder(const Scene& scene, const SimulatorSettings& settings)
      : Simulator(scene, settings),
        held(hold()),
        scratch(held),
        shown(std::make_shared<SceneHolder>(scene)) {
    shown->fixed = true;
    set_interrupt(occupancy.signals.interrupt());
  }

  /// What a viewer sees before the first step.
  Snapshot start() {
    const State state = initial_state();
    return {state.time, state.q, state.v, body_poses(state), {}};
  }

  Control held;                        ///< zero torque, servos hold the default configuration
  Control scratch;                     ///< `held` with the caller's torque
  std::shared_ptr<SceneHolder> shown;  ///< Simulator.scene, fixed
  bool stepped = false;                ///< a step was taken
  bool noted = false;                  ///< a step ended not converged
  std::string notice;                  ///< words on the first such step, not yet said
  mutable Occupancy occupancy;         ///< who is inside
};

/// The settings as Python holds them.
struct SettingsHolder : SimulatorSettings {
  SettingsHolder() = default;
  explicit SettingsHolder(const SimulatorSettings& settings) : SimulatorSettings(settings) {}
  bool fixed = false;  ///< of a Simulator; a copy is free again
};

}  // namespace stiction::python
