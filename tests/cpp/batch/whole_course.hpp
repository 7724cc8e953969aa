#pragma once

#include "batch_sample.hpp"

namespace stiction::test {

/// A Simulator that steps by its own course: who asks for the record of each step gets it.
struct WholeCourse {
  Simulator sim;
  explicit WholeCourse(const Scene& scene, const SimulatorSettings& settings = {})
      : sim(scene, settings) {}
  const StepReport& step(State& state, const Control& control) {
    sim.step(state, control);
    sim.record();
    return sim.report();
  }
};

/// Worlds of a scene by that course, step by step.
struct Reference {
  std::vector<WorldInput> input;
  std::vector<std::vector<State>> states;  ///< [worlds][steps]
  int steps = 0, counted = 0;              ///< those where `count` is not zero, the sum of it

  Reference(const Scene& scene,
            const std::vector<WorldInput>& worlds,
            int num_steps,
            int (*count)(Simulator&),
            const SimulatorSettings& settings = {})
      : input(worlds), states(worlds.size()) {
    for (std::size_t w = 0; w < input.size(); ++w) {
      WholeCourse whole(scene, settings);
      whole.sim.parameters() = input[w].parameters;
      State state = input[w].state;
      for (int k = 0; k < num_steps; ++k) {
        whole.step(state, input[w].control);
        states[w].push_back(state);
        const int own = count(whole.sim);
        steps += own > 0;
        counted += own;
      }
    }
  }
};

/// Contacts of two bodies with each other.
inline int own_contacts(Simulator& sim) {
  int count = 0;
  for (const Contact& c : sim.contact_set()) count += c.body_a >= 0 && c.body_b >= 0;
  return count;
}

/// Steps of a batch, from the same start, that are not those of the reference.
inline int differing_steps(const Reference& reference, LaneBatch& batch) {
  const int worlds = static_cast<int>(reference.input.size());
  for (int w = 0; w < worlds; ++w) {
    batch.set_parameters(w, reference.input[w].parameters);
    batch.set_state(w, reference.input[w].state);
    batch.set_control(w, reference.input[w].control);
  }
  int count = 0;
  State state;
  for (std::size_t k = 0; k < reference.states[0].size(); ++k) {
    batch.step();
    for (int w = 0; w < worlds; ++w) {
      batch.get_state(w, state);
      count += !same_bits(state, reference.states[w][k]);
    }
  }
  return count;
}

}  // namespace stiction::test
