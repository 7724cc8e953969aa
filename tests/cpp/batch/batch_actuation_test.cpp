#include "batch_sample.hpp"
#include "math/elementary.hpp"
#include "scenes/scenes.hpp"
#include "support/allocation_guard.hpp"
#include <boost/test/unit_test.hpp>

#include <cmath>
#include <limits>

using namespace stiction;
using namespace stiction::test;

// Delays and motors of a batch against a batch without, to which the commands are given as the
// formulas pass them on.

namespace {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
constexpr double kDt = 1e-3;
constexpr int kLongest = 6;

Scene servoed(const std::string& name = "solo12") {
  Scene scene = make_scene(name);
  for (int k = 0; k < scene.nv(); ++k) {
    if (scene.takes_servo(k)) scene.set_gains(k, 20.0, 0.3);
  }
  return scene;
}

/// What a world was given, by its number alone: every fourth has neither delays nor motors.
struct Drive {
  std::vector<double> delay, time;

  Drive(int number, int nv) : delay(nv, 0.0), time(nv, 0.0) {
    Rng rng(50 + number);
    if (number % 4 == 0) return;
    for (int k = 0; k < nv; ++k) {
      if (number % 4 != 1) delay[k] = rng.below(kLongest + 1);
      if (number % 4 != 2) time[k] = rng.below(3) * 0.004;
    }
  }
};

void assign_drives(Batch& batch, int first) {
  const int nv = batch.scene().nv();
  std::vector<double> delay, time;
  for (int w = 0; w < batch.worlds(); ++w) {
    const Drive drive(first + w, nv);
    delay.insert(delay.end(), drive.delay.begin(), drive.delay.end());
    time.insert(time.end(), drive.time.begin(), drive.time.end());
  }
  batch.assign(WorldField::kCommandDelay, delay.data());
  batch.assign(WorldField::kMotorTime, time.data());
}

/// New commands of world `number` for period `period`.
void command(Batch& batch, int at, int number, int period) {
  Rng rng(100 * number + period);
  const int nv = batch.scene().nv();
  const BatchArrays& rows = batch.arrays();
  const std::vector<double> start = batch.scene().dof_positions(batch.scene().default_q());
  for (int k = 0; k < nv; ++k) {
    rows.torque[at * nv + k] = rng.uniform(-0.1, 0.1);
    rows.position_target[at * nv + k] = start[k] + rng.uniform(-0.3, 0.3);
    rows.velocity_target[at * nv + k] = rng.uniform(-0.1, 0.1);
  }
}

/// A world's commands, passed on one dof at a time.
class ByHand {
 public:
  ByHand(const Drive& drive, std::vector<double> now)
      : drive_(drive), y_(now), past_(kLongest + 1, std::move(now)) {}

  const std::vector<double>& step(const std::vector<double>& now) {
    past_.insert(past_.begin(), now);
    const std::size_t nv = drive_.delay.size();
    for (std::size_t i = 0; i < y_.size(); ++i) {
      const double u = past_[static_cast<int>(drive_.delay[i % nv])][i], T = drive_.time[i % nv];
      y_[i] = T > 0.0 ? y_[i] + (1.0 - exponential(-kDt / T)) * (u - y_[i]) : u;
    }
    return y_;
  }

