#include "stiction/simulator/simulator.hpp"

#include "support/allocation_guard.hpp"
#include <boost/test/unit_test.hpp>

#include <cmath>

using namespace stiction;
using stiction::test::allocation_count;

namespace {

Scene pile(const Material& ground = {0.6}) {
  Scene scene;
  scene.add_ground(ground);
  const std::vector<Vec3d> points{
      {0.1, 0, 0}, {-0.1, 0.02, 0}, {0, 0.1, 0}, {0, -0.1, 0.01}, {0, 0, 0.1}, {0.01, 0, -0.1}};
  for (int i = 0; i < 3; ++i) {
    const Transform X{Mat3d::identity(), {0.02 * i, 0, 0.12 + 0.25 * i}};
    scene.add_body("mesh" + std::to_string(i), Shape::convex_mesh(points), 0.5, X, {0.6});
  }
  scene.add_body(
      "box", Shape::box({0.1, 0.1, 0.1}), 1.0, {Mat3d::identity(), {0.5, 0, 0.1}}, {0.6});
  scene.add_body(
      "capsule", Shape::capsule(0.05, 0.1), 1.0, {Mat3d::identity(), {-0.5, 0, 0.16}}, {0.6});
  return scene;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(allocation_test)

// The guard itself sees an allocation.
BOOST_AUTO_TEST_CASE(guard_counts) {
  const long before = allocation_count();
  std::vector<double> x(100);
  BOOST_TEST(allocation_count() > before);
}

// A warm step allocates nothing: boxes, a capsule and meshes at rest in one scene.
BOOST_AUTO_TEST_CASE(warm_step_allocates_nothing) {
  Simulator sim(pile(), {});
  State state = sim.initial_state();
  const Control control = sim.hold();
  for (int k = 0; k < 2000; ++k) sim.step(state, control);
  BOOST_TEST(sim.report().num_contacts > 4);
  const long before = allocation_count();
  for (int k = 0; k < 500; ++k) sim.step(state, control);
  BOOST_TEST(allocation_count() == before);
}

// Nor do springs in the tangent plane.
BOOST_AUTO_TEST_CASE(tangential_springs_allocate_nothing) {
  SimulatorSettings settings;
  settings.contact.tangential_compliance = true;
  Simulator sim(pile({0.6, 0.0, 2e4, 100.0}), settings);
  State state = sim.initial_state();
  const Control control = sim.hold();
  for (int k = 0; k < 2000; ++k) sim.step(state, control);
  double extension = 0.0;
  for (const ContactMemory& c : state.contacts) extension += norm(c.extension);
  BOOST_TEST(extension > 0.0);
  const long before = allocation_count();
  for (int k = 0; k < 500; ++k) sim.step(state, control);
  BOOST_TEST(allocation_count() == before);
}

// Nor does falling asleep, sleeping and waking.
BOOST_AUTO_TEST_CASE(sleep_allocates_nothing) {
  SimulatorSettings settings;
  settings.sleeping.enabled = true;
  settings.sleeping.time = 0.05;
  Simulator sim(pile(), settings);
  State state = sim.initial_state();
  sim.run(state, sim.hold(), 2000);
  const auto nap = [&] {
    Control control = sim.hold();
    control.wrenches.reserve(1);
    int asleep = 0;
    const long before = allocation_count();
    for (int k = 0; k < 600; ++k) {
      control.wrenches.clear();
      if (k % 300 == 100) control.wrenches.push_back({3, {0, 0, 0.1}, {0, 0, 0}});
      asleep += sim.step(state, control).num_asleep;
    }
    BOOST_TEST(allocation_count() == before);
    BOOST_TEST((asleep > 100 && asleep < 600 * 5));
  };
  nap();
}

// Nor do closed loops, of links, loose bodies or both.
BOOST_AUTO_TEST_CASE(closed_loops_allocate_nothing) {
  Scene scene = pile();
  const Transform a{Mat3d::identity(), {3, 0, 1}}, b{Mat3d::identity(), {3.4, 0, 1}};
  const int first = scene.add_body("first", Shape::sphere(0.1), 1.0, a);
  const int second = scene.add_body("second", Shape::sphere(0.1), 1.0, b);
  scene.add_point_closure("pin", -1, {2.8, 0, 1}, first, {-0.2, 0, 0});
  scene.add_point_closure("joint", first, {0.2, 0, 0}, second, {-0.2, 0, 0});
  SimulatorSettings settings;
  settings.project_closures = true;
  Simulator sim(scene, settings);
  State state = sim.initial_state();
  const Control control = sim.hold();
  for (int k = 0; k < 2000; ++k) sim.step(state, control);
  const long before = allocation_count();
  for (int k = 0; k < 500; ++k) sim.step(state, control);
  BOOST_TEST(allocation_count() == before);
}

// Nor does the way back through a rollout, nor the next rollout onto the same tape beside its log.
BOOST_AUTO_TEST_CASE(warm_adjoint_allocates_nothing) {
  Simulator sim(pile(), {});
  State state = sim.initial_state();
  const Control control = sim.hold();
  sim.run(state, control, 500);
  RolloutInput input;
  input.steps = 60;
  RolloutTape tape;
  sim.rollout(state, control, input, &tape);
  RolloutCotangents by;
  by.states.setOnes(1, 2 * sim.scene().nv());
  for (int k = 0; k < 2; ++k) sim.adjoint(tape, by);
  const long before = allocation_count();
  const RolloutGradient& g = sim.adjoint(tape, by);
  BOOST_TEST(allocation_count() == before);
  BOOST_TEST(g.taus.allFinite());
  BOOST_TEST(!g.taus.isZero(0.0));
}

// A ball that rolls for 100 s allocates nothing and keeps its speed.
BOOST_AUTO_TEST_CASE(long_run_does_not_grow) {
  Scene scene;
  scene.add_ground({0.5});
  scene.add_body("ball", Shape::sphere(0.05), 0.4, {Mat3d::identity(), {0, 0, 0.05}}, {0.5});
  Simulator sim(scene, {});
  State state = sim.initial_state();
  state.v[0] = 0.5;
  state.v[4] = 10.0;
  const Control none;
  sim.run(state, none, 100);
  const long before = allocation_count();
  const std::size_t contacts = state.contacts.size(), queries = state.queries.size();
  sim.run(state, none, 100000);
  BOOST_TEST(allocation_count() == before);
  BOOST_TEST(state.contacts.size() == contacts);
  BOOST_TEST(state.queries.size() == queries);
  BOOST_TEST(std::abs(state.q[0] - 0.5 * 100.1) < 1e-4);
}

BOOST_AUTO_TEST_SUITE_END()
