#include "stiction/contact/residuals.hpp"
#include "stiction/integrator/step_report.hpp"

#include "integrator/step_record.hpp"
#include "lane_sample.hpp"
#include "scenes/scenes.hpp"
#include "support/random.hpp"
#include <boost/test/unit_test.hpp>

#include <cmath>

using namespace stiction;
using namespace stiction::test;

namespace {

/// Solo-12 as a learner drives it: soft servos, targets about its stance, new every 20 steps.
struct Policy {
  Scene scene = make_scene("solo12");
  double amplitude;
  std::vector<Rng> rng;

  Policy(int worlds, double amplitude) : amplitude(amplitude) {
    const bool hard = amplitude > 0.1;
    for (int k = 6; k < scene.nv(); ++k) scene.set_gains(k, hard ? 20.0 : 5.0, hard ? 0.3 : 0.1);
    for (int w = 0; w < worlds; ++w) rng.emplace_back(100 + w);
  }
  Control control(int world) {
    Simulator sim(scene);
    Control c = sim.hold("standing");
    for (int k = 6; k < scene.nv(); ++k)
      c.position_target[k] += amplitude * rng[world].uniform(-1.0, 1.0);
    return c;
  }
};

/// The certificate of the library for the impulses that a step left in `after`, in the problem of
/// the state before.
double certificate(Simulator& sim, State before, const Control& control, const State& after) {
  const State start = before;
  sim.prepare(before, control);
  const ContactProblem& problem = sim.problem();
  std::vector<double> lambda(problem.num_rows(), 0.0), c(problem.num_rows());
  Simulator look(sim.scene(), sim.settings());
  const std::vector<Transform> poses = look.body_poses(start);
  int row = 0;
  for (const ConstraintRow& set : sim.record().rows.rows) {
    if (set.source == RowSource::kContact) {
      const Contact& contact = sim.contact_set()[set.index];
      for (const ContactMemory& kept : after.contacts) {
        if (kept.pair != contact.pair || kept.feature != contact.feature) continue;
        const Mat3d R = contact.body_a < 0 ? Mat3d::identity() : poses[contact.body_a].R;
        const Vec3d l = transpose_times(contact.frame, R * kept.impulse_A);
        for (int r = 0; r < 3; ++r) lambda[row + r] = l[r];
      }
    } else {
      const int kind = static_cast<int>(set.source) - static_cast<int>(RowSource::kLowerLimit);
      const int block = set.source == RowSource::kDryFriction ? 2 : kind;
      lambda[row] = after.constraint_impulse[block * sim.scene().nv() + set.index];
    }
    row += set.set.dim;
  }
  return residuals(problem, lambda.data(), c.data()).relative;
}

/// Random robots of `make`, in lanes and beside it in a Simulator.
struct Comparison {
  std::int64_t exits[kLaneExits] = {};
  int steps = 0, lanes = 0, others = 0, rows = 0, loaded = 0, touching = 0;

  Comparison(Scene (*make)(Rng&), int trials) {
    for (int trial = 0; trial < trials; ++trial) compare(make, trial);
    for (int e = 0; e < kLaneExits; ++e) BOOST_TEST_MESSAGE("exit " << e << ": " << exits[e]);
  }
  void compare(Scene (*make)(Rng&), int trial);
};

void Comparison::compare(Scene (*make)(Rng&), int trial) {
  constexpr int kWorlds = 6, kSteps = 15;
  Rng rng(500 + trial);
  const Scene scene = make(rng);
  LaneBatch batch(scene, {}, kWorlds);
  Simulator sim(scene), probe(scene);
  std::vector<Control> control;
  std::vector<Parameters> parameters;
  State state;
  for (int w = 0; w < kWorlds; ++w) {
    parameters.push_back(varied(rng, scene));
    batch.set_parameters(w, parameters[w]);
    batch.get_state(w, state);
    state.v = random_vector(rng, scene.nv()) * 0.3;
    batch.set_state(w, state);
    control.push_back(random_control(rng, scene, 0.5));
    batch.set_control(w, control[w]);
  }
  for (int k = 0; k < kSteps; ++k) {
    std::vector<State> before(kWorlds);
    for (int w = 0; w < kWorlds; ++w) batch.get_state(w, before[w]);
    batch.step();
    for (int w = 0; w < kWorlds; ++w) {
      State after, expected = before[w];
      batch.get_state(w, after);
      sim.parameters() = probe.parameters() = parameters[w];
      const StepReport& report = sim.step(expected, control[w]);
      ++steps;
      if (batch.report(w).exit != LaneExit::kStepped) {
        BOOST_TEST(same_bits(after, expected));
        continue;
      }
      ++lanes;
      rows += report.num_rows;
      loaded += report.num_contacts;
      touching += report.num_contacts > 0;
      BOOST_TEST(batch.report(w).contacts == report.num_contacts);
      BOOST_TEST(certificate(probe, before[w], control[w], after) <= 1.0000001e-8);
      others += !same_bits(after, expected);
    }
  }
  for (int e = 0; e < kLaneExits; ++e) exits[e] += batch.counts()[e];
}

}  // namespace