 private:
  Drive drive_;
  std::vector<double> y_;
  std::vector<std::vector<double>> past_;
};

std::vector<double> rows_of(Batch& batch, int world) {
  std::vector<double> out;
  const int nv = batch.scene().nv();
  for (const double* x :
       {batch.arrays().torque, batch.arrays().position_target, batch.arrays().velocity_target})
    out.insert(out.end(), x + world * nv, x + (world + 1) * nv);
  return out;
}

void write_rows(Batch& batch, int world, const std::vector<double>& x) {
  const int nv = batch.scene().nv();
  double* const to[] = {
      batch.arrays().torque, batch.arrays().position_target, batch.arrays().velocity_target};
  for (int group = 0; group < 3; ++group)
    std::copy_n(x.begin() + group * nv, nv, to[group] + world * nv);
}

/// Where worlds first, first + 1, ... are after `periods` of `steps`, driven by hand in a batch
/// whose commands have no way to go.
std::vector<State> by_hand(
    const Scene& scene, bool lanes, int first, int worlds, int periods, int steps) {
  std::vector<State> out;
  for (int w = first; w < first + worlds; ++w) {
    Batch batch(scene, 1, {}, {.width = 1, .lanes = lanes});
    put(batch, 0, world_input(scene, w, "default"), w % 3 != 0);
    ByHand hand(Drive(w, scene.nv()), rows_of(batch, 0));
    for (int period = 0; period < periods; ++period) {
      command(batch, 0, w, period);
      const std::vector<double> now = rows_of(batch, 0);
      for (int k = 0; k < steps; ++k) {
        write_rows(batch, 0, hand.step(now));
        BOOST_REQUIRE(batch.step());
      }
    }
    out.push_back(batch.state(0));
  }
  return out;
}

/// The same worlds in a batch with delays and motors, `substeps` a call.
void drive(Batch& batch, int first, int periods, int steps, int substeps) {
  fill(batch, first);
  assign_drives(batch, first);
  for (int period = 0; period < periods; ++period) {
    for (int w = 0; w < batch.worlds(); ++w) command(batch, w, first + w, period);
    for (int k = 0; k < steps; k += substeps) BOOST_REQUIRE(batch.step(substeps));
  }
}

}  // namespace

BOOST_AUTO_TEST_SUITE(batch_actuation_test)

// Any number of worlds, place, width, threads and sub-steps, on lanes and not; solo12 with its
// steps outside of lanes, a robot beside loose bodies.
BOOST_AUTO_TEST_CASE(commands_take_the_course_of_the_formulas) {
  struct Arrangement {
    int worlds, first, width, threads, substeps;
  };
  constexpr int kPeriods = 5, kSteps = 12, kWorlds = 20;
  for (const char* name : {"solo12", "allegro-ball"}) {
    const Scene scene = servoed(name);
    for (const bool lanes : {true, false}) {
      if (lanes && std::string(name) != "solo12") continue;
      const std::vector<State> expected = by_hand(scene, lanes, 0, kWorlds, kPeriods, kSteps);
      for (const Arrangement& a : {Arrangement{1, 3, 1, 1, 1},
                                   {7, 2, 0, 1, 3},
                                   {kWorlds, 0, 2, 4, 12},
                                   {kWorlds, 0, 0, 3, 4}}) {
        Batch batch(scene, a.worlds, {}, {.threads = a.threads, .width = a.width, .lanes = lanes});
        BOOST_TEST(batch.why_not_lanes().empty() == lanes);
        drive(batch, a.first, kPeriods, kSteps, a.substeps);
        BOOST_TEST(differing(batch, expected, a.first) == 0,
                   name << ": " << a.worlds << " worlds, width " << a.width << ", " << a.threads
                        << " threads, lanes " << lanes);
      }
    }
  }
}

// A Simulator takes steps that leave the lanes with what the motors pass on.
BOOST_AUTO_TEST_CASE(steps_outside_of_lanes_have_the_same_commands) {
  Scene scene = servoed();
  for (Material& m : scene.parameters.material) m.restitution = 0.9;
  Batch batch(scene, 7);
  BOOST_TEST(batch.why_not_lanes() == "");
  drive(batch, 0, 1, 240, 8);
  BOOST_TEST(differing(batch, by_hand(scene, true, 0, 7, 1, 240), 0) == 0);
  Batch counted(scene, 7);
  drive(counted, 0, 1, 240, 240);
  int left = 0;
  for (int w = 0; w < 7; ++w) left += counted.arrays().scalar_steps[w];
  BOOST_TEST(left > 0);
}

