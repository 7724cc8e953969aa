#pragma once

#include "stiction/simulator/simulator.hpp"

#include "scenes/scenes.hpp"
#include "support/random.hpp"

#include <string>

// Compliant steps that are differentiated.

namespace stiction::test {

inline Scene soft(const std::string& name, double friction) {
  Scene scene = make_scene(name);
  for (Material& m : scene.parameters.material) m = {friction, 0.0, 2e4, 60.0};
  if (name == "solo12") scene.set_gains(6, 3.0, 0.1);
  return scene;
}

inline SimulatorSettings with(const std::string& integrator, const std::string& law = "") {
  SimulatorSettings settings;
  settings.integrator = integrator;
  settings.solver.tolerance = 1e-13;
  if (!law.empty()) settings.compliant.law = law;
  return settings;
}

/// A scene that has settled and was then disturbed: springs are stretched, no gap is zero.
struct Moment {
  Simulator simulator;
  State state;
  Control control;

  Moment(const Scene& scene, const SimulatorSettings& settings, double speed)
      : simulator(scene, settings), state(simulator.initial_state()), control(simulator.hold()) {
    simulator.run(state, control, 60);
    for (int k = 0; k < 1000 && simulator.report().elastic_energy == 0.0; ++k)
      simulator.step(state, control);
    Rng rng(11);
    for (double& v : state.v) v += speed * rng.uniform(-1.0, 1.0);
    for (double& t : control.torque) t += speed * rng.uniform(-1.0, 1.0);
    simulator.run(state, control, 3);
  }
  /// Of the next step, from `state`.
  const StepDerivatives& derivatives() {
    State next = state;
    simulator.step(next, control);
    return simulator.step_derivatives();
  }
};

inline Eigen::MatrixXd dense(const StepDerivatives& d) {
  Eigen::MatrixXd J(2 * d.nv(), 3 * d.nv());
  J << d.A(), d.B();
  return J;
}

}  // namespace stiction::test