BOOST_AUTO_TEST_SUITE(lane_step_test)

// Worlds with parameters, states and contacts of their own end with the same bits at every width,
// with any number of worlds beside them; a world that leaves the lanes does so at every width.
BOOST_AUTO_TEST_CASE(all_widths_give_the_same_bits) {
  BOOST_TEST_REQUIRE(lane_kernels().size() >= 2u);
  constexpr int kWorlds = 19, kSteps = 12;
  for (int trial = 0; trial < 24; ++trial) {
    std::vector<State> reference;
    std::array<std::int64_t, kLaneExits> counts{};
    for (const LaneKernel& kernel : lane_kernels()) {
      Rng rng(31 + trial);
      const Scene scene = trial < 12 ? lane_scene(rng) : found_scene(rng);
      BOOST_TEST_REQUIRE(why_not_lanes(scene, {}) == "");
      LaneBatch batch(scene, {}, kernel.width == 4 ? kWorlds + 5 : kWorlds, kernel.width);
      State state;
      for (int w = 0; w < kWorlds; ++w) {
        if (w % 3 != 0) batch.set_parameters(w, varied(rng, scene));
        batch.get_state(w, state);
        state.v = random_vector(rng, scene.nv()) * 0.3;
        batch.set_state(w, state);
        batch.set_control(w, random_control(rng, scene, 0.5));
      }
      batch.step(kSteps);
      for (int w = 0; w < kWorlds; ++w) {
        batch.get_state(w, state);
        if (kernel.width == 1)
          reference.push_back(state);
        else
          BOOST_TEST(same_bits(state, reference[w]),
                     "trial " << trial << " width " << kernel.width << " world " << w);
      }
      if (kernel.width == 1) counts = batch.counts();
      if (kernel.width == 2) BOOST_TEST(batch.counts() == counts, boost::test_tools::per_element());
    }
  }
}

// The comparison sees one last bit.
BOOST_AUTO_TEST_CASE(comparison_sees_the_last_bit) {
  State a;
  a.q = a.v = Eigen::VectorXd::Ones(3);
  State b = a;
  BOOST_TEST(same_bits(a, b));
  b.v[1] = std::nextafter(1.0, 2.0);
  BOOST_TEST(!same_bits(a, b));
}

