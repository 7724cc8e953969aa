#include "stiction/simulator/simulator.hpp"

#include "integrator/energy.hpp"
#include "scenes/scenes.hpp"
#include "support/random.hpp"
#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

// Closed loops with the option project_closures: closed, consistent, and of constant energy.

using namespace stiction;
using stiction::test::Rng;

namespace {

Transform at(const Vec3d& p) { return {Mat3d::identity(), p}; }

/// Loose bodies, each hung by a point, two points (a hinge) or a weld on the one before, the last
/// one now and then on the first as well.
Scene random_ring(Rng& rng, int& kind) {
  Scene scene;
  scene.parameters.gravity = {0, 0, 0};
  const int bodies = 2 + rng.below(3);
  kind = rng.below(4);
  for (int b = 0; b < bodies; ++b) {
    scene.add_body("b" + std::to_string(b),
                   Shape::box({rng.uniform(0.03, 0.2), rng.uniform(0.03, 0.2), 0.1}),
                   rng.uniform(0.3, 3.0),
                   {test::rotation(rng), {0.6 * b, rng.uniform(-0.2, 0.2), 0.0}});
    for (int a = 0; a < b; ++a) scene.disable_pair(a, b);
  }
  const std::vector<double>& q = scene.default_q();
  const auto placed = [&](int b) {
    return Transform{rotation_from_quaternion(&q[7 * b + 3]),
                     {q[7 * b], q[7 * b + 1], q[7 * b + 2]}};
  };
  const auto join = [&](const std::string& name, int a, int b, const Vec3d& p) {
    const Transform A = placed(a), B = placed(b);
    const Vec3d p_A = transpose_times(A.R, p - A.p), p_B = transpose_times(B.R, p - B.p);
    if (kind == 1) {
      scene.add_weld(name,
                     a,
                     {transpose_times(A.R, Mat3d::identity()), p_A},
                     b,
                     {transpose_times(B.R, Mat3d::identity()), p_B});
    } else {
      scene.add_point_closure(name, a, p_A, b, p_B);
    }
  };
  for (int b = 1; b < bodies; ++b) {
    const Vec3d p{0.6 * b - 0.3, rng.uniform(-0.1, 0.1), rng.uniform(-0.1, 0.1)};
    join("c" + std::to_string(b), b - 1, b, p);
    if (kind == 2) join("d" + std::to_string(b), b - 1, b, p + test::unit_vector(rng) * 0.1);
  }
  if (kind == 3) join("ring", bodies - 1, 0, {0.3 * bodies - 0.3, 0.4, 0.0});
  return scene;
}

/// A chain of links about random axes whose end is held by a point of the world.
Scene random_loop(Rng& rng, bool floating) {
  Robot robot;
  robot.name = "loop";
  const int links = 5 + rng.below(3);
  for (int k = 0; k < links; ++k) {
    BodyDescription link;
    link.name = "l" + std::to_string(k);
    link.parent = k - 1;
    if (k == 0 && floating) link.joint = JointType::kFreeFlyer;
    link.axis = test::unit_vector(rng);
    link.placement = at(k == 0 ? Vec3d{0, 0, 0} : Vec3d{0.2, 0, 0});
    link.mass = rng.uniform(0.2, 1.0);
    link.com = Vec3d{0.1, 0, 0} + test::uniform_vector(rng, 0.02);
    link.inertia = {1e-3, 0, 4e-3, 0, 0, 4e-3};
    robot.bodies.push_back(link);
  }
  robot.dofs.resize(links + (floating ? 5 : 0));
  if (floating) robot.neutral = {0, 0, 0, 0, 0, 0, 1};
  for (int k = floating ? 1 : 0; k < links; ++k) robot.neutral.push_back(rng.uniform(-1.0, 1.0));
  Scene scene;
  if (floating) scene.parameters.gravity = {0, 0, 0};
  scene.add_robot(robot);
  Simulator sim(scene);
  const Transform end = sim.body_poses(sim.initial_state())[links - 1];
  const Vec3d tip{0.2, 0, 0};
  const int other = floating ? 0 : -1;
  scene.add_point_closure("end", other, end * tip, links - 1, tip);
  return scene;
}

struct Measured {
  double gap = 0.0;     ///< of the closures' points [m]
  double slip = 0.0;    ///< of their velocities [m/s]
  double swing = 0.0;   ///< largest |E - E_0| / kinetic energy met
  double drift = 0.0;   ///< |mean of the last fifth - mean of the first fifth|, likewise
  double linear = 0.0;  ///< change of momentum, relative
  double angular = 0.0;
};

/// Errors over `seconds`, from the end of the first step, whose start need not be consistent.
Measured measure(const Scene& scene, double dt, double seconds, bool project, Rng& rng) {
  SimulatorSettings settings;
  settings.dt = dt;
  settings.project_closures = project;
  settings.solver.tolerance = 1e-9;
  Simulator sim(scene, settings);
  State state = sim.initial_state();
  for (int k = 0; k < scene.nv(); ++k) state.v[k] = rng.uniform(-2.0, 2.0);
  DynamicsWorkspace work;
  work.resize(scene);
  Measured m;
  const int steps = static_cast<int>(std::lround(seconds / dt));
  double first = 0.0, begin = 0.0, end = 0.0, kinetic = 0.0;
  Balance start{};
  for (int k = 0; k < steps; ++k) {
    BOOST_REQUIRE((sim.step(state, {}).status == StepStatus::kOk));
    if (k == 0) start = sim.balance(state, {});
    forward_kinematics(scene, scene.parameters, state.q.data(), state.v.data(), work);
    const MechanicalEnergy e = mechanical_energy(scene, scene.parameters, work);
    if (k == 0) first = e.kinetic + e.potential;
    kinetic = std::max(kinetic, e.kinetic);
    m.swing = std::max(m.swing, std::abs(e.kinetic + e.potential - first));
    if (k < steps / 5) begin += (e.kinetic + e.potential) / (steps / 5);
    if (k >= steps - steps / 5) end += (e.kinetic + e.potential) / (steps / 5);
    for (std::size_t i = 0; i < scene.closures().size(); ++i) {
      const Closure& c = scene.closures()[i];
      const Parameters& p = scene.parameters;
      const Vec3d a = world_point(scene, work, c.body_a, p.closure_X_A[i].p),
                  b = world_point(scene, work, c.body_b, p.closure_X_B[i].p);
      m.gap = std::max(m.gap, norm(b - a));
      m.slip = std::max(m.slip,
                        norm(point_velocity(scene, work, c.body_b, b) -
                             point_velocity(scene, work, c.body_a, a)));
    }
  }
  const Balance last = sim.balance(state, {});
  m.swing /= kinetic;
  m.drift = std::abs(end - begin) / kinetic;
  m.linear = norm(last.linear_after - start.linear_after);
  m.angular = norm(last.angular_after - start.angular_after) / norm(start.angular_after);
  return m;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(closed_loops_test)

// Under forces the energy of the nodes swings at first order, the kick of a step going before its
// drift, and does not drift: a pendulum of 1 kg and 1 m, released level, for 20 s.
BOOST_AUTO_TEST_CASE(pendulum_swings_at_first_order_and_does_not_drift) {
  Scene scene;
  scene.add_body("bob", Shape::sphere(0.01), 1.0, at({1, 0, 0}));
  scene.add_point_closure("pivot", -1, {0, 0, 0}, 0, {-1, 0, 0});
  double last = 0.0;
  for (const double dt : {4e-3, 2e-3, 1e-3}) {
    SimulatorSettings settings;
    settings.dt = dt;
    settings.project_closures = true;
    Simulator sim(scene, settings);
    State state = sim.initial_state();
    double swing[2] = {};
    const int steps = static_cast<int>(20.0 / dt);
    for (int k = 0; k < steps; ++k) {
      const StepReport& r = sim.step(state, {});
      double& most = swing[k < steps / 2 ? 0 : 1];
      most = std::max(most, std::abs(r.kinetic_energy + r.potential_energy));
    }
    BOOST_TEST_MESSAGE("pendulum, dt " << dt << ": " << swing[0] << ", " << swing[1] << " J");
    BOOST_TEST(std::abs(swing[1] / swing[0] - 1.0) < 0.01);
    if (last > 0.0) BOOST_TEST(std::abs(last / swing[1] - 2.0) < 0.05);
    last = swing[1];
  }
}

// Loose bodies in free flight: energy and angular momentum to second order, linear momentum to
// rounding, and closures closed in position and velocity, whatever joins them.
BOOST_AUTO_TEST_CASE(rings_of_loose_bodies_keep_energy_and_momentum) {
  int kinds[4] = {0, 0, 0, 0};
  for (int trial = 0; trial < 24; ++trial) {
    Rng rng(trial);
    int kind = 0;
    const Scene scene = random_ring(rng, kind);
    ++kinds[kind];
    Rng same = rng;
    const Measured m = measure(scene, 2e-3, 2.0, true, rng),
                   fine = measure(scene, 1e-3, 2.0, true, same);
    BOOST_TEST_MESSAGE("ring " << trial << " kind " << kind << " E " << m.swing << " " << fine.swing
                               << " L " << m.angular << " " << fine.angular << " gap " << m.gap
                               << " slip " << m.slip << " p " << m.linear);
    BOOST_TEST_CONTEXT("ring " << trial << ", kind " << kind) {
      BOOST_TEST(m.gap < 1e-9);
      BOOST_TEST(m.slip < 1e-10);
      BOOST_TEST(fine.swing < 1e-3);
      BOOST_TEST(fine.swing < std::max(m.swing / 3.0, 1e-5));
      BOOST_TEST(m.linear < 1e-11);
      BOOST_TEST(m.angular < 1e-5);
    }
  }
  for (const int count : kinds) BOOST_TEST(count > 2);
}

// Chains closed to a point of the world, under gravity, and closed on themselves, in flight: no
// drift. (The energy of the nodes swings by half a step of the forces' power.)
BOOST_AUTO_TEST_CASE(loops_of_links_do_not_drift) {
  double kept = 0.0, lost = 0.0;
  for (int trial = 0; trial < 16; ++trial) {
    Rng rng(100 + trial);
    const bool floating = trial % 2 == 1;
    const Scene scene = random_loop(rng, floating);
    Rng same = rng;
    const Measured m = measure(scene, 1e-3, 5.0, true, rng),
                   plain = measure(scene, 1e-3, 5.0, false, same);
    BOOST_TEST_MESSAGE("loop " << trial << " drift " << m.drift << " plain " << plain.drift
                               << " swing " << m.swing << " gap " << m.gap << " slip " << m.slip);
    kept += m.drift;
    lost += plain.drift;
    BOOST_TEST_CONTEXT("loop " << trial) {
      BOOST_TEST(m.gap < 1e-9);
      BOOST_TEST(m.slip < 1e-10);
      BOOST_TEST(m.drift < 0.03);
    }
  }
  BOOST_TEST_MESSAGE("drift of all loops " << kept << ", without the option " << lost);
  BOOST_TEST(kept < 0.1 * lost);
}

// The four-bar of the scenes keeps 99 % of its energy for a minute at 1 ms.
BOOST_AUTO_TEST_CASE(four_bar_swings_for_a_minute) {
  const Scene scene = make_scene("four-bar");
  SimulatorSettings settings;
  settings.project_closures = true;
  Simulator sim(scene, settings);
  State state = sim.initial_state();
  const StepReport& r = sim.step(state, {});
  const double first = r.kinetic_energy + r.potential_energy;
  double least = first, most = first;
  for (int k = 0; k < 60000; ++k) {
    sim.step(state, {});
    least = std::min(least, r.kinetic_energy + r.potential_energy);
    most = std::max(most, r.kinetic_energy + r.potential_energy);
  }
  BOOST_TEST_MESSAGE("four-bar E " << first << ", later in [" << least << ", " << most << "]");
  BOOST_TEST(least > 0.99 * first);
  BOOST_TEST(most < 1.01 * first);
}

BOOST_AUTO_TEST_SUITE_END()
