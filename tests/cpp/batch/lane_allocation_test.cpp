#include "batch_sample.hpp"
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

BOOST_AUTO_TEST_SUITE_END()
