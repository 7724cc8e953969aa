#include "stiction/model/state_io.hpp"
#include "stiction/simulator/simulator.hpp"

#include "support/random.hpp"
#include <boost/test/unit_test.hpp>

#include <cmath>
#include <functional>
#include <limits>

using namespace stiction;
using stiction::test::Rng;

namespace {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

Transform at(double x, double y, double z) { return {Mat3d::identity(), {x, y, z}}; }

/// How to write down the same world: moved, in other units, with its bodies in another order.
struct View {
  Transform X = Transform::identity();
  double length = 1.0, mass = 1.0;
  std::vector<int> order{0, 1, 2, 3, 4};
};

std::vector<Vec3d> gem(double size) {
  std::vector<Vec3d> points{
      {0.1, 0, 0}, {-0.1, 0.02, 0}, {0, 0.1, 0}, {0, -0.1, 0}, {0, 0, 0.1}, {0.01, 0, -0.1}};
  for (Vec3d& p : points) p = p * size;
  return points;
}

Mat3d tilt(double x, double y) { return test::small_rotation({x, y, 0.0}); }

/// Two stacked boxes, a capsule, a gem and a ball above a plane.
Scene pile(const View& view = {}) {
  Scene scene;
  const double s = view.length;
  const Mat3d& R = view.X.R;
  scene.parameters.gravity = R * Vec3d{0, 0, -9.81 * s};
  scene.add_half_space("plane", view.X.p, R.c2, {0.6});
  const auto placed = [&](const Mat3d& rotation, const Vec3d& p) {
    return view.X * Transform{rotation, p * s};
  };
  const std::function<void()> add[] = {[&] {
                                         scene.add_body("lower",
                                                        Shape::box(Vec3d{0.2, 0.15, 0.1} * s),
                                                        2.0 * view.mass,
                                                        placed(Mat3d::identity(), {0, 0, 0.1}),
                                                        {0.6});
                                       },
                                       [&] {
                                         scene.add_body(
                                             "upper",
                                             Shape::box(Vec3d{0.1, 0.1, 0.1} * s),
                                             0.7 * view.mass,
                                             placed(Mat3d::identity(), {0.05, 0.03, 0.301}),
                                             {0.5});
                                       },
                                       [&] {
                                         scene.add_body("capsule",
                                                        Shape::capsule(0.05 * s, 0.1 * s),
                                                        1.0 * view.mass,
                                                        placed(tilt(1.2, 0.3), {-0.6, 0, 0.12}),
                                                        {0.4});
                                       },
                                       [&] {
                                         scene.add_body("gem",
                                                        Shape::convex_mesh(gem(s)),
                                                        0.5 * view.mass,
                                                        placed(tilt(0.2, -0.4), {0.6, 0.1, 0.13}),
                                                        {0.3});
                                       },
                                       [&] {
                                         scene.add_body("ball",
                                                        Shape::sphere(0.07 * s),
                                                        0.3 * view.mass,
                                                        placed(Mat3d::identity(), {0, 0.6, 0.09}),
                                                        {0.2});
                                       }};
  for (const int i : view.order) add[i]();
  return scene;
}

SimulatorSettings strict(double length = 1.0) {
  SimulatorSettings s;
  s.solver.tolerance = 1e-9;  // a slide that is nearly redundant is no limit to less
  s.solver.max_iterations = 5000;
  s.contact.recovery_speed *= length;
  s.contact.restitution_threshold = 0.05 * length;
  s.collision.margin *= length;
  return s;
}

/// Each body starts with its own velocity, in body axes.
State moving(const Simulator& sim, double length) {
  State state = sim.initial_state();
  const std::vector<std::string> names{"lower", "upper", "capsule", "gem", "ball"};
  Rng rng(3);
  for (const std::string& name : names) {
    const int v = sim.scene().trees()[sim.scene().tree_of_body(sim.scene().body(name))].v_offset;
    for (int k = 0; k < 6; ++k) {
      state.v[v + k] = k < 3 ? rng.uniform(-0.3, 0.3) * length : rng.uniform(-1.0, 1.0);
    }
  }
  return state;
}

/// Largest difference from the plain world over `steps` steps, in its units; rotations entry by
/// entry.
double difference(const View& view, int steps) {
  Simulator a(pile(), strict()), b(pile(view), strict(view.length));
  State x = moving(a, 1.0), y = moving(b, view.length);
  const Control none;
  double worst = 0.0;
  int contacts = 0;
  for (int k = 0; k < steps; ++k) {
    a.step(x, none);
    b.step(y, none);
    BOOST_REQUIRE((a.report().status == StepStatus::kOk));
    BOOST_REQUIRE((b.report().status == StepStatus::kOk));
    contacts = std::max(contacts, a.report().num_contacts);
    const std::vector<Transform> X = a.body_poses(x), Y = b.body_poses(y);
    for (const std::string& name : a.scene().body_names()) {
      const Transform P = X[a.scene().body(name)];
      const Transform Q = inverse(view.X) * Y[b.scene().body(name)];
      worst = std::max(worst, norm(P.p - Q.p * (1.0 / view.length)));
      for (int c = 0; c < 3; ++c) worst = std::max(worst, norm(P.R.column(c) - Q.R.column(c)));
    }
  }
  BOOST_TEST(contacts >= 8);  // both boxes, and more
  return worst;
}

/// The pile with an arm that lies on it: limits, dry friction, servo, gear and closure.
Scene everything() {
  Scene scene = pile();
  Robot arm;
  arm.name = "arm";
  for (int i = 0; i < 3; ++i) {
    BodyDescription b;
    b.name = "link" + std::to_string(i);
    b.parent = i - 1;
    b.joint = i == 1 ? JointType::kContinuous : JointType::kRevolute;
    b.axis = {0, 1, 0};
    b.placement = at(i == 0 ? 0.0 : 0.3, 0, 0);
    b.mass = 0.6;
    b.com = {0.15, 0, 0};
    b.inertia = {1e-4, 0, 5e-3, 0, 0, 5e-3};
    arm.bodies.push_back(b);
    GeometryDescription g;
    g.name = "tip" + std::to_string(i);
    g.body = i;
    g.shape = Shape::sphere(0.04);
    g.placement = at(0.3, 0, 0);
    arm.geometries.push_back(g);
  }
  arm.dofs.resize(3);
  arm.dofs[0].lower = -1.0;
  arm.dofs[0].upper = 0.2;
  arm.dofs[1].dry_friction = 0.05;
  arm.neutral = {0.0, 1.0, 0.0, 0.0};
  const int robot = scene.add_robot(arm, at(-1.6, 0, 0.3));
  const int v = scene.robots()[robot].v_offset;
  scene.set_gains(v + 2, 20.0, 1.0);
  const int bob = scene.add_body("bob", Shape::sphere(0.05), 0.2, at(-0.6, 0.6, 0.5));
  scene.add_point_closure("string", -1, {-0.6, 0.6, 0.8}, bob, {0, 0, 0.3});
  return scene;
}

/// Expects std::invalid_argument whose text holds every part.
void check_throws(const std::function<void()>& call, const std::vector<std::string>& parts) {
  try {
    call();
    BOOST_ERROR("nothing thrown, expected " << parts[0]);
  } catch (const std::invalid_argument& e) {
    for (const std::string& part : parts) {
      BOOST_TEST_CONTEXT("\"" << e.what() << "\" misses " << part) {
        BOOST_TEST((std::string(e.what()).find(part) != std::string::npos));
      }
    }
  }
}

}  // namespace

