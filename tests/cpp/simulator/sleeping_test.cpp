#include "stiction/model/state_io.hpp"
#include "stiction/simulator/simulator.hpp"

#include "support/random.hpp"
#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <cmath>
#include <functional>
#include <string>
#include <vector>

using namespace stiction;
using stiction::test::Rng;

namespace {

constexpr double kHalf = 0.1;

Transform at(double x, double y, double z) { return {Mat3d::identity(), {x, y, z}}; }

SimulatorSettings settings(bool sleeping) {
  SimulatorSettings s;
  s.solver.tolerance = 1e-10;
  s.sleeping.enabled = sleeping;
  s.sleeping.time = 0.05;
  return s;
}

void add_box(Scene& scene, const std::string& name, const Transform& X_W) {
  scene.add_body(name, Shape::box({kHalf, kHalf, kHalf}), 1.0, X_W, {0.5});
}

/// A stack of three (bodies 0 to 2), a box of its own (3).
Scene boxes() {
  Scene scene;
  scene.add_ground({0.5});
  for (int k = 0; k < 3; ++k)
    add_box(scene, "stack" + std::to_string(k), at(0, 0, kHalf * (2 * k + 1)));
  add_box(scene, "alone", at(2, 0, kHalf));
  return scene;
}

/// A hinge with dry friction (its own weight held by it), on a fixed base.
Robot hinge() {
  Robot robot;
  robot.name = "hinge";
  BodyDescription b;
  b.name = "arm";
  b.axis = {0, 1, 0};
  b.mass = 1.0;
  b.com = {0.1, 0, 0};
  b.inertia = {1e-3, 0, 1e-3, 0, 0, 1e-3};
  robot.bodies = {b};
  robot.dofs.resize(1);
  robot.dofs[0].dry_friction = 2.0;
  robot.neutral = {0.0};
  return robot;
}

/// Until everything sleeps.
State asleep(Simulator& sim, const Control& control = {}) {
  State state = sim.initial_state();
  const int trees = static_cast<int>(sim.scene().trees().size());
  for (int k = 0; k < 400 && sim.report().num_asleep < trees; ++k) sim.step(state, control);
  BOOST_REQUIRE(sim.report().num_asleep == trees);
  return state;
}

std::vector<int> ints(std::initializer_list<int> x) { return x; }

}  // namespace

BOOST_AUTO_TEST_SUITE(sleeping_test)

// What sleeps has no contacts, rows or queries of the narrow phase, and keeps its place; its weight
// is still there when it wakes.
BOOST_AUTO_TEST_CASE(what_sleeps_is_left_out_and_stays) {
  Simulator sim(boxes(), settings(true));
  State state = asleep(sim);
  const Eigen::VectorXd q = state.q;
  const std::vector<ContactMemory> impulses = state.contacts;
  BOOST_TEST(impulses.size() == 16u);
  for (int k = 0; k < 100; ++k) sim.step(state, {});
  BOOST_TEST(sim.report().num_contacts == 0);
  BOOST_TEST(sim.report().num_rows == 0);
  BOOST_TEST(sim.collision_counters().narrow_phase_calls == 0);
  BOOST_TEST((state.q == q && state.v.isZero(0.0)));
  BOOST_TEST((sim.asleep(state) == ints({0, 1, 2, 3})));
  BOOST_TEST(sim.report().kinetic_energy == 0.0);
  BOOST_TEST(std::abs(sim.report().potential_energy - 9.81 * (0.1 + 0.3 + 0.5 + 0.1)) < 1e-9);
  sim.wake(state);
  sim.step(state, {});
  BOOST_TEST(sim.report().num_contacts == 16);
  BOOST_TEST(sim.asleep(state).empty());
  for (std::size_t i = 0; i < impulses.size(); ++i)
    BOOST_TEST(std::abs(state.contacts[i].impulse_A.z - impulses[i].impulse_A.z) < 1e-9);
}

