#include "stiction/model/state_io.hpp"
#include "stiction/simulator/simulator.hpp"

#include "support/compliant_scenes.hpp"
#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <cmath>
#include <string>

// Springs in the tangent plane of the rigid step: ContactSettings::tangential_compliance.

using namespace stiction;
using namespace stiction::test;

namespace {

constexpr double kMass = 2.0, kStiffness = 2e4, kRatio = 0.5;

SimulatorSettings settings(double dt = 1e-3) {
  SimulatorSettings s;
  s.dt = dt;
  s.solver.tolerance = 1e-12;
  s.contact.tangential_compliance = true;
  return s;
}

/// A pair of friction mu, `damping` also tangential.
Material soft(double mu, double damping = 400.0) {
  Material m{mu, 0.0, kStiffness, damping};
  m.tangential_stiffness_ratio = kRatio;
  m.tangential_damping_ratio = kRatio;
  return m;
}

/// A box of 10 cm height at rest in its normal springs, on a slope or the level ground.
Scene box_on(const Material& pair, double angle = 0.0, bool slope_first = true) {
  Scene scene;
  const Mat3d R = about_y(angle);
  const double height = 0.05 - kMass * kGravity * std::cos(angle) / kStiffness;
  const auto slope = [&] { scene.add_half_space("slope", {0, 0, 0}, R.c2, pair); };
  if (slope_first) slope();
  scene.add_body(
      "box", Shape::box({0.1, 0.1, 0.05}), kMass, {R, R * Vec3d{0, 0, height}}, {pair.friction});
  if (!slope_first) slope();
  scene.set_pair_material(0, 1, pair);
  return scene;
}

/// A force on the box that acts in the plane of contact: it tips nothing.
Control pull(double force) {
  Control control;
  control.wrenches.push_back(
      {0, {force, 0, 0}, {0, -(0.05 - kMass * kGravity / kStiffness) * force, 0}});
  return control;
}

/// Sum over the points, world: force on the box, and mean extension of its anchors to it.
struct Hold {
  Vec3d force{0, 0, 0}, extension{0, 0, 0};
};
Hold hold_of(const Simulator& sim) {
  Hold out;
  const auto reports = sim.contacts();
  for (const ContactReport& c : reports) {
    const double sign = c.body_b == 0 ? 1.0 : -1.0;
    out.force += c.force_on_b_world * sign;
    out.extension += c.frame * c.extension * (sign / static_cast<double>(reports.size()));
  }
  return out;
}

double total_energy(const StepReport& r) {
  return r.kinetic_energy + r.potential_energy + r.elastic_energy;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(tangential_compliance_test)

// On a slope the springs carry m g sin and hang by m g sin / k_t, whichever geometry comes first;
// nothing creeps in 10 s.
BOOST_AUTO_TEST_CASE(slope) {
  const double angle = 0.4, weight = kMass * kGravity;
  for (const bool slope_first : {true, false}) {
    Simulator sim(box_on(soft(0.8), angle, slope_first), settings());
    State state = sim.initial_state();
    sim.run(state, {}, 10000);
    const Eigen::VectorXd before = state.q;
    sim.run(state, {}, 10000);
    const Hold hold = hold_of(sim);
    const Vec3d up = about_y(angle).c0 * -1.0;
    BOOST_TEST_CONTEXT("slope first: " << slope_first) {
      BOOST_TEST((state.q - before).norm() < 1e-12);
      BOOST_TEST(std::abs(hold.force.z - weight) < 1e-8);
      BOOST_TEST(std::abs(hold.force.x) < 1e-8);
      BOOST_TEST(norm(hold.extension - up * (weight * std::sin(angle) / (kRatio * kStiffness))) <
                 1e-10);
      BOOST_TEST(sim.report().residuals.relative <= 1e-12);
      BOOST_TEST(sim.report().creep < 1e-12);
    }
  }
}

// Without them the same block sticks where it is put: they are off unless asked for.
BOOST_AUTO_TEST_CASE(off_by_default) {
  SimulatorSettings s = settings();
  s.contact = {};
  Simulator sim(box_on(soft(0.8)), s);
  State state = sim.initial_state();
  sim.run(state, pull(0.5 * 0.8 * kMass * kGravity), 1000);
  BOOST_TEST(std::abs(state.q[0]) < 1e-12);
  for (const ContactMemory& c : state.contacts) BOOST_TEST(norm(c.extension) == 0.0);
}

// A rigid pair has none either, and its step has the same bits.
BOOST_AUTO_TEST_CASE(rigid_pairs_keep_their_bits) {
  const Scene scene = box_on({0.5});
  SimulatorSettings off = settings();
  off.contact = {};
  Simulator sim(scene, settings()), without(scene, off);
  State a = sim.initial_state(), b = a;
  for (const double force : {3.0, 12.0, 0.0}) {
    sim.run(a, pull(force), 300);
    without.run(b, pull(force), 300);
    BOOST_TEST((a == b));
  }
}

// Pushed below mu m g the block goes as far as F / k_t, and comes back when let go.
BOOST_AUTO_TEST_CASE(springs_back) {
  const double mu = 0.5, force = 0.6 * mu * kMass * kGravity, kt = kRatio * kStiffness;
  Simulator sim(box_on(soft(mu)), settings());
  State state = sim.initial_state();
  sim.run(state, pull(force), 3000);
  BOOST_TEST(std::abs(hold_of(sim).extension.x + force / kt) < 1e-10);
  BOOST_TEST(state.q[0] > 0.99 * force / kt);
  BOOST_TEST(std::abs(sim.report().elastic_energy -
                      0.5 * (force * force / kt + std::pow(kMass * kGravity, 2) / kStiffness)) <
             1e-4 * force * force / kt);
  sim.run(state, {}, 3000);
  BOOST_TEST(std::abs(state.q[0]) < 1e-9);
  const Eigen::VectorXd before = state.q;
  sim.run(state, {}, 10000);
  BOOST_TEST((state.q - before).norm() < 1e-13);
}

// Pushed harder it slides: friction is mu m g, the springs carry it, and keep it when it stops.
BOOST_AUTO_TEST_CASE(slides_with_the_cone_force) {
  const double mu = 0.5, limit = mu * kMass * kGravity, kt = kRatio * kStiffness;
  for (const double ratio : {0.0, 1.0}) {
    Material pair = soft(mu);
    pair.tangential_damping_ratio = ratio;
    Simulator sim(box_on(pair), settings(1e-4));
    State state = sim.initial_state();
    sim.run(state, pull(1.5 * limit), 5000);
    const double before = state.v[0];
    sim.run(state, pull(1.5 * limit), 1000);
    const Hold hold = hold_of(sim);
    BOOST_TEST_CONTEXT("damping ratio " << ratio) {
      BOOST_TEST(std::abs(hold.force.x + limit) < 1e-6 * limit);
      BOOST_TEST(std::abs(hold.extension.x + limit / kt) < 1e-6 * limit / kt);
      BOOST_TEST(std::abs(state.v[0] - before - 0.5 * mu * kGravity * 0.1) < 1e-6);
      for (const ContactReport& c : sim.contacts()) BOOST_TEST(c.sliding);
    }
  }
}

// The implicit Euler method of compliant integrators is the same scheme by another road: Newton on
// positions instead of a contact problem. Sticking, sliding, stopping, springing back. They differ
// by the lever of friction: a point acts at mid-depth here and at the box's corner there.
BOOST_AUTO_TEST_CASE(agrees_with_implicit_euler) {
  const double mu = 0.5, limit = mu * kMass * kGravity;
  const Scene scene = box_on(soft(mu));
  SimulatorSettings implicit = settings();
  implicit.integrator = "implicit-euler";
  implicit.contact.tangential_compliance = false;  // it has them anyway
  Simulator rigid(scene, settings()), compliant(scene, implicit);
  State a = rigid.initial_state(), b = compliant.initial_state();
  double way = 0.0, apart = 0.0;
  for (int k = 0; k < 600; ++k) {
    const Control control = pull(k < 100 ? 0.7 * limit : k < 250 ? 1.6 * limit : 0.0);
    rigid.step(a, control);
    compliant.step(b, control);
    way = std::max(way, a.q[0]);
    apart = std::max(apart, (a.q - b.q).norm());
  }
  BOOST_TEST_MESSAGE("way " << way << " m, apart " << apart << " m");
  BOOST_TEST(way > 0.04);
  BOOST_TEST(apart < 6e-4 * way);
}

// A state saved while it slides goes on bit for bit, in another simulator too.
BOOST_AUTO_TEST_CASE(restored_in_mid_slip) {
  const Scene scene = box_on(soft(0.3), 0.4);
  Simulator sim(scene, settings());
  State state = sim.initial_state();
  sim.run(state, {}, 200);
  BOOST_TEST(sim.contacts()[0].sliding);
  BOOST_TEST(norm(state.contacts[0].extension) > 1e-6);
  Simulator other(scene, settings());
  State restored = restore_state(save_state(state));
  sim.run(state, {}, 200);
  other.run(restored, {}, 200);
  BOOST_TEST((state == restored));
  BOOST_TEST((save_state(state) == save_state(restored)));
}

// Kinetic, potential and elastic energy never grow: without damping it is that of the implicit
// Euler method, in sticking and in sliding.
BOOST_AUTO_TEST_CASE(energy_does_not_grow) {
  for (const double damping : {0.0, 40.0}) {
    for (const double speed : {0.05, 1.0}) {
      Simulator sim(box_on(soft(0.5, damping)), settings());
      State state = sim.initial_state();
      state.v[0] = speed;
      state.v[1] = -0.5 * speed;
      double last = total_energy(sim.step(state, {})), growth = 0.0;
      const double first = last;
      for (int k = 0; k < 2000; ++k) {
        const double now = total_energy(sim.step(state, {}));
        growth = std::max(growth, now - last);
        last = now;
      }
      BOOST_TEST_CONTEXT("damping " << damping << ", speed " << speed) {
        BOOST_TEST(growth < 1e-12);
        BOOST_TEST(last < first - 0.4 * kMass * speed * speed);
      }
    }
  }
}

// Every solver takes compliant tangents: the same hold on a slope, with a certificate of its own.
BOOST_AUTO_TEST_CASE(every_solver) {
  const double angle = 0.3;
  for (const SolverEntry& solver : solvers()) {
    SimulatorSettings s = settings();
    s.solver.name = solver.name;
    s.solver.tolerance = 1e-9;
    s.solver.max_iterations = 20000;
    if (std::string(solver.name) == "ccp-newton") s.solver.regularisation_weight = 1e-9;
    Simulator sim(box_on(soft(0.8), angle), s);
    State state = sim.initial_state();
    sim.run(state, {}, 4000);
    BOOST_TEST_CONTEXT(solver.name) {
      BOOST_TEST((sim.report().status == StepStatus::kOk));
      BOOST_TEST(sim.report().residuals.relative < 1e-6);
      const double extension = norm(hold_of(sim).extension);
      BOOST_TEST(std::abs(extension - kMass * kGravity * std::sin(angle) / (kRatio * kStiffness)) <
                 1e-6 * extension);
    }
  }
}

// Neither spring nor damper in the tangent plane: nothing holds the block on its slope. A damper
// alone: it creeps at m g sin / d_t.
BOOST_AUTO_TEST_CASE(no_spring) {
  const double angle = 0.2, pull_down = kGravity * std::sin(angle);
  Material none = soft(0.8), viscous = soft(0.8);
  none.tangential_stiffness_ratio = none.tangential_damping_ratio = 0.0;
  viscous.tangential_stiffness_ratio = 0.0;
  Simulator free(box_on(none, angle), settings()), slow(box_on(viscous, angle), settings());
  State a = free.initial_state(), b = slow.initial_state();
  free.run(a, {}, 1000);
  slow.run(b, {}, 1000);
  BOOST_TEST(std::abs(a.v[0] - pull_down * 1.0) < 1e-9);
  BOOST_TEST(std::abs(std::hypot(b.v[0], b.v[2]) - kMass * pull_down / (kRatio * 400.0)) < 1e-9);
}

// The anchors lie on the table and turn with it.
BOOST_AUTO_TEST_CASE(anchors_turn_with_their_body) {
  Robot turntable;
  turntable.name = "turntable";
  BodyDescription plate;
  plate.name = "plate";
  plate.axis = {0, 0, 1};
  plate.mass = 100.0;
  plate.inertia = {10, 0, 10, 0, 0, 10};
  turntable.bodies = {plate};
  turntable.dofs.resize(1);
  turntable.neutral = {0.0};
  GeometryDescription surface;
  surface.name = "surface";
  surface.body = 0;
  surface.shape = Shape::box({1, 1, 0.1});
  surface.material = soft(0.8);
  turntable.geometries = {surface};
  Scene scene;
  scene.add_robot(turntable);
  const double depth = kMass * kGravity / kStiffness, speed = 0.5, radius = 0.4;
  scene.add_body("box",
                 Shape::box({0.1, 0.1, 0.05}),
                 kMass,
                 {Mat3d::identity(), {radius, 0, 0.15 - depth}},
                 {0.8});
  scene.set_pair_material(0, 1, soft(0.8));
  Simulator sim(scene, settings());
  State state = sim.initial_state();
  state.v[0] = speed;
  state.v[2] = radius * speed;
  state.v[6] = speed;
  sim.run(state, {}, 20000);  // 1.6 turns
  const double w = state.v[0], x = state.q[1], y = state.q[2];
  BOOST_TEST(std::abs(state.v[6] - w) < 1e-9);
  double creep = 0.0;
  Vec3d force{0, 0, 0};  // on the box, which is B
  for (const ContactReport& c : sim.contacts()) {
    creep = std::max(creep, std::hypot(c.velocity.x, c.velocity.y));
    force += c.force_on_b_world;
  }
  BOOST_TEST(creep < 1e-8);  // 5e-6 if they did not
  BOOST_TEST(std::hypot(force.x + kMass * w * w * x, force.y + kMass * w * w * y) < 1e-3);
}

BOOST_AUTO_TEST_SUITE_END()