// Zeros are none, and worlds beside those with motors have the bits of worlds alone.
BOOST_AUTO_TEST_CASE(nothing_changes_where_there_is_nothing) {
  const Scene scene = servoed();
  for (const bool lanes : {true, false}) {
    Batch plain(scene, 9, {}, {.lanes = lanes}), other(scene, 9, {}, {.lanes = lanes});
    fill(plain, 0);
    fill(other, 0);
    std::vector<double> some(9 * scene.nv(), 0.0), back(some.size(), kNaN);
    std::fill_n(some.begin() + 4 * scene.nv(), scene.nv(), 3.0);
    other.assign(WorldField::kCommandDelay, some.data());
    other.read(WorldField::kCommandDelay, back.data());
    BOOST_TEST(back == some);
    other.read(WorldField::kMotorTime, back.data());
    BOOST_TEST(*std::max_element(back.begin(), back.end()) == 0.0);
    BOOST_TEST(other.command_depth(4) == 3);
    BOOST_TEST(other.command_depth(5) == 0);
    for (Batch* batch : {&plain, &other}) {
      for (int k = 0; k < 6; ++k) {
        for (int w = 0; w < 9; ++w) command(*batch, w, w, k);
        batch->step(10);
      }
    }
    for (int w = 0; w < 9; ++w)
      BOOST_TEST(same_world(plain.state(w), other.state(w)) == (w != 4), "world " << w);
    std::fill(some.begin(), some.end(), 0.0);  // turned off, it goes on as one without
    other.assign(WorldField::kCommandDelay, some.data());
    BOOST_TEST(other.command_depth(4) == 0);
    plain.set_state(4, other.state(4));
    plain.step(10);
    other.step(10);
    for (int w = 0; w < 9; ++w) BOOST_TEST(same_world(plain.state(w), other.state(w)));
  }
}

// Masked worlds wait with their commands; a reset world is as a new one; copies go on alike.
BOOST_AUTO_TEST_CASE(what_is_remembered_belongs_to_the_world) {
  const Scene scene = servoed();
  constexpr int kWorlds = 10;
  for (const bool lanes : {true, false}) {
    const BatchOptions options{.threads = 2, .lanes = lanes};
    Batch batch(scene, kWorlds, {}, options), whole(scene, kWorlds, {}, options);
    drive(batch, 0, 2, 8, 4);
    drive(whole, 0, 2, 8, 4);
    std::vector<std::uint8_t> mask(kWorlds, 1);
    mask[3] = mask[6] = 0;
    for (int w = 0; w < kWorlds; ++w) {
      command(batch, w, w, 2);
      command(whole, w, w, 2);
    }
    batch.step(5, mask.data());
    for (std::uint8_t& m : mask) m = 1 - m;
    batch.step(5, mask.data());
    whole.step(5);
    for (int w = 0; w < kWorlds; ++w) BOOST_TEST(same_world(batch.state(w), whole.state(w)));

    const State kept = batch.state(7);
    std::vector<double> commands(3 * scene.nv() * (1 + batch.command_depth(7)));
    batch.commands(7, commands.data());
    batch.step(5);
    const State later = batch.state(7);
    batch.set_state(7, kept);
    batch.step(5);
    BOOST_TEST(!same_world(batch.state(7), later));  // it had forgotten
    batch.set_state(7, kept);
    batch.set_commands(7, commands.data());
    batch.step(5);
    BOOST_TEST(same_world(batch.state(7), later));

    Batch fresh(scene, kWorlds, {}, options);
    fill(fresh, 0);
    for (int w = 0; w < kWorlds; ++w) command(fresh, w, w, 2);
    assign_drives(fresh, 0);
    fresh.reset();
    batch.reset();
    for (Batch* b : {&fresh, &batch}) {
      for (int w = 0; w < kWorlds; ++w) command(*b, w, w, 3);
      b->step(20);
    }
    for (int w = 0; w < kWorlds; ++w) BOOST_TEST(same_world(batch.state(w), fresh.state(w)));
  }
}