// Beside a stack that fell asleep, a box that is pushed about and a pendulum move bit for bit as
// without sleep: also one alone, and where it sleeps itself later, up to then.
BOOST_AUTO_TEST_CASE(the_awake_move_as_without_sleep) {
  for (const bool pendulum : {false, true}) {
    Scene scene = boxes();
    if (pendulum) {
      Robot robot = hinge();
      robot.dofs[0].dry_friction = 0.01;
      scene.add_robot(robot, at(5, 0, 1));
    }
    Simulator with(scene, settings(true)), without(scene, settings(false));
    State a = with.initial_state(), b = without.initial_state();
    int slept = 0;
    for (int k = 0; k < 1500; ++k) {
      Control control;
      const double angle = 0.01 * k;
      control.wrenches.push_back({3, {8.0 * std::cos(angle), 8.0 * std::sin(angle), 0}, {}});
      with.step(a, control);
      without.step(b, control);
      slept += with.report().num_asleep >= 3;
      BOOST_REQUIRE((a.q.tail(a.q.size() - 21) == b.q.tail(b.q.size() - 21)));
      BOOST_REQUIRE((a.v.tail(a.v.size() - 18) == b.v.tail(b.v.size() - 18)));
    }
    BOOST_TEST(slept > 1300);
    BOOST_TEST((with.asleep(a) == ints({0, 1, 2})));
    BOOST_TEST((without.asleep(b).empty() && b.rest.empty() && without.report().num_asleep == 0));
    BOOST_TEST((a.q.head(21) - b.q.head(21)).norm() < 1e-9);
  }
}

// A contact, a torque, a wrench, an edited q or v wake the whole island that they concern and no
// other.
BOOST_AUTO_TEST_CASE(what_happens_to_a_body_wakes_its_island) {
  struct Event {
    std::string name;
    std::function<void(State&, Control&)> happens;
  };
  const std::vector<Event> events = {
      {"torque", [](State&, Control& c) { c.torque = Eigen::VectorXd::Unit(24, 6) * 0.1; }},
      {"target", [](State&, Control& c) { c.velocity_target = Eigen::VectorXd::Unit(24, 6); }},
      {"wrench", [](State&, Control& c) { c.wrenches = {{1, {0.1, 0, 0}, {0, 0, 0}}}; }},
      {"moment", [](State&, Control& c) { c.wrenches = {{2, {0, 0, 0}, {0, 0, 0.1}}}; }},
      {"q", [](State& s, Control&) { s.q[7] += 1e-12; }},
      {"v", [](State& s, Control&) { s.v[12] = 1e-9; }}};
  for (const Event& event : events) {
    Simulator sim(boxes(), settings(true));
    State state = asleep(sim);
    Control control;
    event.happens(state, control);
    sim.step(state, control);
    BOOST_TEST_CONTEXT(event.name) {
      BOOST_TEST((sim.asleep(state) == ints({3})));
      BOOST_TEST(sim.report().num_contacts == 12);
    }
  }
  // Nothing happened: zero in words, wrenches of nothing.
  Simulator sim(boxes(), settings(true));
  State state = asleep(sim);
  Control control;
  control.torque = control.position_target = Eigen::VectorXd::Zero(24);
  control.wrenches = {{1, {0, 0, 0}, {0, 0, 0}}};
  sim.step(state, control);
  BOOST_TEST(sim.asleep(state).size() == 4u);
}