BOOST_AUTO_TEST_SUITE(reliability_test)

// The same inputs give the same bits in another Simulator and in one that has run before.
BOOST_AUTO_TEST_CASE(repeated_runs_give_the_same_bits) {
  Simulator a(everything(), {}), b(everything(), {});
  const Control hold = a.hold();
  State x = a.initial_state(), y = b.initial_state(), z = b.initial_state();
  a.run(x, hold, 700);
  b.run(y, hold, 700);
  BOOST_TEST((x == y));
  b.run(z, hold, 700);
  BOOST_TEST((x == z));
  BOOST_TEST(a.report().num_contacts > 8);
  BOOST_TEST(a.report().num_islands > 1);
}

// A State saved at any moment (copied, or through bytes) and continued elsewhere gives the bits of
// the straight run.
BOOST_AUTO_TEST_CASE(a_saved_state_continues_bit_for_bit) {
  Simulator sim(everything(), {});
  const Control hold = sim.hold();
  for (const int middle : {1, 37, 200, 455}) {
    State straight = sim.initial_state(), x = straight;
    sim.run(straight, hold, 500);
    sim.run(x, hold, middle);
    State copy = x, bytes = restore_state(save_state(x));
    BOOST_TEST((bytes == x));
    for (State* state : {&copy, &bytes}) {
      Simulator other(everything(), {});
      other.run(*state, hold, 500 - middle);
      BOOST_TEST((*state == straight));
    }
  }
}

