// Contact with a stiffness in N/m: a box that rests at m g / k, a ball that bounces by its damper.

#include "stiction/simulator/simulator.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>

using namespace stiction;

namespace {

constexpr double kGravity = 9.81;  // [m/s^2]

// One body `height` above rigid ground [m]: its k [N/m] and d [N s/m] are those of the pair.
Simulator make_simulator(const Shape& shape,
                         double mass,
                         double height,
                         double stiffness,
                         double damping,
                         double dt,
                         const char* integrator) {
  Scene scene;
  Material soft{0.6};
  soft.stiffness = stiffness;
  soft.damping = damping;
  scene.add_ground({0.6});
  scene.add_body("body", shape, mass, {Mat3d::identity(), {0, 0, height}}, soft);
  SimulatorSettings settings;
  settings.dt = dt;
  settings.integrator = integrator;
  return Simulator(scene, settings);
}

// 5 kg dropped 2 mm, 1 s in steps of 5 ms, a third of the period of the contact.
bool box_comes_to_rest() {
  const double rest = -5.0 * kGravity / 1e6;
  std::printf("at rest m g / k below the surface: %.3f um\n", rest * 1e6);
  bool right = true;
  for (const char* integrator : {"semi-implicit-euler", "implicit-euler", "exponential"}) {
    Simulator sim =
        make_simulator(Shape::box({0.1, 0.1, 0.1}), 5.0, 0.102, 1e6, 2e3, 5e-3, integrator);
    State state = sim.initial_state();
    double lowest = 0.0;
    for (int k = 0; k < 200; ++k) {
      sim.step(state, {});
      lowest = std::min(lowest, state.q[2] - 0.1);
    }
    const double depth = state.q[2] - 0.1;
    std::printf("  %-20s %9.3f um, deepest %9.2f um\n", integrator, depth * 1e6, lowest * 1e6);
    right = right && std::abs(depth - rest) < 1e-9;
  }
  return right;
}

// Speed after over speed before a bounce, by the damping ratio; contact ends where the spring and
// damper would pull.
bool ball_bounces() {
  constexpr double k = 1e5, m = 0.1, speed = 2.0;
  bool right = true;
  for (const double zeta : {0.02, 0.1, 0.3}) {
    const double d = 2.0 * zeta * std::sqrt(k * m);
    Simulator sim = make_simulator(Shape::sphere(0.05), m, 0.06, k, d, 1e-3, "exponential");
    State state = sim.initial_state();
    state.v[2] = -speed;
    for (int step = 0; step < 60 && !(state.v[2] > 0.0 && state.q[2] > 0.05); ++step)
      sim.step(state, {});
    const double fall = std::sqrt(speed * speed + 2.0 * kGravity * 0.01);
    const double rise = std::sqrt(state.v[2] * state.v[2] + 2.0 * kGravity * (state.q[2] - 0.05));
    const double root = std::sqrt(1.0 - zeta * zeta);
    const double expected =
        std::exp(-zeta / root * std::atan2(2.0 * zeta * root, 2.0 * zeta * zeta - 1.0));
    std::printf("  zeta %.2f: %.4f, without gravity %.4f\n", zeta, rise / fall, expected);
    right = right && std::abs(rise / fall - expected) < 0.01;
  }
  return right;
}

}  // namespace

int main() {
  const bool box = box_comes_to_rest(), ball = ball_bounces();
  return box && ball ? 0 : 1;
}
