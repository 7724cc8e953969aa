// A robot stands for a second: who touches whom with which force, and how exact is it?

#include "stiction/simulator/simulator.hpp"

#include "scenes/scenes.hpp"

#include <cstdio>

int main() {
  stiction::SimulatorSettings settings;
  settings.dt = 1e-3;
  stiction::Simulator sim(stiction::make_scene("solo12"), settings);
  stiction::State state = sim.initial_state("standing");
  const stiction::Control control = sim.hold("standing");
  for (int step = 0; step < 1000; ++step) sim.step(state, control);

  const auto name = [&](int body) {
    return body < 0 ? "world" : sim.scene().body_names()[body].c_str();
  };
  for (const stiction::ContactReport& c : sim.contacts()) {
    const stiction::Vec3d f = c.force_on_b_world;
    std::printf("%s pushes %s [%.6f %.6f %.6f] N\n", name(c.body_a), name(c.body_b), f.x, f.y, f.z);
  }
  const stiction::StepReport& report = sim.report();
  std::printf("residual %.1e penetration %.1e m\n", report.residuals.relative, report.penetration);
  return report.status == stiction::StepStatus::kOk ? 0 : 1;
}
