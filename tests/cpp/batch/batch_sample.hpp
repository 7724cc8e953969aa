#pragma once

#include "stiction/batch/batch.hpp"

#include "lane_sample.hpp"
#include "support/random.hpp"
#include <boost/test/unit_test.hpp>

// Worlds of a batch that differ in everything, and comparisons of their bits.

namespace stiction::test {

/// What one world is given: it depends on its number alone, not on where it is.
struct WorldInput {
  Parameters parameters;
  State state;
  Control control;
};

/// World `number` of a scene: every third with the scene's parameters.
inline WorldInput world_input(const Scene& scene, int number, const std::string& configuration) {
  Rng rng(1000 + number);
  Simulator sim(scene);
  WorldInput x{scene.parameters, sim.initial_state(configuration), sim.hold(configuration)};
  if (number % 3 != 0) {
    for (Material& m : x.parameters.material) m.friction *= rng.uniform(0.5, 1.2);
    const double scale = rng.uniform(0.8, 1.2);
    for (std::size_t b = 0; b < x.parameters.mass.size(); ++b) x.parameters.mass[b] *= scale;
  }
  x.state.v = random_vector(rng, scene.nv()) * 0.2;
  x.control.position_target += random_vector(rng, scene.nv()) * 0.3;
  x.control.torque = random_vector(rng, scene.nv()) * 0.1;
  return x;
}

inline void put(Batch& batch, int at, const WorldInput& x, bool own_parameters) {
  const int nv = batch.scene().nv();
  if (own_parameters) batch.set_parameters(at, x.parameters);
  batch.set_state(at, x.state);
  const std::ptrdiff_t row = static_cast<std::ptrdiff_t>(at) * nv;
  std::copy_n(x.control.torque.data(), nv, batch.arrays().torque + row);
  std::copy_n(x.control.position_target.data(), nv, batch.arrays().position_target + row);
  std::copy_n(x.control.velocity_target.data(), nv, batch.arrays().velocity_target + row);
}

/// Worlds first, first + 1, ... of a scene.
inline void fill(Batch& batch, int first, const std::string& configuration = "default") {
  for (int w = 0; w < batch.worlds(); ++w)
    put(batch, w, world_input(batch.scene(), first + w, configuration), (first + w) % 3 != 0);
}

/// q, v, time and warm starts.
inline bool same_world(const State& a, const State& b) {
  return a.time == b.time && same_bits(a, b);
}

/// Where each of `worlds` worlds is after `steps` steps alone in a batch of one.
inline std::vector<State> alone(const Scene& scene,
                                const SimulatorSettings& settings,
                                int worlds,
                                int steps,
                                const std::string& configuration) {
  std::vector<State> out;
  for (int w = 0; w < worlds; ++w) {
    Batch batch(scene, 1, settings, {.width = 1});
    fill(batch, w, configuration);
    for (int k = 0; k < steps; ++k) BOOST_REQUIRE(batch.step());
    out.push_back(batch.state(0));
  }
  return out;
}

inline int differing(const Batch& batch, const std::vector<State>& expected, int first) {
  int count = 0;
  for (int w = 0; w < batch.worlds() && first + w < static_cast<int>(expected.size()); ++w)
    count += !same_world(batch.state(w), expected[first + w]);
  return count;
}

/// what() contains every one of the words.
inline auto says(std::vector<std::string> words) {
  return [words](const std::invalid_argument& e) {
    for (const std::string& word : words) {
      if (std::string(e.what()).find(word) == std::string::npos) {
        BOOST_TEST_MESSAGE("\"" << e.what() << "\" lacks \"" << word << "\"");
        return false;
      }
    }
    return true;
  };
}

}  // namespace stiction::test
