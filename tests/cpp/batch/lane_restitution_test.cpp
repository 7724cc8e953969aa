#include "gripper.hpp"
#include "integrator/step_record.hpp"
#include "scenes/scenes.hpp"
#include "whole_course.hpp"
#include <boost/test/unit_test.hpp>

using namespace stiction;
using namespace stiction::test;

// Impacts that rebound stay on lanes, with the bits of the Simulator, unless they would gain
// energy.

namespace {

int rebounds(Simulator& sim) {
  int count = 0;
  for (const ConstraintRow& row : sim.record().rows.rows)
    count += row.kind == ReferenceKind::kRestitution;
  return count;
}

/// A leg of two links on a rail, its foot a ball above the ground.
Scene hopper() {
  std::vector<BodyDescription> bodies(3);
  for (int b = 0; b < 3; ++b) {
    BodyDescription& body = bodies[b];
    body.name = "body" + std::to_string(b);
    body.parent = b - 1;
    body.joint = b == 0 ? JointType::kPrismatic : JointType::kRevolute;
    body.axis = b == 0 ? Vec3d{0, 0, 1} : Vec3d{0, 1, 0};
    if (b == 2) body.placement.p = {0, 0, -0.2};
    body.mass = b == 0 ? 1.0 : 0.2;
    const double i = 2e-3;
    body.inertia = {i, 0, i, 0, 0, i};
  }
  Scene scene;
  scene.add_robot(random_robot(bodies));
  scene.add_half_space("ground", {0, 0, -0.45}, {0, 0, 1}, Material{0.5, 0.6});
  const Transform end{Mat3d::identity(), {0, 0, -0.2}};
  scene.add_geometry("foot", 2, Shape::sphere(0.02), end, Material{0.5, 0.6});
  scene.set_gains(1, 30.0, 0.3);
  scene.set_gains(2, 30.0, 0.3);
  return scene;
}

std::vector<WorldInput> drops(const Scene& scene, int worlds, std::uint64_t seed) {
  Rng rng(seed);
  Simulator sim(scene);
  std::vector<WorldInput> out;
  for (int w = 0; w < worlds; ++w) {
    WorldInput x{scene.parameters, sim.initial_state("default"), sim.hold("default")};
    for (Material& m : x.parameters.material) {
      m.friction *= rng.uniform(0.5, 1.5);
      m.restitution *= rng.uniform(0.6, 1.2);
    }
    for (double& m : x.parameters.mass) m *= rng.uniform(0.8, 1.2);
    x.state.q[0] = rng.uniform(0.0, 0.1);
    for (int k = 1; k < 3; ++k) {
      x.state.q[k] = (k == 1 ? 1.0 : -2.0) * rng.uniform(0.1, 0.4);
      x.control.position_target[k] = x.state.q[k];
    }
    out.push_back(x);
  }
  return out;
}

/// Solo-12 let fall, turning.
std::vector<WorldInput> falls(const Scene& scene, int worlds) {
  Simulator sim(scene);
  Rng rng(12);
  std::vector<WorldInput> out;
  for (int w = 0; w < worlds; ++w) {
    WorldInput x{scene.parameters, sim.initial_state("standing"), sim.hold("standing")};
    for (Material& m : x.parameters.material) {
      m.restitution = rng.uniform(0.1, 0.8);
      m.friction *= rng.uniform(0.5, 1.5);
    }
    x.state.q[2] += rng.uniform(0.01, 0.1);
    x.state.v.head(6) = 0.5 * random_vector(rng, 6);
    out.push_back(x);
  }
  return out;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(lane_restitution_test)

// Worlds that differ in everything, at every width: no step leaves the lanes, and none differs.
BOOST_AUTO_TEST_CASE(a_foot_that_bounces_stays_on_lanes) {
  constexpr int kWorlds = 11, kSteps = 600;
  const Scene scene = hopper();
  const Reference reference(scene, drops(scene, kWorlds, 1), kSteps, rebounds);
  BOOST_TEST_MESSAGE(reference.counted << " rebounds");
  BOOST_TEST(reference.counted > 4 * kWorlds);
  for (const LaneKernel& kernel : lane_kernels()) {
    LaneBatch batch(scene, {}, kWorlds, kernel.width);
    BOOST_TEST(differing_steps(reference, batch) == 0);
    BOOST_TEST(batch.counts()[0] == kWorlds * kSteps);
  }
}

// Four feet at once, in motion: what leaves is what the law has to change, and under Newton's own
// law nothing is.
BOOST_AUTO_TEST_CASE(feet_that_bounce_step_as_their_simulators) {
  constexpr int kWorlds = 9, kSteps = 300;
  const Scene scene = make_scene("solo12");
  const std::vector<WorldInput> input = falls(scene, kWorlds);
  for (const char* law : {"newton-dissipative", "newton"}) {
    SimulatorSettings settings;
    settings.impact_law = law;
    const Reference reference(scene, input, kSteps, rebounds, settings);
    for (const LaneKernel& kernel : lane_kernels()) {
      LaneBatch batch(scene, settings, kWorlds, kernel.width);
      BOOST_TEST(differing_steps(reference, batch) == 0);
      const std::int64_t left = batch.counts()[static_cast<int>(LaneExit::kRestitution)];
      BOOST_TEST_MESSAGE(law << ", width " << kernel.width << ": " << reference.counted
                             << " rebounds in " << reference.steps << " steps, of which " << left
                             << " leave, " << batch.counts()[0] << " steps in lanes");
      BOOST_TEST(reference.steps > 8 * kWorlds);
      BOOST_TEST(left < reference.steps / 2);
      if (law == std::string("newton")) BOOST_TEST(left == 0);
    }
  }
}

// Random robots with joint limits, dry friction and saturated servos.
BOOST_AUTO_TEST_CASE(random_robots_that_bounce_step_as_their_simulators) {
  constexpr int kWorlds = 8, kSteps = 8;
  int bouncing = 0;
  std::int64_t left = 0, lanes = 0;
  for (int trial = 0; trial < 40; ++trial) {
    Rng rng(9100 + trial);
    const Scene scene = trial % 2 == 0 ? lane_scene(rng) : found_scene(rng);
    Simulator sim(scene);
    std::vector<WorldInput> input;
    for (int w = 0; w < kWorlds; ++w) {
      WorldInput x{
          varied(rng, scene), sim.initial_state("default"), random_control(rng, scene, 0.5)};
      for (Material& m : x.parameters.material) m.restitution = rng.uniform(0.2, 1.0);
      x.state.v = random_vector(rng, scene.nv()) * 2.0;
      input.push_back(x);
    }
    const Reference reference(scene, input, kSteps, rebounds);
    bouncing += reference.steps;
    for (const LaneKernel& kernel : lane_kernels()) {
      LaneBatch batch(scene, {}, kWorlds, kernel.width);
      BOOST_TEST(differing_steps(reference, batch) == 0, "trial " << trial);
      if (kernel.width > 1) continue;
      left += batch.counts()[static_cast<int>(LaneExit::kRestitution)];
      lanes += batch.counts()[0];
    }
  }
  BOOST_TEST_MESSAGE(bouncing << " steps with rebounds, " << left << " leave, " << lanes
                              << " steps in lanes");
  BOOST_TEST(bouncing > 100);
  BOOST_TEST(left < bouncing / 2);
}

// Fingers that strike each other, and tell of it what the whole course tells.
BOOST_AUTO_TEST_CASE(fingers_that_strike_stay_on_lanes) {
  constexpr int kWorlds = 5, kSteps = 120;
  const Scene scene = ball_and_block();
  std::vector<WorldInput> input = grasps(scene, kWorlds, 8);
  for (WorldInput& x : input) {
    for (Material& m : x.parameters.material) m.restitution = 0.5;
  }
  const Reference reference(scene, input, kSteps, rebounds);
  BOOST_TEST_MESSAGE(reference.counted << " rebounds");
  BOOST_TEST(reference.counted > 3 * kWorlds);
  for (const LaneKernel& kernel : lane_kernels()) {
    LaneBatch batch(scene, {}, kWorlds, kernel.width);
    BOOST_TEST(differing_steps(reference, batch) == 0);
    BOOST_TEST(batch.counts()[0] >= kWorlds * kSteps * 95 / 100);
  }
}

BOOST_AUTO_TEST_SUITE_END()
