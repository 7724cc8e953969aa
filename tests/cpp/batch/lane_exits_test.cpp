#include "gripper.hpp"
#include "scenes/scenes.hpp"
#include "support/random.hpp"
#include <boost/test/unit_test.hpp>

#include <cmath>
#include <limits>

using namespace stiction;
using namespace stiction::test;

namespace {

struct Case {
  LaneExit exit;
  Scene scene;
  State state;
  Parameters parameters;
  SimulatorSettings settings = {};
};

/// Solo-12 on the ground, made to leave the lanes for one reason.
Case solo(LaneExit exit) {
  Case c{exit, make_scene("solo12"), {}, {}};
  Simulator sim(c.scene);
  c.state = sim.initial_state("standing");
  c.parameters = c.scene.parameters;
  return c;
}

std::vector<Case> cases() {
  std::vector<Case> all;
  Case c = solo(LaneExit::kScalar);
  for (Material& m : c.parameters.material) m.stiffness = 1e5;
  all.push_back(c);
  c = solo(LaneExit::kScalar);
  for (Material& m : c.parameters.material) m.torsional_friction = m.rolling_friction = 0.01;
  for (int k = 0; k < c.state.v.size(); ++k) c.state.v[k] = 0.1 * (k % 5 - 2);
  all.push_back(c);
  c = solo(LaneExit::kFast);
  c.state.v[17] = 1200.0;
  all.push_back(c);
  c = solo(LaneExit::kFarOut);
  c.parameters.upper[8] = c.state.q[9] - 0.01;
  all.push_back(c);
  c = solo(LaneExit::kSaturation);  // the knee's full torque takes it past its target
  c.parameters.kp[8] = 1e5;
  c.parameters.effort_limit[8] = 50.0;
  c.state.q[9] -= 1e-3;
  all.push_back(c);
  c = solo(LaneExit::kNotFinite);
  c.state.v[3] = std::numeric_limits<double>::quiet_NaN();
  all.push_back(c);
  c = solo(LaneExit::kRecovery);  // deep feet, fast legs
  c.state.q[2] -= 0.002;
  for (int k = 6; k < 18; ++k) c.state.v[k] = k % 2 == 0 ? 3.0 : -3.0;
  all.push_back(c);
  return all;
}

/// A carriage on a rail and its wheel, which is on a post: nothing moves along the normal.
Case immovable() {
  Case c{LaneExit::kImmovable, {}, {}, {}};
  std::vector<BodyDescription> bodies(2);
  for (int b = 0; b < 2; ++b) {
    bodies[b].name = "body" + std::to_string(b);
    bodies[b].parent = b - 1;
    bodies[b].joint = JointType::kPrismatic;
    bodies[b].axis = b == 0 ? Vec3d{1, 0, 0} : Vec3d{0, 1, 0};
    bodies[b].mass = 1.0;
    bodies[b].inertia = {0.1, 0, 0.1, 0, 0, 0.1};
  }
  c.scene.add_robot(random_robot(bodies));
  c.scene.add_geometry("foot", 1, Shape::sphere(0.1), {Mat3d::identity(), {0, 0, 0.1}}, Material{});
  c.scene.add_ground();
  c.state = make_state(c.scene, c.scene.default_q());
  c.parameters = c.scene.parameters;
  return c;
}

/// A plate so thin that all its corners are near the ground: four of them are chosen.
Case plate() {
  Case c{LaneExit::kPair, {}, {}, {}};
  std::vector<BodyDescription> bodies(2);
  for (int b = 0; b < 2; ++b) {
    bodies[b].name = "body" + std::to_string(b);
    bodies[b].parent = b - 1;
    bodies[b].joint = b == 0 ? JointType::kFreeFlyer : JointType::kRevolute;
    bodies[b].mass = 1.0;
    bodies[b].inertia = {0.1, 0, 0.1, 0, 0, 0.1};
  }
  c.scene.add_robot(random_robot(bodies));
  c.scene.add_geometry("plate", 0, Shape::box({0.1, 0.1, 1e-5}), Transform::identity(), Material{});
  c.scene.add_ground();
  c.state = make_state(c.scene, c.scene.default_q());
  c.parameters = c.scene.parameters;
  return c;
}

/// Fingers that touch as springs do; with as many knuckles as there are no places for.
Case soft_fingers() {
  Case c{LaneExit::kScalar, ball_and_block(), {}, {}};
  Material soft = c.scene.parameters.material[0];
  soft.stiffness = 1e5;
  c.scene.set_pair_material(0, 3, soft);
  c.state = touching(c.scene);
  c.parameters = c.scene.parameters;
  return c;
}
Case many_fingers() {
  Case c{LaneExit::kManyRows, ball_and_block(), {}, {}};
  for (int k = 0; k < kMaxLanePlaces; ++k)
    c.scene.add_geometry("knuckle" + std::to_string(k),
                         2,
                         Shape::sphere(0.01),
                         {Mat3d::identity(), {0, 1e-4 * k, 0.03}},
                         Material{});
  c.state = touching(c.scene);
  c.state.contacts.clear();  // else they have no room to wait in
  c.parameters = c.scene.parameters;
  return c;
}

/// More spheres of one body on the ground than a lane has contacts.
Case crowd() {
  Case c{LaneExit::kManyRows, {}, {}, {}};
  Rng rng(3);
  std::vector<BodyDescription> bodies;
  while (bodies.size() < 2 || bodies[0].joint != JointType::kFreeFlyer) bodies = random_tree(rng);
  bodies.resize(2);
  c.scene.add_robot(random_robot(bodies));
  for (int k = 0; k <= kMaxLaneCones; ++k) {
    const Vec3d p{std::cos(0.45 * k), std::sin(0.45 * k), 0.0};
    c.scene.add_geometry(
        "ball" + std::to_string(k), 0, Shape::sphere(0.05), {Mat3d::identity(), p}, Material{});
  }
  c.scene.add_half_space("ground", {0, 0, -0.05}, {0, 0, 1});
  c.state = make_state(c.scene, c.scene.default_q());
  c.parameters = c.scene.parameters;
  return c;
}

/// A step of a random robot that leaves so: one that the lanes' solver gives up, or, with
/// restitution, one that would gain energy.
Case found(LaneExit exit, double restitution) {
  for (int trial = 0; trial < 40; ++trial) {
    Rng rng(500 + trial);
    Case c{exit, lane_scene(rng), {}, {}};
    for (Material& m : c.scene.parameters.material) m.restitution = restitution;
    LaneBatch batch(c.scene, {}, 4);
    Simulator sim(c.scene);
    std::vector<Parameters> parameters;
    for (int w = 0; w < 4; ++w) {
      parameters.push_back(varied(rng, c.scene));
      batch.set_parameters(w, parameters[w]);
      batch.set_control(w, sim.hold());
      if (restitution == 0.0) continue;
      batch.get_state(w, c.state);
      c.state.v = 2.0 * random_vector(rng, c.scene.nv());
      batch.set_state(w, c.state);
    }
    for (int k = 0; k < 15; ++k) {
      std::vector<State> before(4);
      for (int w = 0; w < 4; ++w) batch.get_state(w, before[w]);
      batch.step();
      for (int w = 0; w < 4; ++w) {
        if (batch.report(w).exit != c.exit) continue;
        c.state = before[w];
        c.parameters = parameters[w];
        return c;
      }
    }
  }
  throw std::runtime_error("no step leaves");
}

void expect_scalar_step(const Case& c, int width) {
  LaneBatch batch(c.scene, c.settings, 3, width);
  Simulator sim(c.scene, c.settings);
  const Control control = sim.hold();
  const State calm = make_state(c.scene, c.scene.default_q());
  for (int w = 0; w < 3; ++w) {
    batch.set_state(w, w == 1 ? c.state : calm);
    batch.set_control(w, control);
  }
  batch.set_parameters(1, c.parameters);
  sim.parameters() = c.parameters;
  State expected = c.state, after;
  batch.step();
  batch.get_state(1, after);
  const StepReport& report = sim.step(expected, control);
  BOOST_TEST(static_cast<int>(batch.report(1).exit) == static_cast<int>(c.exit));
  BOOST_TEST(static_cast<int>(batch.report(1).status) == static_cast<int>(report.status));
  BOOST_TEST(batch.report(1).contacts == report.num_contacts);
  BOOST_TEST(same_bits(after, expected));
}

}  // namespace