// A ball falls on the stack: it wakes when they touch, not before, and is hit as it would have been
// without sleep.
BOOST_AUTO_TEST_CASE(a_contact_wakes_the_island) {
  Scene scene = boxes();
  scene.add_body("ball", Shape::sphere(0.05), 0.5, at(0.02, 0.01, 3.0), {0.5});
  Simulator with(scene, settings(true)), without(scene, settings(false));
  State a = with.initial_state(), b = without.initial_state();
  bool touched = false, slept = false;
  for (int k = 0; k < 1000 && !touched; ++k) {
    with.step(a, {});
    without.step(b, {});
    slept = slept || with.asleep(a).size() == 4;
    for (const ContactReport& c : with.contacts()) touched = touched || c.body_b == 4;
    BOOST_TEST((with.asleep(a).size() == (slept ? (touched ? 1u : 4u) : 0u)));
    BOOST_REQUIRE((a.q.tail(7) - b.q.tail(7)).norm() < 1e-9);
    BOOST_REQUIRE((a.v.tail(6) - b.v.tail(6)).norm() < 1e-6);
  }
  BOOST_TEST((touched && slept));
  BOOST_TEST((with.asleep(a) == ints({3})));
  for (int k = 0; k < 3000; ++k) with.step(a, {});
  BOOST_TEST(with.asleep(a).size() >= 4u);  // and sleeps again
}

// Boxes and balls fall on sleepers one after the other, and some are knocked off again: nothing
// sinks or hangs in the air, and in the end all sleep.
BOOST_AUTO_TEST_CASE(a_growing_heap_wakes_and_sleeps) {
  constexpr int kBodies = 12;
  Rng rng(5);
  Scene scene;
  scene.add_ground({0.5});
  for (int k = 0; k < kBodies; ++k) {
    const double size = rng.uniform(0.03, 0.06);
    const Shape shape = k % 3 ? Shape::box({size, size, size}) : Shape::sphere(size);
    const Transform X_W = at(rng.uniform(-0.05, 0.05), rng.uniform(-0.05, 0.05), 1.0 + 1.0 * k);
    scene.add_body("body" + std::to_string(k), shape, rng.uniform(0.2, 2.0), X_W, {0.5});
  }
  Simulator sim(scene, settings(true));
  State state = sim.initial_state();
  int woken = 0, before = 0;
  double deepest = 0.0;
  for (int k = 0; k < 4000; ++k) {
    Control control;
    if (k % 500 == 499) control.wrenches.push_back({rng.below(kBodies), {60, 20, 30}, {0, 0, 0}});
    BOOST_REQUIRE((sim.step(state, control).status != StepStatus::kNotFinite));
    deepest = std::max(deepest, sim.report().penetration);
    const int now = static_cast<int>(sim.asleep(state).size());
    woken += now < before;
    before = now;
  }
  BOOST_TEST_MESSAGE("woken " << woken << " times, deepest " << deepest << " m, asleep " << before);
  BOOST_TEST(woken > 5);
  BOOST_TEST(deepest < 5e-3);  // bodies fall at up to 15 m/s
  // Awake, all of it is where it would rest: no weight hangs in the air.
  Simulator awake(scene, settings(false));
  const std::vector<int> resting = sim.asleep(state);
  State after = state;
  awake.run(after, {}, 200);
  for (const int body : resting) {
    BOOST_TEST_CONTEXT("body " << body)
    BOOST_TEST((after.q.segment(7 * body, 3) - state.q.segment(7 * body, 3)).norm() < 1e-3);
  }
  BOOST_TEST(resting.size() > 4u);
}

// A body in flight does not fall asleep at the top of its way, nor without gravity; nor do those
// that one restless neighbour holds awake.
BOOST_AUTO_TEST_CASE(what_moves_stays_awake) {
  Scene floating;
  floating.parameters.gravity = {0, 0, 0};
  add_box(floating, "box", at(0, 0, 1));
  Simulator still(floating, settings(true));
  State state = still.initial_state();
  for (int k = 0; k < 200; ++k) still.step(state, {});
  BOOST_TEST(still.asleep(state).empty());

  Simulator sim(boxes(), settings(true));
  State other = sim.initial_state();
  for (int k = 0; k < 500; ++k) {
    Control control;  // turns the top box to and fro, within friction's hold of the others
    control.wrenches.push_back({2, {0, 0, 0}, {0, 0, k % 2 ? 2.0 : -2.0}});
    sim.step(other, control);
  }
  BOOST_TEST((sim.asleep(other) == ints({3})));
}

