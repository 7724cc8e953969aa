#include "stiction/simulator/simulator.hpp"

#include "support/random_tree.hpp"
#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <cmath>

// A joint whose two limits are one pushes with one row; State has its impulse as that of the limit
// that pushes.

using namespace stiction;
using namespace stiction::test;

namespace {

/// A link of 1 kg on a hinge about y, locked at an angle.
Scene locked_link(double angle) {
  BodyDescription body;
  body.name = "link";
  body.axis = {0, 1, 0};
  body.mass = 1.0;
  body.com = {0.5, 0, 0};
  body.inertia = {1e-3, 0, 0.05, 0, 0, 0.05};
  Robot robot;
  robot.name = "arm";
  robot.bodies = {body};
  robot.dofs.resize(1);
  robot.dofs[0].lower = robot.dofs[0].upper = angle;
  robot.neutral = {angle};
  Scene scene;
  scene.add_robot(robot);
  return scene;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(locked_joint_test)

BOOST_AUTO_TEST_CASE(one_of_both_limits_has_the_impulse) {
  Rng rng(1);
  int lower = 0, upper = 0, warm = 0;
  for (int trial = 0; trial < 100; ++trial) {
    const double angle = rng.uniform(-3.0, 3.0), out = trial % 2 ? rng.uniform(-1e-3, 1e-3) : 0.0;
    Simulator sim(locked_link(angle), SimulatorSettings{});
    State state = sim.initial_state();
    state.q[0] = angle + out;
    // Opposite impulses that earlier versions may have left press nothing.
    state.constraint_impulse[0] = state.constraint_impulse[1] = 1e3;
    for (int k = 0; k < 200; ++k) BOOST_TEST((sim.step(state, {}).status == StepStatus::kOk));
    BOOST_TEST(std::abs(state.q[0] - angle) < 1e-9);
    const double held = 9.81 * 0.5 * std::cos(angle) * sim.settings().dt;  // gravity turns it by +y
    const double below = state.constraint_impulse[0], above = state.constraint_impulse[1];
    BOOST_TEST(std::min(below, above) == 0.0);
    BOOST_TEST(std::abs(above - below - held) < 1e-9);
    ++(below > above ? lower : upper);
    sim.step(state, {});
    warm += sim.solution().factorisations == 0;
  }
  BOOST_TEST(lower > 20);
  BOOST_TEST(upper > 20);
  BOOST_TEST(warm > 80);  // the step after is taken as it is
}

BOOST_AUTO_TEST_SUITE_END()