BOOST_AUTO_TEST_SUITE(lane_exits_test)

// Each way out of the lanes is taken, and gives the Simulator's step bit for bit, warm start and
// status included.
BOOST_AUTO_TEST_CASE(every_exit_is_the_simulators_step) {
  std::vector<Case> all = cases();
  all.push_back(immovable());
  all.push_back(plate());
  all.push_back(soft_fingers());
  all.push_back(many_fingers());
  all.push_back(crowd());
  all.push_back(found(LaneExit::kUnsolved, 0.0));
  all.push_back(found(LaneExit::kRestitution, 0.9));
  for (const Case& c : all) {
    BOOST_TEST_CONTEXT("exit " << static_cast<int>(c.exit)) {
      for (const LaneKernel& kernel : lane_kernels()) expect_scalar_step(c, kernel.width);
    }
  }
}

// A world that is not finite, or that was given nonsense, is left as it is and says so; its
// neighbours in the pack end with the bits that they have without it.
BOOST_AUTO_TEST_CASE(a_nan_stays_in_its_lane) {
  const Scene scene = make_scene("solo12");
  constexpr int kWorlds = 8;
  std::vector<State> reference(kWorlds);
  for (const bool poisoned : {false, true}) {
    LaneBatch batch(scene, {}, kWorlds);
    Simulator sim(scene);
    Rng rng(8);
    State bad = sim.initial_state("standing");
    for (int w = 0; w < kWorlds; ++w) {
      State state = sim.initial_state("standing");
      state.v += 0.2 * random_vector(rng, scene.nv());
      if (poisoned && w == 2) state.v[1] = std::numeric_limits<double>::quiet_NaN();
      if (poisoned && w == 5) state.q[8] = std::numeric_limits<double>::infinity();
      if (poisoned && w == 2) bad = state;
      batch.set_state(w, state);
      batch.set_control(w, sim.hold("standing"));
    }
    batch.step(20);
    for (int w = 0; w < kWorlds; ++w) {
      State state;
      batch.get_state(w, state);
      if (!poisoned) {
        reference[w] = state;
      } else if (w == 2 || w == 5) {
        BOOST_TEST(static_cast<int>(batch.report(w).status) ==
                   static_cast<int>(StepStatus::kNotFinite));
        if (w == 2) BOOST_TEST(same_bits(state.v, bad.v));
      } else {
        BOOST_TEST(same_bits(state, reference[w]));
        BOOST_TEST(static_cast<int>(batch.report(w).status) == static_cast<int>(StepStatus::kOk));
      }
    }
  }
}

// What is not for lanes is refused with a reason.
BOOST_AUTO_TEST_CASE(other_scenes_are_refused_by_name) {
  const auto refused = [](const Scene& scene, const SimulatorSettings& s, const std::string& word) {
    BOOST_TEST(why_not_lanes(scene, s).find(word) != std::string::npos, word);
    BOOST_CHECK_THROW(LaneBatch(scene, s, 4), std::invalid_argument);
  };
  const Scene solo = make_scene("solo12");
  BOOST_TEST(why_not_lanes(solo, {}) == "");
  refused(make_scene("box-stack"), {}, "trees");
  SimulatorSettings s;
  s.solver = {.name = "ncp-pgs"};
  refused(solo, s, "ncp-pgs");
  s = {};
  s.sleeping.enabled = true;
  refused(solo, s, "sleeping");
  s = {};
  s.collision.points_per_pair = 1;
  refused(solo, s, "points_per_pair");
  BOOST_CHECK_THROW(LaneBatch(solo, {}, 0), std::invalid_argument);
  BOOST_CHECK_THROW(LaneBatch(solo, {}, 4, 3), std::invalid_argument);
}

BOOST_AUTO_TEST_SUITE_END()
