#include "batch_sample.hpp"
#include "scenes/scenes.hpp"
#include <boost/test/unit_test.hpp>

#include <limits>

using namespace stiction;
using namespace stiction::test;

namespace {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

Scene solo() {
  Scene scene = make_scene("solo12");
  for (int k = 6; k < scene.nv(); ++k) scene.set_gains(k, 20.0, 0.3);
  return scene;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(batch_test)

// On lanes: any number of worlds, place, width, threads, sub-steps.
BOOST_AUTO_TEST_CASE(bits_depend_on_the_world_alone) {
  const Scene scene = solo();
  constexpr int kSteps = 60, kWorlds = 64;
  const std::vector<State> expected = alone(scene, {}, kWorlds, kSteps, "standing");
  struct Arrangement {
    int worlds, first, width, threads, substeps;
  };
  for (const Arrangement& a : {Arrangement{7, 0, 0, 1, 1},
                               {64, 0, 0, 2, 5},
                               {64, 0, 2, 3, 60},
                               {64, 0, 4, 2, 3},
                               {7, 13, 0, 3, 4},
                               {64, 21, 0, 1, 12},
                               {1000, 0, 0, 3, 20}}) {
    if (a.width > lane_kernels().back().width) continue;
    Batch batch(scene, a.worlds, {}, {.threads = a.threads, .width = a.width});
    BOOST_TEST(batch.why_not_lanes() == "");
    fill(batch, a.first, "standing");
    for (int k = 0; k < kSteps; k += a.substeps) BOOST_REQUIRE(batch.step(a.substeps));
    BOOST_TEST(differing(batch, expected, a.first) == 0,
               a.worlds << " worlds, width " << a.width << ", " << a.threads << " threads");
  }
}

// Without lanes a world has the Simulator's bits.
BOOST_AUTO_TEST_CASE(other_scenes_have_the_bits_of_a_simulator) {
  constexpr int kSteps = 40, kWorlds = 7;
  for (const char* name : {"box-stack", "four-bar", "allegro-ball", "solo12"}) {
    const Scene scene = make_scene(name);
    const bool forced = std::string(name) == "solo12";
    for (const int threads : {1, 3}) {
      Batch batch(scene, kWorlds, {}, {.threads = threads, .lanes = !forced});
      BOOST_TEST(batch.why_not_lanes() != "");
      fill(batch, 0);
      for (int k = 0; k < kSteps; k += 4) BOOST_REQUIRE(batch.step(4));
      for (int w = 0; w < kWorlds; ++w) {
        const WorldInput x = world_input(scene, w, "default");
        Simulator sim(scene);
        if (w % 3 != 0) sim.parameters() = x.parameters;
        State state = x.state;
        sim.run(state, x.control, kSteps);
        BOOST_TEST(same_world(batch.state(w), state), name << " world " << w);
        BOOST_TEST(batch.arrays().contacts[w] == sim.report().num_contacts);
      }
    }
  }
}

// Steps under masks are those steps; who is left out keeps every number.
BOOST_AUTO_TEST_CASE(masks_take_chosen_worlds_alone) {
  constexpr int kWorlds = 21, kRounds = 30;
  for (const bool lanes : {true, false}) {
    const Scene scene = solo();
    const BatchOptions options{.threads = 2, .lanes = lanes};
    Batch batch(scene, kWorlds, {}, options), plain(scene, kWorlds, {}, options);
    fill(batch, 0, "standing");
    fill(plain, 0, "standing");
    std::vector<int> taken(kWorlds, 0);
    std::vector<std::uint8_t> mask(kWorlds);
    Rng rng(4);
    for (int k = 0; k < kRounds; ++k) {
      for (int w = 0; w < kWorlds; ++w) mask[w] = w < 12 ? k % 2 : rng.below(2);
      std::vector<State> before;
      for (int w = 0; w < kWorlds; ++w) before.push_back(batch.state(w));
      BOOST_REQUIRE(batch.step(1, mask.data()));
      for (int w = 0; w < kWorlds; ++w) {
        taken[w] += mask[w];
        if (mask[w] == 0) BOOST_TEST(same_world(batch.state(w), before[w]));
      }
    }
    for (int k = 0; k < kRounds; ++k) {
      for (int w = 0; w < kWorlds; ++w) mask[w] = k < taken[w];
      BOOST_REQUIRE(plain.step(1, mask.data()));
    }
    for (int w = 0; w < kWorlds; ++w) {
      const State a = batch.state(w), b = plain.state(w);
      BOOST_TEST(same_world(a, b), "world " << w);
    }
  }
}

// What was written to q and v holds, and the world is then as one that was set there.
BOOST_AUTO_TEST_CASE(written_states_hold) {
  const Scene scene = solo();
  for (const bool lanes : {true, false}) {
    Batch batch(scene, 3, {}, {.lanes = lanes}), other(scene, 3, {}, {.lanes = lanes});
    fill(batch, 0, "standing");
    fill(other, 0, "standing");
    batch.step(5);
    other.step(5);
    State state = other.state(1);
    state.q[2] += 0.1;
    state.v[0] = 0.5;
    other.set_state(1, state);
    batch.arrays().q[scene.nq() + 2] += 0.1;
    batch.arrays().v[scene.nv()] = 0.5;
    BOOST_TEST(same_world(batch.state(1), state));
    batch.step(5);
    other.step(5);
    for (int w = 0; w < 3; ++w) BOOST_TEST(same_world(batch.state(w), other.state(w)));
  }
}

// A world whose numbers end stands still and says so; its neighbours go on as if alone.
BOOST_AUTO_TEST_CASE(failed_worlds_are_frozen) {
  const Scene scene = solo();
  constexpr int kWorlds = 11, kSteps = 20, kBad = 4;
  constexpr auto kNotFinite = static_cast<std::uint8_t>(StepStatus::kNotFinite);
  for (const bool lanes : {true, false}) {
    const BatchOptions options{.threads = 2, .lanes = lanes};
    Batch batch(scene, kWorlds, {}, options), good(scene, kWorlds, {}, options);
    fill(batch, 0, "standing");
    fill(good, 0, "standing");
    batch.arrays().v[kBad * scene.nv() + 7] = kNaN;
    BOOST_TEST(batch.step(kSteps));
    good.step(kSteps);
    for (int w = 0; w < kWorlds; ++w) {
      BOOST_TEST((batch.arrays().status[w] == kNotFinite) == (w == kBad));
      if (w != kBad) BOOST_TEST(same_world(batch.state(w), good.state(w)));
    }
    BOOST_TEST(batch.arrays().time[kBad] == 0.0);
    BOOST_TEST(std::isnan(batch.arrays().v[kBad * scene.nv() + 7]));
    BOOST_TEST((batch.state(kBad).q == world_input(scene, kBad, "standing").state.q));

    std::vector<std::uint8_t> mask(kWorlds, 0);
    mask[kBad] = 1;
    batch.reset(mask.data());
    BOOST_TEST(batch.arrays().status[kBad] == 0);
    batch.step(kSteps);
    Batch fresh(scene, 1, {}, options);
    put(fresh, 0, world_input(scene, kBad, "standing"), true);
    fresh.reset();
    fresh.step(kSteps);
    BOOST_TEST(same_world(batch.state(kBad), fresh.state(0)));
    BOOST_TEST(!same_world(batch.state(3), fresh.state(0)));
  }
}

// A world that was reset has no memory.
BOOST_AUTO_TEST_CASE(reset_worlds_are_new) {
  for (const char* name : {"solo12", "box-stack"}) {
    const Scene scene = make_scene(name);
    constexpr int kWorlds = 5, kSteps = 15;
    Batch batch(scene, kWorlds), fresh(scene, kWorlds);
    Rng rng(9);
    fill(batch, 0);
    batch.step(37);
    std::vector<double> q, v;
    for (int w = 0; w < kWorlds; ++w) {
      fill(fresh, 0);
      const std::vector<double>& start = scene.default_q();
      q.insert(q.end(), start.begin(), start.end());
      q[q.size() - scene.nq() + 2] += 0.01 * w;
      for (int k = 0; k < scene.nv(); ++k) v.push_back(rng.uniform(-0.1, 0.1));
    }
    batch.reset(nullptr, q.data(), v.data());
    for (int w = 0; w < kWorlds; ++w) {
      State state =
          make_state(scene, {q.begin() + w * scene.nq(), q.begin() + (w + 1) * scene.nq()});
      state.v = Eigen::Map<Eigen::VectorXd>(v.data() + w * scene.nv(), scene.nv());
      fresh.set_state(w, state);
      BOOST_TEST(batch.arrays().time[w] == 0.0);
    }
    batch.step(kSteps);
    fresh.step(kSteps);
    for (int w = 0; w < kWorlds; ++w) BOOST_TEST(same_world(batch.state(w), fresh.state(w)));
  }
}

// Single steps say what the sub-steps of one call add up to.
BOOST_AUTO_TEST_CASE(status_and_certificate_are_the_worst_of_a_call) {
  const Scene scene = solo();
  constexpr int kWorlds = 24, kSteps = 40;
  Batch one(scene, kWorlds), all(scene, kWorlds);
  fill(one, 0, "standing");
  fill(all, 0, "standing");
  std::vector<double> worst(kWorlds, 0.0);
  std::vector<int> left(kWorlds, 0);
  for (int k = 0; k < kSteps; ++k) {
    one.step();
    for (int w = 0; w < kWorlds; ++w) {
      worst[w] = std::max(worst[w], one.arrays().certificate[w]);
      left[w] += one.arrays().scalar_steps[w];
      BOOST_TEST((one.arrays().scalar_steps[w] > 0) == (one.arrays().lane_exit[w] > 0));
    }
  }
  all.step(kSteps);
  int contacts = 0;
  for (int w = 0; w < kWorlds; ++w) {
    BOOST_TEST(all.arrays().certificate[w] == worst[w]);
    BOOST_TEST(all.arrays().scalar_steps[w] == left[w]);
    BOOST_TEST(all.arrays().contacts[w] == one.arrays().contacts[w]);
    BOOST_TEST(all.arrays().time[w] == one.arrays().time[w]);
    BOOST_TEST(worst[w] <= 1e-8);
    contacts += all.arrays().contacts[w];
  }
  BOOST_TEST(contacts > kWorlds / 2);
  BOOST_TEST(*std::max_element(worst.begin(), worst.end()) > 0.0);
}

// The caller's interrupt ends a call on all threads, at whole steps.
BOOST_AUTO_TEST_CASE(an_interrupt_ends_the_call) {
  for (const bool lanes : {true, false}) {
    const Scene scene = solo();
    Batch batch(scene, 12, {}, {.threads = 3, .width = 1, .lanes = lanes});
    int asked = 0;
    batch.set_interrupt({[](void* count) { return ++*static_cast<int*>(count) > 20; }, &asked});
    BOOST_TEST(!batch.step(1 << 28));
    for (int w = 0; w < 12; ++w) {
      const double steps = batch.arrays().time[w] / 1e-3;
      BOOST_TEST(std::abs(steps - std::round(steps)) < 1e-6 * (1.0 + steps));
    }
    batch.set_interrupt({});
    BOOST_TEST(batch.step(2));
  }
}

BOOST_AUTO_TEST_SUITE_END()
