#include "stiction/simulator/simulator.hpp"

#include "scenes/scenes.hpp"
#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <string>
#include <vector>

// An adjoint that is interrupted says so, wherever it is, and the next one is as if it had not
// been.

namespace stiction::test {
namespace {

/// Asks to end at the n-th time that it is asked itself.
struct Countdown {
  int left, asked = 0;

  Interrupt interrupt() {
    return {[](void* self) {
              Countdown& c = *static_cast<Countdown*>(self);
              return ++c.asked >= c.left;
            },
            this};
  }
};

}  // namespace

BOOST_AUTO_TEST_SUITE(interrupted_adjoint_test)

BOOST_AUTO_TEST_CASE(at_any_moment) {
  for (const char* integrator : {"semi-implicit-euler", "implicit-euler", "exponential"}) {
    SimulatorSettings settings;
    settings.integrator = integrator;
    const Scene scene = make_scene("double-pendulum");
    Simulator simulator(scene, settings);
    const State start = simulator.initial_state();
    RolloutInput input;
    input.taus = RowMajorMatrix::Constant(20, scene.nv(), 0.1);
    input.checkpoint_every = 7;
    RolloutTape tape;
    State end = start;
    simulator.rollout(end, {}, input, &tape);
    RolloutCotangents by;
    by.states = RowMajorMatrix::Ones(21, 2 * scene.nv());
    const std::vector<std::string> wrt = settings.integrator == "semi-implicit-euler"
                                             ? std::vector<std::string>{"mass"}
                                             : std::vector<std::string>{};
    Countdown never{1 << 30};
    simulator.set_interrupt(never.interrupt());
    const RolloutGradient whole = simulator.adjoint(tape, by, wrt);
    BOOST_TEST(!whole.interrupted);
    BOOST_TEST(whole.report.steps == 20);
    BOOST_TEST_REQUIRE(never.asked >= 37);  // 17 steps are repeated before they are taken back
    int fewest = 20, most = 0;
    const int stride = std::max(1, never.asked / 100);  // differences ask often
    for (int k = 1; k <= never.asked; k += k + stride <= never.asked - 20 ? stride : 1) {
      Countdown countdown{k};
      simulator.set_interrupt(countdown.interrupt());
      const RolloutGradient& cut = simulator.adjoint(tape, by, wrt);
      BOOST_TEST(cut.interrupted, integrator << " at " << k);
      BOOST_TEST(countdown.asked >= k);
      fewest = std::min(fewest, cut.report.steps);
      most = std::max(most, cut.report.steps);
    }
    BOOST_TEST(fewest == 0);  // while steps are repeated
    BOOST_TEST(most == 19);   // in the last step back, which is the first
    simulator.set_interrupt({});
    const RolloutGradient& again = simulator.adjoint(tape, by, wrt);
    BOOST_TEST(!again.interrupted);
    BOOST_TEST((again.taus == whole.taus && again.initial_q == whole.initial_q &&
                again.initial_v == whole.initial_v && again.parameters == whole.parameters));
    State other = start;
    simulator.rollout(other, {}, input);
    BOOST_TEST((other == end));
  }
}

/// Steps of differences beside the last one end with it: that is said, and nothing is left of it.
BOOST_AUTO_TEST_CASE(differences_that_are_interrupted) {
  SimulatorSettings settings;
  settings.integrator = "exponential";
  Simulator simulator(make_scene("cartpole"), settings);
  State state = simulator.initial_state();
  simulator.step(state, {});
  const Eigen::MatrixXd A = simulator.step_derivatives().A();
  for (int k = 1; k <= 50; ++k) {
    simulator.set_interrupt({});
    state = simulator.initial_state();
    simulator.step(state, {});
    {
      Countdown countdown{k};  // is gone before the next call
      simulator.set_interrupt(countdown.interrupt());
      BOOST_CHECK_THROW(simulator.step_derivatives(), Interrupted);
      BOOST_CHECK_THROW(simulator.vjp(Eigen::VectorXd::Ones(4)), Interrupted);
      simulator.set_interrupt({});
    }
    BOOST_TEST((simulator.step_derivatives().A() == A));
  }
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace stiction::test