// A world rotated and moved as a whole moves in the same way.
BOOST_AUTO_TEST_CASE(rotated_world_moves_alike) {
  Rng rng(5);
  for (int trial = 0; trial < 4; ++trial) {
    View view;
    view.X = test::pose(rng, 3.0);
    const double d = difference(view, 100);
    BOOST_TEST_MESSAGE("rotated: " << d);
    BOOST_TEST(d < 1e-7);
  }
}

// The order in which bodies are added does not matter.
BOOST_AUTO_TEST_CASE(permuted_bodies_move_alike) {
  for (const std::vector<int>& order :
       {std::vector<int>{4, 3, 2, 1, 0}, {1, 0, 3, 4, 2}, {2, 0, 4, 1, 3}}) {
    View view;
    view.order = order;
    const double d = difference(view, 100);
    BOOST_TEST_MESSAGE("permuted: " << d);
    BOOST_TEST(d < 1e-7);
  }
}

// Ten times the lengths and gravity, a hundred times the masses: the same motion.
BOOST_AUTO_TEST_CASE(scaled_world_moves_alike) {
  for (const double length : {10.0, 0.1}) {
    View view;
    view.length = length;
    view.mass = length * length;
    const double d = difference(view, 100);
    BOOST_TEST_MESSAGE("scaled by " << length << ": " << d);
    BOOST_TEST(d < 1e-7);
  }
}

// A control that is not finite: the step says so and leaves the state, warm starts included, as it
// was.
BOOST_AUTO_TEST_CASE(not_finite_control_leaves_the_state) {
  Simulator sim(everything(), {});
  const Control hold = sim.hold();
  State state = sim.initial_state();
  sim.run(state, hold, 300);
  BOOST_REQUIRE(!state.contacts.empty());
  for (const double bad : {kNaN, kInfinity, -kInfinity}) {
    for (int kind = 0; kind < 4; ++kind) {
      Control control = hold;
      if (kind == 0) control.torque[0] = bad;
      if (kind == 1) control.torque[sim.scene().nv() - 1] = bad;
      if (kind == 2) control.position_target[sim.scene().dof("link2")] = bad;
      if (kind == 3) control.wrenches.push_back({1, {0, bad, 0}, {0, 0, 0}});
      const State before = state;
      BOOST_TEST_CONTEXT("kind " << kind << ", value " << bad) {
        BOOST_TEST((sim.step(state, control).status == StepStatus::kNotFinite));
        BOOST_TEST((state == before));
      }
      BOOST_TEST(std::string(to_string(sim.report().status)) == "not_finite");
    }
  }
  BOOST_TEST((sim.step(state, hold).status == StepStatus::kOk));  // and it can go on
}

// States that are not states of the scene are refused, naming the entry.
BOOST_AUTO_TEST_CASE(bad_states_throw) {
  const Scene scene = everything();
  const Simulator sim(scene, {});
  const State good = sim.initial_state();
  const auto check = [&](const std::function<void(State&)>& spoil,
                         const std::vector<std::string>& parts) {
    State state = good;
    spoil(state);
    check_throws([&] { validate_state(scene, state); }, parts);
  };
  validate_state(scene, good);
  for (const int i : {0, 7, scene.nq() - 1}) {
    for (const double bad : {kNaN, kInfinity}) {
      check([&](State& s) { s.q[i] = bad; }, {"state.q[" + std::to_string(i) + "]", "finite"});
    }
  }
  check([](State& s) { s.v[4] = kNaN; }, {"state.v[4]", "nan"});
  check([](State& s) { s.q.conservativeResize(3); }, {"state.q", "3", std::to_string(scene.nq())});
  check([](State& s) { s.v.conservativeResize(0); }, {"state.v", "0", std::to_string(scene.nv())});
  check([](State& s) { s.q[6] = 0.9; }, {"state.q[3:7]", "lower", "0.9"});
  check([](State& s) { s.q.segment(3, 4).setZero(); }, {"state.q[3:7]", "lower"});
  const int arm = scene.robots()[0].q_offset;
  check([&](State& s) { s.q[arm + 1] = 1.1; }, {"link1", "1.1"});
  check([](State& s) { s.constraint_impulse.pop_back(); }, {"constraint_impulse", "another scene"});
  State foreign = good;  // one that only step() sees
  foreign.constraint_impulse.clear();
  Simulator other(scene, {});
  check_throws([&] { other.step(foreign, {}); }, {"constraint_impulse", "has 0"});
  check_throws([&] { make_state(scene, {1.0, 2.0}); }, {"2", "nq = " + std::to_string(scene.nq())});
  check_throws([&] { sim.initial_state("lying"); }, {"lying", "default"});
}

