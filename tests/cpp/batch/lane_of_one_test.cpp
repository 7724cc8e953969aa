#include "simulator/lanes/lane_of_one.hpp"

#include "stiction/simulator/simulator.hpp"

#include "gripper.hpp"
#include "scenes/scenes.hpp"
#include "whole_course.hpp"
#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <memory>
#include <utility>

using namespace stiction;
using namespace stiction::test;

// A Simulator may take a step on lanes of width 1 or by its own course, whose record is then at
// hand: nothing tells which it was.

namespace {

bool same_reports(const StepReport& a, const StepReport& b) {
  const Residuals &x = a.residuals, &y = b.residuals;
  return x.primal == y.primal && x.dual == y.dual && x.complementarity == y.complementarity &&
         x.relative == y.relative && x.backward == y.backward && a.iterations == b.iterations &&
         a.factorisations == b.factorisations && a.work == b.work && a.tolerance == b.tolerance &&
         a.num_contacts == b.num_contacts && a.num_rows == b.num_rows &&
         a.num_islands == b.num_islands && a.penetration == b.penetration && a.creep == b.creep &&
         a.kinetic_energy == b.kinetic_energy && a.potential_energy == b.potential_energy &&
         a.elastic_energy == b.elastic_energy && a.recovery_energy == b.recovery_energy &&
         a.safe_islands == b.safe_islands;
}

Scene bouncing_scene(Rng& rng) {
  Scene scene = lane_scene(rng);
  for (Material& m : scene.parameters.material) m.restitution = rng.uniform(0.0, 1.0);
  return scene;
}

struct Tally {
  int steps = 0, lanes = 0, contacts = 0, rows = 0, penetrating = 0, creeping = 0, recovering = 0;
};

void compare(Scene (*make)(Rng&), int trial, Tally& tally) {
  Rng rng(4100 + trial);
  const Scene scene = make(rng);
  const SimulatorSettings settings;
  LaneOfOne lane(scene, settings);
  WholeCourse whole(scene);
  State state = whole.sim.initial_state("default");
  state.v = random_vector(rng, scene.nv()) * 0.3;
  Parameters p = scene.parameters;
  for (int k = 0; k < 30; ++k) {
    if (k % 10 == 0) {
      const std::uint64_t version = p.version;
      p = varied(rng, scene);
      p.version = version + 1;
      whole.sim.parameters() = p;
    }
    const Control control = random_control(rng, scene, 0.5);
    const State before = state;
    State alone = state;
    StepReport report;
    const bool on_lanes = lane.step({scene, p, settings, control, before}, alone, report);
    const StepReport& expected = whole.step(state, control);
    ++tally.steps;
    if (!on_lanes) {
      BOOST_TEST(same_bits(alone, before));
      continue;
    }
    ++tally.lanes;
    BOOST_TEST(same_bits(alone, state), "trial " << trial << " step " << k);
    BOOST_TEST(alone.contacts.size() == state.contacts.size());
    BOOST_TEST(alone.time == state.time);
    BOOST_TEST(same_reports(report, expected), "trial " << trial << " step " << k);
    tally.contacts += report.num_contacts;
    tally.rows += report.num_rows;
    tally.penetrating += report.penetration > 0.0;
    tally.creeping += report.creep > 0.0;
    tally.recovering += report.recovery_energy != 0.0;
  }
}

}  // namespace

BOOST_AUTO_TEST_SUITE(lane_of_one_test)

BOOST_AUTO_TEST_CASE(a_world_alone_steps_and_tells_as_the_whole_course_does) {
  for (const auto make : {lane_scene, found_scene, bouncing_scene, random_gripper}) {
    Tally t;
    for (int trial = 0; trial < 60; ++trial) compare(make, trial, t);
    BOOST_TEST_MESSAGE(t.lanes << " of " << t.steps << ", " << t.contacts << " contacts, "
                               << t.penetrating << " penetrating, " << t.creeping << " creeping, "
                               << t.recovering << " recovering");
    BOOST_TEST(t.lanes > t.steps / 2);
    BOOST_TEST(t.contacts > t.lanes / 2);
    BOOST_TEST(t.rows > 3 * t.contacts);
    BOOST_TEST(t.penetrating > 50);
    BOOST_TEST(t.creeping > 3);  // most stick to rounding
    BOOST_TEST(t.recovering > 50);
  }
}

// What is asked of a step afterwards is what its own course had: contacts, record, problem.
BOOST_AUTO_TEST_CASE(what_is_asked_afterwards_is_of_that_step) {
  const Scene scene = make_scene("solo12");
  Simulator sim(scene);
  WholeCourse whole(scene);
  State state = sim.initial_state("standing"), expected = state;
  const Control control = sim.hold("standing");
  for (int k = 0; k < 300; ++k) {
    if (k == 150) {
      for (Simulator* s : {&sim, &whole.sim}) s->parameters().material[0].friction = 0.3;
    }
    const StepReport report = sim.step(state, control);
    BOOST_TEST(same_reports(report, whole.step(expected, control)));
    BOOST_REQUIRE(same_bits(state, expected));
    if (k % 50 != 49) continue;
    sim.parameters().material[0].friction *= 1.0;
    BOOST_TEST(sim.problem().g == whole.sim.problem().g, boost::test_tools::per_element());
    BOOST_TEST(sim.solution().impulse == whole.sim.solution().impulse,
               boost::test_tools::per_element());
    BOOST_TEST(sim.warm_start() == whole.sim.warm_start(), boost::test_tools::per_element());
    const std::vector<ContactReport> a = sim.contacts(), b = whole.sim.contacts();
    BOOST_REQUIRE(a.size() == b.size());
    BOOST_TEST(a.size() == 4u);
    for (std::size_t i = 0; i < a.size(); ++i)
      BOOST_TEST(norm(a[i].force_on_b_world - b[i].force_on_b_world) == 0.0);
    BOOST_TEST(same_reports(sim.report(), report));
    BOOST_TEST(sim.record().dv == whole.sim.record().dv, boost::test_tools::per_element());
  }
}

