#include "stiction/simulator/simulator.hpp"

#include "scenes/scenes.hpp"
#include "support/allocation_guard.hpp"
#include "support/random_world.hpp"
#include <boost/test/unit_test.hpp>

#include <string>
#include <vector>

namespace stiction::test {

/// A change of every parameter of the last step.
static std::vector<ParameterDirection> changes_of_all(Simulator& simulator) {
  std::vector<ParameterDirection> out;
  for (const ParameterRange& r : simulator.parameter_ranges(Simulator::derivative_parameters()))
    out.push_back({r.name, Eigen::VectorXd::Ones(r.count)});
  return out;
}

BOOST_AUTO_TEST_SUITE(allocation_test)

/// Also where contacts are redundant and slide, and by parameters.
BOOST_AUTO_TEST_CASE(warm_derivatives_allocate_nothing) {
  const std::vector<std::string> parameters = Simulator::derivative_parameters();
  for (const char* name : {"solo12", "cube-slide", "four-bar", "box-stack(3)"}) {
    Simulator simulator(make_scene(name));
    State state = simulator.initial_state();
    const Control control = simulator.hold();
    state.v.array() += 0.05;
    const Eigen::VectorXd w = Eigen::VectorXd::Ones(2 * simulator.scene().nv()),
                          x = Eigen::VectorXd::Ones(3 * simulator.scene().nv());
    std::vector<ParameterDirection> changes;
    const auto differentiate = [&] {
      simulator.step_derivatives(parameters);
      simulator.vjp(w, parameters);
      simulator.jvp(x, changes);
      simulator.jvp(x);
    };
    {
      State first = state;
      simulator.step(first, control);
      changes = changes_of_all(simulator);
    }
    for (int k = 0; k < 20; ++k) {
      simulator.step(state, control);
      differentiate();
    }
    const State at = state;
    simulator.step(state, control);
    differentiate();
    state = at;
    const long before = allocation_count();
    simulator.step(state, control);
    differentiate();
    BOOST_TEST(allocation_count() == before, name << ": " << allocation_count() - before);
  }
}

/// Rows of every source, on the path and off it.
BOOST_AUTO_TEST_CASE(random_worlds_allocate_nothing) {
  const std::vector<std::string> parameters = Simulator::derivative_parameters();
  Rng rng(16);
  for (int k = 0; k < 30; ++k) {
    const bool springs = k % 3 == 0;
    World w = random_world(rng, {springs, springs, !springs, true, true, true, false, k % 4 == 0});
    if (k % 5 == 0) w.settings.smoothing = 1e-3;
    Simulator simulator(w.scene, w.settings);
    if (!simulator.step(w.state, w.control).whole()) continue;
    const Eigen::VectorXd v = Eigen::VectorXd::Ones(2 * w.scene.nv()),
                          x = Eigen::VectorXd::Ones(3 * w.scene.nv());
    const std::vector<ParameterDirection> changes = changes_of_all(simulator);
    long before = 0;
    for (int pass = 0; pass < 2; ++pass) {
      State next = w.state;
      if (!simulator.step(next, w.control).whole()) break;
      before = allocation_count();
      simulator.step_derivatives(parameters);
      simulator.vjp(v, parameters);
      simulator.jvp(x, changes);
      simulator.gradient_report();
      if (pass == 1)
        BOOST_TEST(allocation_count() == before, k << ": " << allocation_count() - before);
    }
  }
}

/// The second adjoint of a tape of the same length.
BOOST_AUTO_TEST_CASE(a_warm_adjoint_allocates_nothing) {
  Simulator simulator(make_scene("solo12"));
  State state = simulator.initial_state();
  RolloutTape tape;
  RolloutInput input;
  input.taus.setZero(30, simulator.scene().nv());
  simulator.rollout(state, simulator.hold(), input, &tape);
  RolloutCotangents by;
  by.states.setOnes(31, 2 * simulator.scene().nv());
  const std::vector<std::string> parameters{"friction", "mass"};
  simulator.adjoint(tape, by, parameters);
  const long before = allocation_count();
  simulator.adjoint(tape, by, parameters);
  BOOST_TEST(allocation_count() == before, allocation_count() - before);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace stiction::test
