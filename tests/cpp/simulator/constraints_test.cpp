#include "stiction/simulator/simulator.hpp"

#include <boost/test/unit_test.hpp>

#include <cmath>

using namespace stiction;

namespace {

constexpr double kGravity = 9.81;

Transform at(double x, double y, double z) { return {Mat3d::identity(), {x, y, z}}; }

BodyDescription link(const std::string& name,
                     int parent,
                     double length,
                     const Transform& placement) {
  BodyDescription b;
  b.name = name;
  b.parent = parent;
  b.axis = {0, 1, 0};
  b.placement = placement;
  b.mass = 1.0;
  b.com = {0.5 * length, 0, 0};
  const double i = length * length / 12.0;
  b.inertia = {1e-4, 0, i, 0, 0, i};
  return b;
}

Robot chain(std::vector<BodyDescription> bodies) {
  Robot robot;
  robot.name = "chain";
  robot.bodies = std::move(bodies);
  robot.dofs.resize(robot.bodies.size());
  robot.neutral.assign(robot.bodies.size(), 0.0);
  return robot;
}

constexpr double kCrank = 0.3, kCoupler = 0.5, kRocker = 0.4, kBase = 0.5;

/// Four unequal bars in the x-z plane (a parallelogram would close exactly by symmetry), joints
/// about y: a bar at angle a points along (cos a, 0, -sin a).
Scene four_bar() {
  Scene scene;
  const double crank_angle = -0.6;
  const double px = kCrank * std::cos(crank_angle), pz = -kCrank * std::sin(crank_angle);
  // Coupler end: intersection of the circles about the crank's end and about the rocker's pivot.
  const double dx = kBase - px, dz = -pz, d = std::hypot(dx, dz);
  const double along = (kCoupler * kCoupler - kRocker * kRocker + d * d) / (2.0 * d);
  const double across = std::sqrt(kCoupler * kCoupler - along * along);
  const double qx = px + (along * dx - across * dz) / d, qz = pz + (along * dz + across * dx) / d;
  const double coupler_angle = -std::atan2(qz - pz, qx - px),
               rocker_angle = -std::atan2(-qz, kBase - qx);
  Robot robot = chain({link("crank", -1, kCrank, at(0, 0, 0)),
                       link("coupler", 0, kCoupler, at(kCrank, 0, 0)),
                       link("rocker", 1, kRocker, at(kCoupler, 0, 0))});
  robot.neutral = {crank_angle, coupler_angle - crank_angle, rocker_angle - coupler_angle};
  scene.add_robot(robot);
  scene.add_point_closure("pivot", 2, {kRocker, 0, 0}, -1, {kBase, 0, 0});
  return scene;
}

double closure_error(Simulator& sim, const State& state) {
  const Transform X = sim.body_poses(state)[2];
  return norm(X * Vec3d{kRocker, 0, 0} - Vec3d{kBase, 0, 0});
}

double worst_closure(double dt, bool project, double seconds) {
  SimulatorSettings s;
  s.dt = dt;
  s.solver.tolerance = 1e-10;
  s.project_closures = project;
  Simulator sim(four_bar(), s);
  State state = sim.initial_state();
  BOOST_REQUIRE_SMALL(closure_error(sim, state), 1e-14);
  const Control none;
  double worst = 0.0;
  for (int k = 0; k < std::lround(seconds / dt); ++k) {
    sim.step(state, none);
    worst = std::max(worst, closure_error(sim, state));
  }
  return worst;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(constraints_test)

// The loop stays closed to 2e-5 m over 10 s at 1 ms, four times better at half the step, and to
// rounding with the projection.
BOOST_AUTO_TEST_CASE(four_bar_stays_closed) {
  const double coarse = worst_closure(1e-3, false, 10.0), fine = worst_closure(5e-4, false, 10.0);
  BOOST_TEST_MESSAGE("closure error " << coarse << " at 1 ms, " << fine << " at 0.5 ms");
  BOOST_TEST(coarse < 2e-5);
  BOOST_TEST(std::abs(coarse / fine - 4.0) < 0.8);
  BOOST_TEST(worst_closure(1e-3, true, 10.0) < 1e-10);
}

// A weld holds a box to the world against gravity: the wrench of the weld is the weight.
BOOST_AUTO_TEST_CASE(weld_holds_position_and_orientation) {
  Scene scene;
  const int box = scene.add_body("box", Shape::box({0.1, 0.2, 0.1}), 2.0, at(0.3, 0, 1));
  scene.add_weld("weld", -1, at(0, 0, 1), box, at(-0.3, 0, 0));
  SimulatorSettings s;
  s.solver.tolerance = 1e-12;
  s.solver.max_iterations = 100000;
  Simulator sim(scene, s);
  State state = sim.initial_state();
  const Control none;
  for (int k = 0; k < 200; ++k) sim.step(state, none);
  BOOST_TEST(std::abs(state.q[0] - 0.3) < 1e-8);
  BOOST_TEST(std::abs(state.q[2] - 1.0) < 1e-8);
  BOOST_TEST(std::abs(state.q[6] - 1.0) < 1e-12);
  const double* impulse = sim.solution().impulse.data();
  BOOST_TEST(std::abs(impulse[2] - 2.0 * kGravity * 1e-3) < 1e-9);
}

// A pendulum released against its lower limit stops on it.
BOOST_AUTO_TEST_CASE(joint_limit_holds) {
  Scene scene;
  Robot robot = chain({link("rod", -1, 1.0, at(0, 0, 0))});
  robot.dofs[0].lower = -0.5;
  robot.dofs[0].upper = 0.3;
  scene.add_robot(robot);
  Simulator sim(scene, {});
  State state = sim.initial_state();
  const Control none;
  for (int k = 0; k < 3000; ++k) {
    sim.step(state, none);
    BOOST_REQUIRE(state.q[0] < 0.3 + 1e-6);
    BOOST_REQUIRE(state.q[0] > -0.5 - 1e-6);
  }
  BOOST_TEST(std::abs(state.q[0] - 0.3) < 1e-6);  // gravity turns a rod along +x towards +y angles
  BOOST_TEST(std::abs(state.v[0]) < 1e-9);
}

// Dry friction f holds a joint whose load is below f, and decelerates it by f / I above.
BOOST_AUTO_TEST_CASE(dry_friction_holds_and_brakes) {
  Scene scene;
  scene.parameters.gravity = {0, 0, 0};
  Robot robot = chain({link("rod", -1, 1.0, at(0, 0, 0))});
  robot.dofs[0].dry_friction = 0.2;
  scene.add_robot(robot);
  Simulator sim(scene, {});
  const double inertia = 1.0 / 12.0 + 0.25;
  State state = sim.initial_state();
  Control control = sim.hold();
  control.torque[0] = 0.19;
  for (int k = 0; k < 100; ++k) sim.step(state, control);
  BOOST_TEST(std::abs(state.v[0]) < 1e-12);
  control.torque[0] = 0.5;
  for (int k = 0; k < 100; ++k) sim.step(state, control);
  BOOST_TEST(std::abs(state.v[0] - (0.5 - 0.2) / inertia * 0.1) < 1e-9);
}

// A gear row keeps the driven joint at ratio times its driver.
BOOST_AUTO_TEST_CASE(gear_keeps_the_ratio) {
  Scene scene;
  scene.add_robot(chain({link("a", -1, 0.5, at(0, 0, 0)), link("b", 0, 0.5, at(0.5, 0, 0))}));
  scene.add_gear("gear", 1, 0, -2.0, 0.1);
  SimulatorSettings s;
  s.solver.tolerance = 1e-12;
  Simulator sim(scene, s);
  State state = sim.initial_state();
  state.q[1] = 0.1;
  const Control none;
  for (int k = 0; k < 1000; ++k) sim.step(state, none);
  BOOST_TEST(std::abs(state.q[0]) > 0.05);
  BOOST_TEST(std::abs(state.q[1] - (-2.0 * state.q[0] + 0.1)) < 1e-9);
}

// A stiff servo with implicit gains is stable where an explicit one would diverge, and rests at
// q* - tau_gravity / kp.
BOOST_AUTO_TEST_CASE(stiff_servo_is_stable) {
  Scene scene;
  scene.add_robot(chain({link("rod", -1, 1.0, at(0, 0, 0))}));
  scene.set_gains(0, 1e7, 1e4);
  Simulator sim(scene, {});
  State state = sim.initial_state();
  Control control = sim.hold();
  control.position_target[0] = 0.4;
  for (int k = 0; k < 2000; ++k) sim.step(state, control);
  const double gravity_torque = 0.5 * kGravity * std::cos(0.4);
  BOOST_TEST(std::abs(state.q[0] - (0.4 + gravity_torque / 1e7)) < 1e-11);
}

// A saturated servo acts as its limit: constant torque, and the gains leave the mass matrix.
BOOST_AUTO_TEST_CASE(effort_limit_is_a_constant) {
  Scene scene;
  scene.parameters.gravity = {0, 0, 0};
  Robot robot = chain({link("rod", -1, 1.0, at(0, 0, 0))});
  robot.dofs[0].effort_limit = 2.0;
  scene.add_robot(robot);
  scene.set_gains(0, 1e5, 10.0);
  Simulator sim(scene, {});
  State state = sim.initial_state();
  Control control = sim.hold();
  control.position_target[0] = 1.0;
  for (int k = 0; k < 50; ++k) sim.step(state, control);
  const double inertia = 1.0 / 12.0 + 0.25;
  BOOST_TEST(std::abs(state.v[0] - 2.0 / inertia * 0.05) < 1e-9);
}

// Forces mean what they say: the ground carries the weight of a box, from below, on the box.
BOOST_AUTO_TEST_CASE(contact_forces_have_the_right_receiver_and_sign) {
  Scene scene;
  const int ground = scene.add_ground({0.8});
  const int box = scene.add_body("box", Shape::box({0.1, 0.1, 0.1}), 2.0, at(0, 0, 0.1), {0.8});
  Simulator sim(scene, {});
  State state = sim.initial_state();
  Control control = sim.hold();
  control.wrenches.push_back({box, {5.0, 0, 0}, {0, 0, 0}});
  for (int k = 0; k < 100; ++k) sim.step(state, control);
  const BodyWrench wrench = sim.wrench_on(box);
  BOOST_TEST(std::abs(wrench.force.z - 2.0 * kGravity) < 1e-6);
  BOOST_TEST(std::abs(wrench.force.x + 5.0) < 1e-6);
  BOOST_TEST(std::abs(wrench.moment.y) < 1e-6);
  for (const ContactReport& c : sim.contacts()) {
    BOOST_TEST(c.geometry_a == ground);
    BOOST_TEST(c.body_b == box);
    BOOST_TEST(c.frame.c2.z == 1.0);
    BOOST_TEST(c.force_on_b_world.z >= 0.0);
  }
  const Balance balance = sim.balance(state, control);
  BOOST_TEST(norm(balance.linear_after - balance.linear_before - balance.linear_impulse) < 1e-9);
  BOOST_TEST(norm(balance.angular_after - balance.angular_before - balance.angular_impulse) < 1e-9);
  BOOST_CHECK_THROW(sim.wrench_on(7), std::invalid_argument);
}

BOOST_AUTO_TEST_SUITE_END()
