#include "stiction/batch/observer.hpp"

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

// Delays, motors, observers and history on four threads end as on one.
BOOST_AUTO_TEST_CASE(commands_and_observers_share_nothing) {
  constexpr int kWorlds = 22, kLength = 3;
  for (const bool lanes : {true, false}) {
    Rng rng(8);
    const Scene scene = found_scene(rng);
    const int nv = scene.nv();
    ObserverSettings settings;
    settings.names = {
        "force", "wrench", "com", "imu", "pose", "velocity", "heights", "q", "target"};
    settings.feet = {0, 1};
    settings.frames = {{scene.num_bodies() - 1}};
    settings.imu = settings.scan.frame = settings.frames[0];
    settings.scan.points = {0.0, 0.0, 0.1, -0.2};
    settings.scan.miss = 7.0;
    std::vector<double> expected;
    for (const int threads : {1, 4}) {
      Batch batch(scene, kWorlds, {}, {.threads = threads, .width = 2, .lanes = lanes});
      fill(batch, 0);
      const Observer observer(batch, settings);
      const int m = observer.columns();
      std::vector<double> delay(kWorlds * nv), time(kWorlds * nv), row(kWorlds * m);
      std::vector<double> history(kLength * row.size());
      std::vector<std::uint8_t> mask(kWorlds);
      for (int k = 0; k < 8; ++k) {
        for (int i = 0; i < kWorlds * nv; ++i) {
          delay[i] = (i / nv + i + k) % 4;
          time[i] = 0.002 * ((i / nv + k) % 3);
          batch.arrays().torque[i] = 0.02 * ((i + k) % 5 - 2);
        }
        for (int w = 0; w < kWorlds; ++w) mask[w] = (w + k) % 3 != 0;
        batch.assign(WorldField::kCommandDelay, delay.data(), mask.data());
        batch.assign(WorldField::kMotorTime, time.data(), mask.data());
        batch.step_async(3, mask.data());
        BOOST_CHECK_THROW(observer.observe(row.data(), m), std::logic_error);
        BOOST_TEST(batch.wait());
        observer.observe(row.data(), m);
        roll_history(batch, kLength, m, row.data(), mask.data(), history.data());
        if (k == 4) batch.reset(mask.data());
      }
      if (threads == 1) expected = history;
      BOOST_TEST((history == expected), "lanes " << lanes);
    }
  }
}

// Steps behind the caller's back are those of step(); errors and interrupts come at wait(), and a
// batch may go meanwhile.
BOOST_AUTO_TEST_CASE(steps_in_the_background) {
  constexpr int kWorlds = 13;
  Rng rng(6);
  const Scene scene = lane_scene(rng);
  for (const bool lanes : {true, false}) {
    const BatchOptions options{.threads = 3, .width = 2, .lanes = lanes};
    Batch a(scene, kWorlds, {}, options), b(scene, kWorlds, {}, options);
    for (Batch* batch : {&a, &b}) {
      fill(*batch, 0);
      double* wrench = batch->wrench(0, {0.1, 0.0, 0.2});
      for (int k = 0; k < 6 * kWorlds; ++k) wrench[k] = 0.1 * (k % 7);
    }
    std::vector<std::uint8_t> mask(kWorlds, 1);
    mask[3] = 0;
    for (int k = 0; k < 4; ++k) {
      BOOST_TEST(a.step(3, mask.data()));
      b.step_async(3, mask.data());
      BOOST_CHECK_THROW(b.step(), std::logic_error);
      BOOST_CHECK_THROW(b.reset(), std::logic_error);
      BOOST_TEST(b.wait());
    }
    for (int w = 0; w < kWorlds; ++w) BOOST_TEST(same_world(a.state(w), b.state(w)));
    BOOST_CHECK_THROW(b.wait(), std::logic_error);
    b.arrays().torque[2] = std::numeric_limits<double>::quiet_NaN();
    b.step_async();
    BOOST_CHECK_EXCEPTION(b.wait(), std::invalid_argument, says({"torque[0, 2]"}));
    b.arrays().torque[2] = 0.0;
    int asked = 0;
    b.set_interrupt({[](void* n) { return ++*static_cast<int*>(n) > 2; }, &asked});
    b.step_async(1 << 28);
    BOOST_TEST(!b.wait());
    b.set_interrupt({});
    BOOST_TEST(b.step());
    b.step_async(1 << 28);
  }
}

BOOST_AUTO_TEST_SUITE_END()
