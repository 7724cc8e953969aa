#include "batch/thread_pool.hpp"
#include "batch_sample.hpp"

#include <atomic>
#include <limits>

// What a sanitizer of threads is to see: batches on several of them, in all that they do.

using namespace stiction;
using namespace stiction::test;

BOOST_AUTO_TEST_SUITE(batch_threads_test)

// Random robots with limits, dry friction and shapes; some steps leave the lanes.
BOOST_AUTO_TEST_CASE(bits_of_random_robots_depend_on_the_world_alone) {
  constexpr int kSteps = 12, kWorlds = 9;
  for (int trial = 0; trial < 8; ++trial) {
    Rng rng(70 + trial);
    const Scene scene = lane_scene(rng);
    const std::vector<State> expected = alone(scene, {}, kWorlds, kSteps, "default");
    Batch batch(scene, kWorlds, {}, {.threads = 2, .width = 2});
    fill(batch, 0);
    BOOST_REQUIRE(batch.step(kSteps / 2));
    BOOST_REQUIRE(batch.step(kSteps / 2));
    BOOST_TEST(differing(batch, expected, 0) == 0, "trial " << trial);
  }
}

// All parts run, at any time what the lowest part threw comes out, and the pool goes on.
BOOST_AUTO_TEST_CASE(pool_runs_every_part_and_passes_on_what_they_throw) {
  for (const int parts : {1, 2, 5}) {
    ThreadPool pool(parts);
    std::vector<std::atomic<int>> runs(parts);
    for (int k = 0; k < 200; ++k) pool.run([&](int part) { ++runs[part]; }, [] {});
    for (const auto& n : runs) BOOST_TEST(n == 200);
    const auto failing = [&](int part) {
      ++runs[part];
      throw std::invalid_argument("part " + std::to_string(part));
    };
    BOOST_CHECK_EXCEPTION(pool.run(failing, [] {}), std::invalid_argument, says({"part 0"}));
    for (const auto& n : runs) BOOST_TEST(n == 201);
    pool.run([&](int part) { ++runs[part]; }, [] {});
    for (const auto& n : runs) BOOST_TEST(n == 202);
  }
  ThreadPool idle(3);  // never run
}

// Steps, masks, resets, parameters, a failure and an interrupt on four threads end as on one.
BOOST_AUTO_TEST_CASE(threads_share_nothing) {
  constexpr int kWorlds = 22;
  for (const bool lanes : {true, false}) {
    Rng rng(5);
    const Scene scene = lane_scene(rng);
    const int nv = scene.nv();
    std::vector<State> expected;
    for (const int threads : {1, 4}) {
      Batch batch(scene, kWorlds, {}, {.threads = threads, .width = 2, .lanes = lanes});
      fill(batch, 0);
      std::vector<std::uint8_t> mask(kWorlds);
      const int size = world_field_size(WorldField::kMassScale, scene);
      std::vector<double> scale(kWorlds * size);
      for (int k = 0; k < 8; ++k) {
        for (int w = 0; w < kWorlds; ++w) {
          mask[w] = (w + k) % 3 != 0;
          std::fill_n(scale.begin() + w * size, size, 1.0 + 0.01 * (w + k));
        }
        batch.assign(WorldField::kMassScale, scale.data(), mask.data());
        if (k == 2) batch.arrays().v[9 * nv] = std::numeric_limits<double>::quiet_NaN();
        BOOST_TEST(batch.step(2, mask.data()));
        if (k == 4) batch.reset(mask.data());
      }
      int asked = 0;
      batch.set_interrupt({[](void* n) { return ++*static_cast<int*>(n) > 3; }, &asked});
      BOOST_TEST(!batch.step(1 << 28));
      batch.set_interrupt({});
      batch.reset();
      batch.step(3);
      for (int w = 0; w < kWorlds; ++w) {
        if (threads == 1)
          expected.push_back(batch.state(w));
        else
          BOOST_TEST(same_world(batch.state(w), expected[w]));
      }
    }
  }
}

BOOST_AUTO_TEST_SUITE_END()