// A step of Solo-12 on lanes is the step of a Simulator to the bit, and its impulses hold the
// library's own certificate, in contact, sliding, leaving and landing.
BOOST_AUTO_TEST_CASE(solo12_steps_as_its_simulator) {
  constexpr int kWorlds = 8, kSteps = 300;
  for (const double amplitude : {0.05, 0.4}) {
    Policy policy(kWorlds, amplitude);
    LaneBatch batch(policy.scene, {}, kWorlds);
    Simulator sim(policy.scene), probe(policy.scene);
    std::vector<Control> control(kWorlds);
    std::vector<State> before(kWorlds);
    for (int w = 0; w < kWorlds; ++w) batch.set_state(w, sim.initial_state("standing"));
    int contacts[5] = {}, sliding = 0, open = 0;
    for (int k = 0; k < kSteps; ++k) {
      for (int w = 0; w < kWorlds; ++w) {
        if (k % 20 == 0) control[w] = policy.control(w);
        if (k % 20 == 0) batch.set_control(w, control[w]);
        batch.get_state(w, before[w]);
      }
      batch.step();
      for (int w = 0; w < kWorlds; ++w) {
        State after, expected = before[w];
        batch.get_state(w, after);
        const StepReport& report = sim.step(expected, control[w]);
        BOOST_REQUIRE(report.status == StepStatus::kOk);
        BOOST_TEST(same_bits(after, expected),
                   "world " << w << " step " << k << ": " << difference(after, expected));
        BOOST_REQUIRE(batch.report(w).contacts == report.num_contacts);
        ++contacts[std::min(4, report.num_contacts)];
        for (const ContactReport& c : sim.contacts()) {
          sliding += c.sliding;
          open += c.impulse.z == 0.0;
        }
        if (batch.report(w).exit != LaneExit::kStepped || k % 5 != 0) continue;
        BOOST_TEST(certificate(probe, before[w], control[w], after) <= 1.0000001e-8);
        BOOST_TEST(batch.report(w).relative <= 1e-8);
      }
    }
    BOOST_TEST(batch.counts()[0] >= kWorlds * kSteps * 97 / 100);
    BOOST_TEST(contacts[4] > (amplitude < 0.1 ? 1000 : 20));
    if (amplitude < 0.1) continue;
    for (const int count : contacts) BOOST_TEST(count > 20);
    BOOST_TEST(sliding > 200);
    BOOST_TEST(open > 200);
  }
}

// The same of random robots with joint limits, dry friction, saturated servos, spheres, capsules
// and boxes on either side of the pair.
BOOST_AUTO_TEST_CASE(random_robots_step_as_their_simulators) {
  const Comparison c(lane_scene, 40);
  BOOST_TEST(c.lanes > 0.6 * c.steps, c.lanes << " of " << c.steps);
  BOOST_TEST(c.loaded > c.steps / 2);
  BOOST_TEST(c.rows > 3 * c.loaded + c.steps / 2);
  BOOST_TEST(c.others == 0, c.others << " of " << c.lanes);
}

// The same where the narrow phase finds the points: hulls, cylinders, ellipsoids on planes, all of
// them on fields, blocks and meshes.
BOOST_AUTO_TEST_CASE(contacts_that_are_found_are_those_of_the_simulators) {
  const Comparison c(found_scene, 60);
  BOOST_TEST_MESSAGE(c.lanes << " of " << c.steps << ", " << c.touching << " touching, " << c.loaded
                             << " contacts, " << c.others << " others");
  BOOST_TEST(c.lanes > 0.6 * c.steps, c.lanes << " of " << c.steps);
  BOOST_TEST(c.touching > c.steps / 4);
  BOOST_TEST(c.loaded > c.touching);  // pairs with several points
  BOOST_TEST(c.others == 0, c.others << " of " << c.lanes);
}

// A state taken out and put back goes on as if it had stayed: warm starts follow their features.
BOOST_AUTO_TEST_CASE(states_taken_out_and_put_back_change_nothing) {
  for (int trial = 0; trial < 20; ++trial) {
    Rng rng(900 + trial);
    const Scene scene = found_scene(rng);
    LaneBatch stays(scene, {}, 3), leaves(scene, {}, 3);
    Simulator sim(scene);
    for (LaneBatch* batch : {&stays, &leaves}) {
      for (int w = 0; w < 3; ++w) batch->set_control(w, sim.hold());
    }
    for (int k = 0; k < 25; ++k) {
      State state, kept;
      for (int w = 0; w < 3; ++w) {
        leaves.get_state(w, state);
        leaves.set_state(w, state);
      }
      stays.step();
      leaves.step();
      for (int w = 0; w < 3; ++w) {
        stays.get_state(w, state);
        leaves.get_state(w, kept);
        BOOST_REQUIRE(same_bits(state, kept));
      }
    }
  }
}

BOOST_AUTO_TEST_SUITE_END()