// Impulses of joints are kept too, and control that holds still is no reason to wake.
BOOST_AUTO_TEST_CASE(joints_keep_their_impulses) {
  Scene scene;
  scene.add_robot(hinge());
  Control control;
  control.torque = Eigen::VectorXd::Constant(1, 0.3);
  Simulator sim(scene, settings(true));
  State state = asleep(sim, control);
  const std::vector<double> impulse = state.constraint_impulse;
  // Gravity turns it about +y with m g l; friction holds what the torque leaves.
  BOOST_TEST(std::abs(impulse[2] + (9.81 * 0.1 + 0.3) * 1e-3) < 1e-9);
  for (int k = 0; k < 10; ++k) sim.step(state, control);
  BOOST_TEST((state.constraint_impulse == impulse));
  BOOST_TEST(sim.report().num_rows == 0);
  control.torque[0] = 1.5;  // more than friction holds
  for (int k = 0; k < 10; ++k) sim.step(state, control);
  BOOST_TEST(sim.report().num_asleep == 0);
  BOOST_TEST(state.v[0] > 1e-3);
}

// Asleep or on the way to it, a saved state continues bit for bit in another simulator.
BOOST_AUTO_TEST_CASE(sleep_is_part_of_the_state) {
  Simulator sim(boxes(), settings(true));
  State state = sim.initial_state();
  for (const int steps : {30, 60}) {
    for (int k = 0; k < steps; ++k) sim.step(state, {});
    State again = restore_state(save_state(state));
    BOOST_TEST((again == state));
    Simulator other(boxes(), settings(true));
    State here = state;
    for (int k = 0; k < 60; ++k) {
      sim.step(here, {});
      other.step(again, {});
      BOOST_REQUIRE((again == here));
      BOOST_REQUIRE(sim.report().num_asleep == other.report().num_asleep);
      BOOST_REQUIRE(sim.report().potential_energy == other.report().potential_energy);
    }
  }
  BOOST_TEST(sim.asleep(state).size() == 4u);
  Simulator off(boxes(), settings(false));
  off.step(state, {});
  BOOST_TEST((state.rest.empty() && off.report().num_contacts == 16));
}

BOOST_AUTO_TEST_CASE(balance_leaves_out_what_sleeps) {
  Scene scene = boxes();
  scene.add_body("ball", Shape::sphere(0.05), 0.5, at(5, 0, 3), {0.5});
  Simulator sim(scene, settings(true));
  State state = sim.initial_state();
  for (int k = 0; k < 300; ++k) sim.step(state, {});
  BOOST_REQUIRE(sim.asleep(state).size() == 4u);
  const Balance b = sim.balance(state, {});
  BOOST_TEST(norm(b.linear_after - b.linear_before - b.linear_impulse) < 1e-12);
  BOOST_TEST(std::abs(b.linear_impulse.z + 0.5 * 9.81e-3) < 1e-12);
}

BOOST_AUTO_TEST_CASE(bad_settings_are_refused) {
  const auto refused = [](const std::string& field, auto&& edit) {
    SimulatorSettings s;
    edit(s);
    try {
      s.validate();
    } catch (const std::invalid_argument& e) {
      return std::string(e.what()).find(field) != std::string::npos;
    }
    return false;
  };
  BOOST_TEST(refused("sleep_speed", [](auto& s) { s.sleeping.speed = -1.0; }));
  BOOST_TEST(refused("sleep_time", [](auto& s) { s.sleeping.time = 0.0; }));
  BOOST_TEST(
      refused("project_closures", [](auto& s) { s.sleeping.enabled = s.project_closures = true; }));
  const Scene scene = boxes();
  State state = make_state(scene, scene.default_q());
  state.rest.resize(2);
  BOOST_CHECK_THROW(validate_state(scene, state), std::invalid_argument);
  state.rest.assign(4, {0.0, 7, 0});
  BOOST_CHECK_THROW(validate_state(scene, state), std::invalid_argument);
}

BOOST_AUTO_TEST_SUITE_END()