// What a scene is composed of is checked at once.
BOOST_AUTO_TEST_CASE(bad_compositions_throw) {
  Scene scene = pile();
  const Transform I = Transform::identity();
  Transform mirrored = I;
  mirrored.R.c2.z = -1.0;
  Material bouncy;
  bouncy.restitution = 5.0;
  check_throws([&] { scene.add_weld("w", 0, I, 99, I); }, {"\"w\"", "body_b = 99"});
  check_throws([&] { scene.add_weld("w", 0, mirrored, 1, I); }, {"X_A", "reflection"});
  check_throws([&] { scene.add_point_closure("p", 2, {}, 2, {}); }, {"\"p\"", "same"});
  check_throws([&] { scene.disable_pair(0, 77); }, {"disable_pair", "77"});
  check_throws([&] { scene.enable_only({{-1, 0}}); }, {"enable_only", "-1"});
  check_throws([&] { scene.set_pair_material(0, 1, bouncy); }, {"restitution", "5"});
  check_throws([&] { scene.add_ground(bouncy); }, {"restitution", "5"});
  Robot arm;
  arm.bodies.emplace_back();
  arm.bodies[0].joint = JointType::kRevolute;
  arm.bodies[0].mass = 1.0;
  arm.dofs.resize(1);
  arm.neutral = {0.0};
  scene.add_robot(arm);
  check_throws([&] { scene.set_gains(scene.nv() - 1, kNaN, 0.0); }, {"kp = nan"});
  const Parameters good = scene.parameters;
  const auto spoiled = [&](auto&& spoil, const std::vector<std::string>& parts) {
    Parameters p = good;
    spoil(p);
    check_throws([&] { p.validate(); }, parts);
  };
  good.validate();
  spoiled([](Parameters& p) { p.com[1].y = kNaN; }, {"com[1]", "nan"});
  spoiled([](Parameters& p) { p.inertia[2].zz = -1.0; }, {"inertia(2)", "-1"});
  spoiled([&](Parameters& p) { p.geometry_placement[0] = mirrored; }, {"geometry_placement(0)"});
}

// Settings out of range are refused by the constructor, naming the field and the value.
BOOST_AUTO_TEST_CASE(bad_settings_throw) {
  using Spoil = std::function<void(SimulatorSettings&)>;
  const std::vector<std::pair<Spoil, std::vector<std::string>>> cases{
      {[](auto& s) { s.dt = 0.0; }, {"dt = 0:"}},
      {[](auto& s) { s.dt = -0.25; }, {"dt", "-0.25"}},
      {[](auto& s) { s.dt = kNaN; }, {"dt", "nan"}},
      {[](auto& s) { s.dt = kInfinity; }, {"dt", "inf"}},
      {[](auto& s) { s.integrator = "rk9"; }, {"integrator", "rk9", "semi-implicit-euler"}},
      {[](auto& s) { s.solver.name = "x"; }, {"solver", "\"x\"", "ncp-newton"}},
      {[](auto& s) { s.solver.tolerance = -0.5; }, {"tolerance", "-0.5"}},
      {[](auto& s) { s.solver.max_iterations = 0; }, {"max_iterations", "0"}},
      {[](auto& s) { s.contact.baumgarte = 1.25; }, {"baumgarte", "1.25"}},
      {[](auto& s) { s.contact.baumgarte = -0.5; }, {"baumgarte", "-0.5"}},
      {[](auto& s) { s.contact.recovery_speed = -2.5; }, {"recovery_speed", "-2.5"}},
      {[](auto& s) { s.contact.recovery_speed = kNaN; }, {"recovery_speed", "nan"}},
      {[](auto& s) { s.contact.recovery_angular_speed = -1.5; },
       {"recovery_angular_speed", "-1.5"}},
      {[](auto& s) { s.contact.restitution_threshold = kNaN; }, {"restitution_threshold", "nan"}},
      {[](auto& s) { s.contact.closure_gain = 1.5; }, {"closure_gain", "1.5"}},
      {[](auto& s) { s.contact.limit_margin = -0.25; }, {"limit_margin", "-0.25"}},
      {[](auto& s) { s.collision.margin = -0.25; }, {"margin", "-0.25"}},
      {[](auto& s) { s.collision.margin = kNaN; }, {"margin", "nan"}}};
  const Scene scene = pile();
  for (const auto& [spoil, parts] : cases) {
    SimulatorSettings s;
    spoil(s);
    check_throws([&] { Simulator(scene, s); }, parts);
  }
}

