// Solo-12 stands and is pushed. The Python example also writes a replay; the recorder is part of
// the Python package.

#include "stiction/simulator/simulator.hpp"

#include "scenes/scenes.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>

int main() {
  const stiction::Scene scene = stiction::make_scene("solo12");
  stiction::SimulatorSettings settings;
  settings.dt = 1e-3;
  settings.solver.name = "ncp-newton";
  settings.solver.tolerance = 1e-8;
  stiction::Simulator sim(scene, settings);
  stiction::State state = sim.initial_state("standing");
  // Servo targets; add to stand.torque for a torque of your own.
  const stiction::Control stand = sim.hold("standing");

  stiction::Control push = stand;
  push.wrenches.push_back({scene.body("base_link"), {0, 15.0, 0}, {0, 0, 0}});  // world axes [N]

  double worst = 0.0;
  for (int step = 0; step < 4000; ++step) {
    const bool pushed = step >= 1000 && step < 1200;
    const stiction::StepReport& report = sim.step(state, pushed ? push : stand);
    worst = std::max(worst, report.residuals.relative);
  }

  double mass = 0.0, carried = 0.0;
  for (const double m : scene.parameters.mass) mass += m;
  for (const stiction::ContactReport& c : sim.contacts()) carried += c.force_on_b_world.z;
  const double weight = -scene.parameters.gravity.z * mass;
  std::printf("the feet carry %.4f N, the robot weighs %.4f N\n", carried, weight);
  std::printf("worst relative residual of 4000 steps: %.1e\n", worst);
  std::printf("base moved by %.1f mm and stands %.4f m high\n",
              std::hypot(state.q[0], state.q[1]) * 1e3,
              state.q[2]);
  return std::abs(carried - weight) < 0.1 && worst <= settings.solver.tolerance ? 0 : 1;
}
