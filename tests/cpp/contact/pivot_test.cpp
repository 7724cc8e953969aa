#include "stiction/simulator/simulator.hpp"

#include "batch/lane_batch.hpp"
#include "integrator/step_record.hpp"
#include "support/random_tree.hpp"
#include "support/recovery.hpp"
#include <boost/test/unit_test.hpp>

#include <cmath>

// A contact in the centre of a joint: the arm of its impulse is rounding.

namespace stiction {
namespace {

using test::Rng;

/// A pendulum on a joint at `p` with a ball of 1 cm about a point `arm` [m] away from the joint,
/// which is 1 mm inside of the ground.
Scene pendulum(Rng& rng, JointType joint, const Vec3d& p, double arm) {
  BodyDescription b;
  b.name = "pendulum";
  b.joint = joint;
  b.axis = {0, 1, 0};
  test::random_mass(rng, b);
  Scene scene;
  scene.add_robot(test::random_robot({b}), {Mat3d::identity(), p});
  scene.add_geometry("pivot", 0, Shape::sphere(0.01), {Mat3d::identity(), {arm, 0, 0}}, {0.7});
  scene.add_half_space("ground", {p.x, p.y, p.z - 0.009}, {0, 0, 1}, {0.7});
  return scene;
}

State moving(Rng& rng, const Scene& scene) {
  State state = make_state(scene, scene.default_q());
  state.v = test::random_vector(rng, scene.nv());
  return state;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(pivot_test)

// It does nothing, whatever impulse the step before left, and the motion is that without it.
BOOST_AUTO_TEST_CASE(contact_in_a_joint_has_no_impulse) {
  Rng rng(1);
  int nonzero = 0;
  for (int trial = 0; trial < 200; ++trial) {
    const bool ball = rng.below(2);
    const Vec3d p{rng.uniform(-1, 1), rng.uniform(-1, 1), rng.uniform(-1, 1)};
    const double arm = trial % 4 == 0 ? 0.0 : std::pow(10.0, rng.uniform(-18.0, -12.0));
    const Scene scene = pendulum(rng, ball ? JointType::kSpherical : JointType::kRevolute, p, arm);
    State state = moving(rng, scene);
    State free = state;
    Simulator sim(scene), alone(scene);
    sim.step(state, {});
    BOOST_TEST_REQUIRE(state.contacts.size() == 1u);
    state = free;
    state.contacts = make_state(scene, scene.default_q()).contacts;
    for (int k = 0; k < 50; ++k) {
      if (!state.contacts.empty()) state.contacts[0].impulse_A = {1.0, -2.0, 3.0};
      BOOST_TEST_REQUIRE((sim.step(state, {}).status == StepStatus::kOk));
      const ConstraintRow& row = sim.record().rows.rows.front();
      BOOST_TEST((row.kind == ReferenceKind::kImmovable));
      for (const double x : sim.record().solution.impulse) BOOST_TEST(x == 0.0);
    }
    Parameters apart = scene.parameters;
    apart.geometry_placement[1].p.z -= 10.0;
    alone.parameters() = apart;
    for (int k = 0; k < 50; ++k) alone.step(free, {});
    BOOST_TEST_REQUIRE(alone.record().rows.rows.empty());
    for (int i = 0; i < scene.nq(); ++i) BOOST_TEST(state.q[i] == free.q[i]);
    nonzero += arm > 0.0;
  }
  BOOST_TEST(nonzero > 100);
}

// An arm of a millimetre is one.
BOOST_AUTO_TEST_CASE(contact_beside_a_joint_has_an_impulse) {
  Rng rng(2);
  for (int trial = 0; trial < 50; ++trial) {
    const Scene scene = pendulum(rng, JointType::kRevolute, {0, 0, 0}, 1e-3);
    State state = moving(rng, scene);
    state.v[0] = 1.0;  // downwards, about y
    Simulator sim(scene);
    sim.step(state, {});
    BOOST_TEST((sim.record().rows.rows.front().kind != ReferenceKind::kImmovable));
    BOOST_TEST(sim.record().solution.impulse[2] > 0.0);
  }
}

// Worlds on lanes leave such a step to the simulator, which takes it like one alone.
BOOST_AUTO_TEST_CASE(lanes_leave_the_step) {
  Rng rng(3);
  for (int trial = 0; trial < 20; ++trial) {
    const Scene scene = pendulum(rng, JointType::kRevolute, {0.3, 0.2, 0.1}, trial * 1e-16);
    State state = moving(rng, scene);
    LaneBatch batch(scene, {}, 3);
    for (int world = 0; world < 3; ++world) batch.set_state(world, state);
    batch.step();
    Simulator(scene).step(state, {});
    for (int world = 0; world < 3; ++world) {
      BOOST_TEST((batch.report(world).exit == LaneExit::kImmovable));
      State got = state;
      batch.get_state(world, got);
      BOOST_TEST(got.q[0] == state.q[0]);
      BOOST_TEST(got.v[0] == state.v[0]);
    }
  }
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace stiction
