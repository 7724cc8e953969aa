#include "stiction/simulator/simulator.hpp"

#include "support/random_tree.hpp"
#include "support/recovery.hpp"
#include <boost/test/unit_test.hpp>

#include <cmath>

// Articulated trees thrown so that they turn by 0.01 to 10^4 rad within a step.

namespace stiction {
namespace {

using test::Rng;

constexpr double kDt = 1e-3;
constexpr int kSteps = 300;

Scene random_tree_without_slides(Rng& rng) {
  std::vector<BodyDescription> bodies = test::random_tree(rng);
  for (BodyDescription& body : bodies) {
    if (body.joint == JointType::kPrismatic) body.joint = JointType::kRevolute;
  }
  Scene scene;
  scene.parameters.gravity = {0, 0, 0};
  scene.add_robot(test::random_robot(std::move(bodies)), test::pose(rng, 1.0));
  return scene;
}

Simulator simulator(const Scene& scene) {
  SimulatorSettings settings;
  settings.dt = kDt;
  return Simulator(scene, settings);
}

}  // namespace

BOOST_AUTO_TEST_SUITE(fast_trees_test)

// A throw beyond what steps can follow goes on with numbers: joints gain no more than 1 rad a step
// for each step, whatever their speed. (Slides without limits are left out: centrifugal force
// flings their links away ever faster.)
BOOST_AUTO_TEST_CASE(a_throw_ends_with_numbers) {
  Rng rng(1);
  int fast = 0;
  for (int trial = 0; trial < 200; ++trial) {
    Simulator sim = simulator(random_tree_without_slides(rng));
    State state = sim.initial_state();
    const double speed = std::pow(10.0, rng.uniform(1.0, 7.0));
    for (int k = 0; k < state.v.size(); ++k) state.v[k] = speed * rng.uniform(-1.0, 1.0);
    fast += speed * kDt > 10.0;
    BOOST_TEST_CONTEXT("trial " << trial << ", " << speed << " rad/s") {
      for (int k = 0; k < kSteps; ++k) BOOST_REQUIRE(sim.step(state, {}).whole());
      BOOST_TEST(state.v.cwiseAbs().maxCoeff() <= 10.0 * speed + kSteps / kDt);
    }
  }
  BOOST_TEST(fast > 50);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace stiction