// A rollout is a loop of steps, bit for bit, with torques, targets, or neither.
BOOST_AUTO_TEST_CASE(rollout_is_a_loop_of_steps) {
  Simulator sim(everything(), {});
  const int nv = sim.scene().nv(), steps = 300;
  Rng rng(6);
  for (int kind = 0; kind < 4; ++kind) {
    RolloutInput input;
    input.steps = steps;
    input.stop_on_bad_status = false;
    if (kind & 1) input.taus.setZero(steps, nv);
    if (kind & 2) input.position_targets.setZero(steps, nv);
    for (int k = 0; k < input.taus.size(); ++k) input.taus.data()[k] = rng.uniform(-0.1, 0.1);
    for (int k = 0; k < input.position_targets.size(); ++k) {
      input.position_targets.data()[k] = rng.uniform(-0.5, 0.5);
    }
    State x = sim.initial_state(), y = x;
    const RolloutLog log = sim.rollout(x, sim.hold(), input);
    BOOST_TEST(log.steps == steps);
    BOOST_TEST(log.reports.size() == std::size_t(steps));
    Control control = sim.hold();
    for (int k = 0; k < steps; ++k) {
      BOOST_TEST((log.q.row(k).transpose() == y.q && log.v.row(k).transpose() == y.v));
      if (kind & 1) control.torque = input.taus.row(k);
      if (kind & 2) control.position_target = input.position_targets.row(k);
      sim.step(y, control);
      BOOST_TEST(log.reports[k].residuals.relative == sim.report().residuals.relative);
    }
    BOOST_TEST((x == y));
    BOOST_TEST((log.q.row(steps).transpose() == y.q));
  }
}

// A rollout ends with the first bad step, which it logs; inputs of the wrong shape throw.
BOOST_AUTO_TEST_CASE(rollout_stops_early) {
  Simulator sim(pile(), {});
  const int nv = sim.scene().nv();
  RolloutInput input;
  input.taus.setZero(50, nv);
  input.taus(20, 3) = kNaN;
  for (const bool stop : {true, false}) {
    input.stop_on_bad_status = stop;
    State x = sim.initial_state(), y = x;
    const RolloutLog log = sim.rollout(x, {}, input);
    sim.run(y, {}, 20);
    BOOST_TEST(log.steps == 21);
    BOOST_TEST(log.q.rows() == 22);
    BOOST_TEST(log.reports.size() == 21u);
    BOOST_TEST((log.reports.back().status == StepStatus::kNotFinite));
    BOOST_TEST((x == y));
  }
  SimulatorSettings hasty;
  hasty.solver.tolerance = 1e-15;
  hasty.solver.max_iterations = 1;
  hasty.solver.name = "ncp-pgs";
  Simulator poor(pile(), hasty);
  input.taus.setZero();
  for (const bool stop : {true, false}) {
    input.stop_on_bad_status = stop;
    State x = moving(poor, 1.0);
    const RolloutLog log = poor.rollout(x, {}, input);
    BOOST_TEST((log.steps < 50) == stop);
    if (stop) BOOST_TEST((log.reports.back().status == StepStatus::kNotConverged));
  }
  State x = sim.initial_state();
  input.taus.setZero(5, nv + 1);
  check_throws([&] { sim.rollout(x, {}, input); }, {"taus", std::to_string(nv + 1)});
  input.taus.setZero(5, nv);
  input.position_targets.setZero(4, nv);
  check_throws([&] { sim.rollout(x, {}, input); }, {"taus", "position_targets"});
  x.q[2] = kNaN;
  check_throws([&] { sim.rollout(x, {}, {}); }, {"state.q[2]"});
}

BOOST_AUTO_TEST_SUITE_END()