// control() is what the next step is taken with, and looking at it changes nothing.
BOOST_AUTO_TEST_CASE(control_looks_ahead) {
  const Scene scene = servoed();
  Batch batch(scene, 4, {}, {.lanes = false});
  drive(batch, 0, 2, 8, 4);
  for (int w = 0; w < 4; ++w) {
    Simulator sim(scene);
    sim.parameters() = batch.parameters(w);
    State state = batch.state(w);
    const Control control = batch.control(w);
    BOOST_TEST((control.position_target == batch.control(w).position_target));
    sim.step(state, control);
    batch.step();
    BOOST_TEST(same_world(batch.state(w), state), "world " << w);
  }
}

// A longer delay goes on from the oldest command known, a shorter one from those it still has.
BOOST_AUTO_TEST_CASE(delays_may_change_on_the_way) {
  const Scene scene = servoed();
  const int nv = scene.nv();
  Batch batch(scene, 1);
  const auto delay = [&](double steps) {
    batch.assign(WorldField::kCommandDelay, std::vector<double>(nv, steps).data());
  };
  const auto target = [&](double x) { batch.arrays().position_target[nv - 1] = x; };
  const auto got = [&] { return batch.control(0).position_target[nv - 1]; };
  target(0.1);
  delay(2);
  for (const double x : {0.2, 0.3, 0.4}) {  // the steps before have 0.1, 0.1, 0.2
    target(x);
    batch.step();
  }
  target(0.5);
  BOOST_TEST(got() == 0.3);
  delay(4);
  BOOST_TEST(got() == 0.3);
  batch.step();
  BOOST_TEST(got() == 0.3);
  batch.step();
  BOOST_TEST(got() == 0.3);
  batch.step();
  BOOST_TEST(got() == 0.4);
  delay(1);
  BOOST_TEST(got() == 0.5);
  delay(0);
  target(0.6);
  BOOST_TEST(got() == 0.6);
}

BOOST_AUTO_TEST_CASE(warm_steps_allocate_nothing) {
  for (const char* name : {"solo12", "allegro-ball"}) {
    const Scene scene = servoed(name);
    Batch batch(scene, 12, {}, {.threads = 2});
    drive(batch, 0, 2, 12, 4);
    batch.reset();
    for (int k = 0; k < 20; ++k) batch.step(5);
    batch.reset();
    const long before = allocation_count();
    for (int k = 0; k < 20; ++k) batch.step(5);
    BOOST_TEST(allocation_count() == before, name);
  }
}

BOOST_AUTO_TEST_CASE(wrong_numbers_are_named) {
  const Scene scene = servoed();
  Batch batch(scene, 3);
  const auto refused = [&](WorldField field, double x, std::vector<std::string> words) {
    std::vector<double> values(3 * scene.nv(), 1.0);
    values[2 * scene.nv() + 7] = x;
    BOOST_CHECK_EXCEPTION(batch.assign(field, values.data()), std::invalid_argument, says(words));
  };
  refused(WorldField::kCommandDelay, 1.5, {"world 2", "command_delay[7] = 1.5", "whole number"});
  refused(WorldField::kCommandDelay, -1.0, {"world 2", "command_delay[7] = -1"});
  refused(WorldField::kCommandDelay, 10001.0, {"[0, 10000]"});
  refused(WorldField::kCommandDelay, kNaN, {"command_delay[7] = nan"});
  refused(WorldField::kMotorTime, -0.1, {"world 2", "motor_time[7] = -0.1", "finite [s]"});
  refused(WorldField::kMotorTime, kInfinity, {"motor_time[7]"});
  BOOST_TEST(batch.command_depth(0) == 0);  // nothing was assigned
  assign_drives(batch, 1);
  std::vector<double> commands(3 * scene.nv() * (1 + batch.command_depth(1)), 0.0);
  commands[3 * scene.nv() + scene.nv() + 4] = kNaN;
  BOOST_CHECK_EXCEPTION(
      batch.set_commands(1, commands.data()), std::invalid_argument, says({"commands[1, 1, 4]"}));
}

BOOST_AUTO_TEST_SUITE_END()
