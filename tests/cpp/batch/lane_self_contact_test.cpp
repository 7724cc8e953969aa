#include "gripper.hpp"
#include "scenes/scenes.hpp"
#include "whole_course.hpp"
#include <boost/test/unit_test.hpp>

using namespace stiction;
using namespace stiction::test;

// Bodies of one robot that touch each other stay on lanes, with the bits of the Simulator.

namespace {

/// A random robot on a plane that it nearly touches, all of whose shapes may touch each other but
/// those that overlap from the start.
Scene tangled_scene(Rng& rng) {
  Scene scene;
  scene.add_robot(random_robot(lane_robot(rng)));
  const Vec3d n = unit_vector(rng);
  const double lowest = add_shapes(rng, n, rng.below(2) == 0 ? small_shape : found_shape, scene);
  scene.add_half_space("plane", n * (lowest - rng.uniform(-1e-4, 1e-3)), n, surface(rng));
  Simulator sim(scene);
  State state = sim.initial_state("default");
  sim.prepare(state, {});
  for (const Contact& c : sim.contact_set()) {
    if (c.body_a >= 0 && c.body_b >= 0 && c.gap < -1e-4)
      scene.disable_pair(c.geometry_a, c.geometry_b);
  }
  return scene;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(lane_self_contact_test)

// Worlds that differ in everything, at every width: no step leaves the lanes, and none differs.
BOOST_AUTO_TEST_CASE(fingers_that_touch_stay_on_lanes) {
  constexpr int kWorlds = 11, kSteps = 300;
  const Scene scene = ball_and_block();
  const Reference reference(scene, grasps(scene, kWorlds, 1), kSteps, own_contacts);
  BOOST_TEST_MESSAGE(reference.steps << " steps, " << reference.counted << " contacts");
  BOOST_TEST(reference.steps > kWorlds * kSteps / 2);
  for (const LaneKernel& kernel : lane_kernels()) {
    LaneBatch batch(scene, {}, kWorlds, kernel.width);
    BOOST_TEST(differing_steps(reference, batch) == 0);
    for (std::size_t e = 1; e < batch.counts().size(); ++e)
      if (batch.counts()[e] > 0) BOOST_TEST_MESSAGE("exit " << e << ": " << batch.counts()[e]);
    BOOST_TEST(batch.counts()[0] == kWorlds * kSteps);
  }
}

// The same of pairs of any shapes, with several points each.
BOOST_AUTO_TEST_CASE(fingers_of_any_shape_step_as_their_simulators) {
  constexpr int kWorlds = 5, kSteps = 150;
  std::int64_t steps = 0, lanes = 0;
  int touching = 0, contacts = 0;
  for (int trial = 0; trial < 12; ++trial) {
    Rng rng(700 + trial);
    const Scene scene = random_gripper(rng);
    const Reference reference(scene, grasps(scene, kWorlds, 70 + trial), kSteps, own_contacts);
    touching += reference.steps;
    contacts += reference.counted;
    for (const LaneKernel& kernel : lane_kernels()) {
      LaneBatch batch(scene, {}, kWorlds, kernel.width);
      BOOST_TEST(differing_steps(reference, batch) == 0, "trial " << trial);
      steps += kWorlds * kSteps;
      lanes += batch.counts()[0];
    }
  }
  BOOST_TEST_MESSAGE(lanes << " of " << steps << ", " << touching << " touching, " << contacts
                           << " contacts");
  BOOST_TEST(lanes > 0.98 * steps);
  BOOST_TEST(touching > 12 * kWorlds * kSteps / 2);
  BOOST_TEST(contacts > touching + touching / 10);
}

// Random robots of any joints in motion, beside the ground.
BOOST_AUTO_TEST_CASE(random_robots_that_touch_themselves_step_as_their_simulators) {
  constexpr int kWorlds = 6, kSteps = 40;
  int touching = 0;
  std::int64_t lanes = 0, steps = 0;
  for (int trial = 0; trial < 60; ++trial) {
    Rng rng(8200 + trial);
    const Scene scene = tangled_scene(rng);
    Simulator sim(scene);
    std::vector<WorldInput> input;
    for (int w = 0; w < kWorlds; ++w) {
      input.push_back(
          {varied(rng, scene), sim.initial_state("default"), random_control(rng, scene, 2.0)});
      input.back().state.v = random_vector(rng, scene.nv()) * 1.5;
    }
    const Reference reference(scene, input, kSteps, own_contacts);
    touching += reference.steps;
    for (const LaneKernel& kernel : lane_kernels()) {
      LaneBatch batch(scene, {}, kWorlds, kernel.width);
      BOOST_TEST(differing_steps(reference, batch) == 0,
                 "trial " << trial << " width " << kernel.width);
      lanes += batch.counts()[0];
      steps += kWorlds * kSteps;
    }
  }
  BOOST_TEST_MESSAGE(lanes << " of " << steps << ", " << touching << " touching");
  BOOST_TEST(lanes > 0.6 * steps);
  BOOST_TEST(touching > 300);
}

// The feet of a humanoid that are pressed against each other in the air and on the ground.
BOOST_AUTO_TEST_CASE(feet_that_touch_stay_on_lanes) {
  constexpr int kWorlds = 5, kSteps = 200;
  const Scene scene = make_scene("talos");
  Simulator sim(scene);
  Rng rng(5);
  std::vector<WorldInput> input;
  for (int w = 0; w < kWorlds; ++w) {
    WorldInput x{scene.parameters, sim.initial_state("standing"), sim.hold("standing")};
    for (double& m : x.parameters.mass) m *= rng.uniform(0.9, 1.1);
    x.state.q[2] += rng.uniform(0.02, 0.06);
    for (const auto& [leg, sign] : {std::pair{"left", -1.0}, {"right", 1.0}}) {
      const int dof = scene.dof("leg_" + std::string(leg) + "_2_joint");
      x.control.position_target[dof] += sign * rng.uniform(0.1, 0.25);
    }
    input.push_back(x);
  }
  const Reference reference(scene, input, kSteps, own_contacts);
  BOOST_TEST_MESSAGE(reference.steps << " steps, " << reference.counted << " contacts");
  BOOST_TEST(reference.steps > kWorlds * kSteps / 10);
  for (const LaneKernel& kernel : lane_kernels()) {
    LaneBatch batch(scene, {}, kWorlds, kernel.width);
    BOOST_TEST(differing_steps(reference, batch) == 0);
    BOOST_TEST_MESSAGE(batch.counts()[0] << " of " << kWorlds * kSteps << " in lanes");
    BOOST_TEST(batch.counts()[0] > 0.9 * kWorlds * kSteps);  // a few landings are hard
  }
}

// A state taken out and put back goes on as if it had stayed: impulses follow their pairs.
BOOST_AUTO_TEST_CASE(states_taken_out_and_put_back_change_nothing) {
  constexpr int kWorlds = 3;
  const Scene scene = ball_and_block();
  const std::vector<WorldInput> input = grasps(scene, kWorlds, 3);
  LaneBatch stays(scene, {}, kWorlds), leaves(scene, {}, kWorlds);
  for (LaneBatch* batch : {&stays, &leaves}) {
    for (int w = 0; w < kWorlds; ++w) {
      batch->set_state(w, input[w].state);
      batch->set_control(w, input[w].control);
    }
  }
  int kept = 0;
  for (int k = 0; k < 200; ++k) {
    State state, expected;
    for (int w = 0; w < kWorlds; ++w) {
      leaves.get_state(w, state);
      leaves.set_state(w, state);
    }
    stays.step();
    leaves.step();
    for (int w = 0; w < kWorlds; ++w) {
      stays.get_state(w, state);
      leaves.get_state(w, expected);
      BOOST_REQUIRE(same_bits(state, expected));
      for (const ContactMemory& c : state.contacts)
        kept += (c.pair >> 32) != 2 && norm(c.impulse_A) > 0.0;
    }
  }
  BOOST_TEST(kept > 300);
}

BOOST_AUTO_TEST_SUITE_END()
