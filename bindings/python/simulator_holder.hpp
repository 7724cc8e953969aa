#pragma once

#include "stiction/simulator/simulator.hpp"

#include "common.hpp"
#include "inside.hpp"
#include "scene_holder.hpp"

#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

namespace stiction::python {

/// The simulator as Python holds it, with the control that a bare torque array fills in.
struct SimulatorHolder : Simulator, std::enable_shared_from_this<SimulatorHolder> {
  SimulatorHolder(const SceneHolder& scene, const SimulatorSettings& settings)
      : Simulator(scene, settings),
        origin(scene),
        held(hold()),
        scratch(held),
        shown(std::make_shared<SceneHolder>(scene)) {
    shown->fixed = true;
    shown->present = &static_cast<const Simulator&>(*this).parameters();
    set_interrupt(occupancy.signals.interrupt());
  }

  ~SimulatorHolder() { shown->present = nullptr; }

  /// What a viewer sees before the first step.
  Snapshot start() {
    const State state = initial_state();
    return {state.time, state.q, state.v, body_poses(state), {}};
  }

  SceneOrigin origin;
  Control held;                        ///< zero torque, servos hold the default configuration
  Control scratch;                     ///< `held` with the caller's torque
  std::shared_ptr<SceneHolder> shown;  ///< Simulator.scene, fixed
  bp::dict starts;                     ///< by configuration, how deep which bodies overlap in it
  bool start_checked = false;          ///< where the first step begins
  bool stepped = false;                ///< a step was taken
  bool noted = false;                  ///< a step ended not converged
  std::string notice;                  ///< words on the first such step, not yet said
  mutable Occupancy occupancy;         ///< who is inside
};

/// What is told of the last step needs one, and nobody else inside.
template <class Holder>
class LastStep {
 public:
  LastStep(Holder& sim, const char* caller) : inside_(sim.occupancy, caller), sim_(sim) {
    if (sim.stepped) return;
    throw std::invalid_argument(std::string(caller) + ": no step was taken yet; call step() first");
  }
  Holder* operator->() const { return &sim_; }
  /// As Inside has it.
  template <class Work>
  void without_lock(Work&& work) {
    inside_.without_lock(work);
  }

 private:
  Inside inside_;
  Holder& sim_;
};

using SimulatorClass =
    bp::class_<SimulatorHolder, std::shared_ptr<SimulatorHolder>, boost::noncopyable>;

/// None: hold; a Control; or torques (nv,) added to servos that hold the default configuration.
const Control& control_from(SimulatorHolder& sim, const bp::object& control, const char* caller);
/// The right sizes, finite, and of the simulator's scene.
void validate_state_of(const SimulatorHolder& sim, const State& state);
/// Arrays that were lent may have been written to: their bits tell.
void check_parameters(const SimulatorHolder& sim);
/// list of pinocchio.SE3.
bp::list se3_list(const std::vector<Transform>& poses);

/// list of str.
std::vector<std::string> names_from(const bp::list& names);
/// [(name, first, count)].
bp::list ranges_list(const std::vector<ParameterRange>& ranges);
bp::list springs_list(const std::vector<SpringName>& springs);
/// ", 4 gap kinks" unless there are none.
std::string counted(int count, const char* what);
/// ", what 1e-07"; of infinity nothing.
std::string least(const char* what, double value);
/// (islands [(dofs, values)], parameters [(name, first, count)], P, GradientReport), copies.
bp::tuple step_parts(const StepDerivatives& d);

/// The settings as Python holds them.
struct SettingsHolder : SimulatorSettings {
  SettingsHolder() = default;
  explicit SettingsHolder(const SimulatorSettings& settings) : SimulatorSettings(settings) {}
  bool fixed = false;  ///< of a Simulator; a copy is free again
};

}  // namespace stiction::python