// A Simulator that has moved goes on as if it had stayed, where points are found too.
BOOST_AUTO_TEST_CASE(a_simulator_may_move) {
  for (int trial = 0; trial < 10; ++trial) {
    Rng rng(5200 + trial);
    const Scene scene = found_scene(rng);
    Simulator stays(scene);
    auto first = std::make_unique<Simulator>(scene);
    State state = stays.initial_state("default"), other = state;
    for (int k = 0; k < 5; ++k) {
      stays.step(state, {});
      first->step(other, {});
    }
    Simulator moved = std::move(*first);
    first.reset();
    for (int k = 0; k < 20; ++k) {
      stays.step(state, {});
      moved.step(other, {});
      BOOST_TEST(same_bits(state, other));
    }
    BOOST_TEST(stays.contacts().size() == moved.contacts().size());
  }
}

// Contacts asked for later are of the step, though a caller wants to end early by then or another
// call has looked at parameters that were edited since.
BOOST_AUTO_TEST_CASE(what_happens_after_a_step_does_not_change_it) {
  const Scene scene = make_scene("solo12");
  for (const bool edited : {false, true}) {
    Simulator sim(scene);
    WholeCourse whole(scene);
    State state = sim.initial_state("standing"), expected = state;
    const Control control = sim.hold("standing");
    for (int k = 0; k < 100; ++k) {
      sim.step(state, control);
      whole.step(expected, control);
    }
    if (edited) {
      for (Material& m : sim.parameters().material) m.friction = 0.01;
      for (double& m : sim.parameters().mass) m *= 2.0;
      sim.inverse_contact_dynamics(state, control, state.v);
    } else {
      sim.set_interrupt({[](void*) { return true; }, nullptr});
    }
    const std::vector<ContactReport> a = sim.contacts(), b = whole.sim.contacts();
    BOOST_TEST_REQUIRE(a.size() == b.size());
    BOOST_TEST(a.size() == 4u);
    for (std::size_t i = 0; i < a.size(); ++i) {
      BOOST_TEST(norm(a[i].force_on_b_world - b[i].force_on_b_world) == 0.0);
      BOOST_TEST(a[i].friction == b[i].friction);
    }
    BOOST_TEST(sim.solution().impulse == whole.sim.solution().impulse,
               boost::test_tools::per_element());
  }
}

// A pair that remembers more impulses than it has places on lanes keeps its world from them, since
// the next contacts may be those without a place.
BOOST_AUTO_TEST_CASE(no_impulse_is_lost_for_want_of_a_place) {
  int crowded = 0;
  for (int trial = 0; trial < 40 && crowded < 5; ++trial) {
    Rng rng(6100 + trial);
    const Scene scene = found_scene(rng);
    const SimulatorSettings settings;
    LaneOfOne lane(scene, settings);
    LaneBatch batch(scene, settings, 3);
    Simulator sim(scene);
    State state = sim.initial_state("default");
    for (int k = 0; k < 5; ++k) sim.step(state, {});
    const auto is_plane = [](const Geometry& g) { return g.shape.type == ShapeType::kHalfSpace; };
    const auto& all = scene.geometries();
    if (std::any_of(all.begin(), all.end(), is_plane)) continue;  // pairs with slots of their own
    if (state.contacts.empty()) continue;
    ++crowded;
    const ContactMemory last = state.contacts.back();
    for (std::uint32_t k = 1; k <= 9; ++k) {
      state.contacts.push_back(last);
      state.contacts.back().feature = last.feature + k;
    }
    State alone = state, expected = state, left;
    StepReport report;
    BOOST_TEST(!lane.step({scene, scene.parameters, settings, {}, state}, alone, report));
    BOOST_TEST(same_bits(alone, state));
    batch.set_state(1, state);
    batch.set_control(1, sim.hold());
    batch.step();
    sim.step(expected, sim.hold());
    batch.get_state(1, left);
    BOOST_TEST((batch.report(1).exit == LaneExit::kPair));
    BOOST_TEST((batch.report(0).exit != LaneExit::kHeld));
    BOOST_TEST(same_bits(left, expected));
    BOOST_TEST(!batch.held(1));
    batch.step();
    BOOST_TEST((batch.report(1).exit != LaneExit::kHeld));
  }
  BOOST_TEST(crowded == 5);
}

BOOST_AUTO_TEST_SUITE_END()
