// A ball falls for a tenth of a second: g t (t + dt) / 2 by the integrator's law.

#include "stiction/simulator/simulator.hpp"

#include <cmath>

int main() {
  stiction::Scene scene;
  scene.add_ground();
  scene.add_body(
      "ball", stiction::Shape::sphere(0.1), 1.0, {stiction::Mat3d::identity(), {0, 0, 1}});
  stiction::SimulatorSettings settings;
  settings.dt = 1e-3;
  stiction::Simulator sim(scene, settings);
  stiction::State state = sim.initial_state();
  sim.run(state, sim.hold(), 100);
  return std::abs(state.q[2] - (1.0 - 0.5 * 9.81 * 0.1 * 0.101)) < 1e-12 ? 0 : 1;
}
