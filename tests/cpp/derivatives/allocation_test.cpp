#include "stiction/simulator/simulator.hpp"

#include "scenes/scenes.hpp"
#include "support/allocation_guard.hpp"
#include <boost/test/unit_test.hpp>

#include <string>
#include <vector>

namespace stiction::test {

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
    const auto differentiate = [&] {
      simulator.step_derivatives(parameters);
      simulator.vjp(w, parameters);
      simulator.jvp(x);
    };
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

BOOST_AUTO_TEST_SUITE_END()

}  // namespace stiction::test
