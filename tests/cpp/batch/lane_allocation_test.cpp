#include "gripper.hpp"
#include "scenes/scenes.hpp"
#include "support/allocation_guard.hpp"
#include <boost/test/unit_test.hpp>

using namespace stiction;
using namespace stiction::test;

BOOST_AUTO_TEST_SUITE(lane_allocation_test)

// In lanes and, in one world, outside.
BOOST_AUTO_TEST_CASE(warm_steps_allocate_nothing) {
  const Scene scene = make_scene("solo12");
  Simulator sim(scene);
  LaneBatch batch(scene, {}, 6);
  Parameters soft = scene.parameters;
  for (Material& m : soft.material) m.stiffness = 1e5;
  batch.set_parameters(4, soft);
  Rng rng(1);
  for (int w = 0; w < 6; ++w) {
    batch.set_state(w, sim.initial_state("standing"));
    Control control = sim.hold("standing");
    control.position_target += 0.2 * random_vector(rng, scene.nv());
    batch.set_control(w, control);
  }
  std::vector<State> start(6);
  for (int w = 0; w < 6; ++w) batch.get_state(w, start[w]);
  batch.step(100);
  for (int w = 0; w < 6; ++w) batch.set_state(w, start[w]);
  const long before = allocation_count();
  batch.step(100);
  BOOST_TEST(allocation_count() == before);
  BOOST_TEST(batch.counts()[static_cast<int>(LaneExit::kScalar)] == 200);
  BOOST_TEST(batch.report(0).contacts > 0);
}

// Where the narrow phase finds the contacts.
BOOST_AUTO_TEST_CASE(warm_steps_on_a_height_field_allocate_nothing) {
  const Scene scene = make_scene("solo12-rough");
  Simulator sim(scene);
  LaneBatch batch(scene, {}, 6);
  Rng rng(1);
  std::vector<State> start(6, sim.initial_state("standing"));
  const auto run = [&] {
    for (int w = 0; w < 6; ++w) batch.set_state(w, start[w]);
    batch.step(200);
  };
  for (int w = 0; w < 6; ++w) {
    Control control = sim.hold("standing");
    control.position_target += 0.2 * random_vector(rng, scene.nv());
    batch.set_control(w, control);
  }
  run();
  batch.reset_counts();
  const long before = allocation_count();
  run();
  BOOST_TEST(allocation_count() == before);
  BOOST_TEST(batch.counts()[0] > 1100);
  BOOST_TEST(batch.report(0).contacts > 0);
}

// Where two bodies of a robot touch each other.
BOOST_AUTO_TEST_CASE(warm_steps_of_bodies_that_touch_allocate_nothing) {
  constexpr int kWorlds = 6;
  const Scene scene = ball_and_block();
  const std::vector<WorldInput> input = grasps(scene, kWorlds, 4);
  LaneBatch batch(scene, {}, kWorlds);
  const auto run = [&] {
    for (int w = 0; w < kWorlds; ++w) batch.set_state(w, input[w].state);
    batch.step(200);
  };
  for (int w = 0; w < kWorlds; ++w) batch.set_control(w, input[w].control);
  run();
  batch.reset_counts();
  const long before = allocation_count();
  run();
  BOOST_TEST(allocation_count() == before);
  BOOST_TEST(batch.counts()[0] > kWorlds * 195);
}

// A batch on threads, with masks and parameters of its own, on lanes and without.
BOOST_AUTO_TEST_CASE(warm_batches_allocate_nothing) {
  for (const char* name : {"solo12", "box-stack"}) {
    const Scene scene = make_scene(name);
    Batch batch(scene, 12, {}, {.threads = 2});
    fill(batch, 0);
    std::vector<std::uint8_t> mask(12, 1);
    mask[3] = 0;
    const auto run = [&] {
      for (int k = 0; k < 20; ++k) batch.step(5, mask.data());
    };
    run();
    batch.reset();
    run();
    batch.reset();
    const long before = allocation_count();
    run();
    BOOST_TEST(allocation_count() == before, name);
    BOOST_TEST(batch.arrays().contacts[0] > 0);
  }
}

// Wrenches whose moment asks for the poses of bodies, of Simulators and of steps that leave the
// lanes.
BOOST_AUTO_TEST_CASE(wrenches_off_the_origin_allocate_nothing) {
  const Scene scene = make_scene("solo12");
  for (const bool lanes : {true, false}) {
    Batch batch(scene, 5, {}, {.lanes = lanes, .configuration = "standing"});
    double* push = batch.wrench(3, {0.1, 0.2, 0.0});
    for (int k = 0; k < 30; ++k) push[k] = 0.3 * (k % 6 - 2);
    int scalar = 0;
    const auto begin = [&] {  // feet in the ground, legs in motion
      batch.reset();
      for (int w = 0; w < 5; ++w) {
        batch.arrays().q[w * scene.nq() + 2] -= 0.002;
        double* v = batch.arrays().v + w * scene.nv();
        for (int k = 6; k < scene.nv(); ++k) v[k] = k % 2 == 0 ? 3.0 : -3.0;
      }
    };
    begin();
    for (int k = 0; k < 40; ++k) {
      batch.step(5);
      scalar += batch.arrays().scalar_steps[0];
    }
    begin();
    const long before = allocation_count();
    for (int k = 0; k < 40; ++k) batch.step(5);
    BOOST_TEST(allocation_count() == before, "lanes " << lanes);
    BOOST_TEST((!lanes || scalar > 0));
  }
}

// A Simulator whose steps were all on lanes allocates nothing when the first one is not.
BOOST_AUTO_TEST_CASE(the_first_step_off_the_lanes_allocates_nothing) {
  Simulator sim(make_scene("solo12"));
  State state = sim.initial_state("standing");
  Control control = sim.hold("standing");
  control.wrenches.reserve(1);
  for (int k = 0; k < 300; ++k) sim.step(state, control);
  const long before = allocation_count();
  sim.step(state, control);
  control.wrenches.push_back({0, {1.0, 0.0, 0.0}, {0.0, 0.0, 0.0}});
  for (int k = 0; k < 100; ++k) sim.step(state, control);
  BOOST_TEST(allocation_count() == before);
  BOOST_TEST(sim.report().num_contacts == 4);
}

BOOST_AUTO_TEST_SUITE_END()
