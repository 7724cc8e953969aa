#include "support/recovery.hpp"

#include "stiction/simulator/simulator.hpp"

#include "integrator/step_record.hpp"
#include "model/joint.hpp"
#include "support/random_tree.hpp"
#include <boost/test/unit_test.hpp>

#include <cmath>

// Position errors of random trees, with levers down to 0.1 mm: what a step makes of them, seen from
// outside, by how fast joints and bodies move after it.

namespace stiction {
namespace {

using test::kinetic_energy;
using test::Rng;
using test::Speeds;
using test::speeds;

constexpr double kDt = 1e-4;  // [s] short: velocities are compared at two configurations

enum class ErrorKind { kContact, kLimit };

SimulatorSettings strict() {
  SimulatorSettings s;
  s.dt = kDt;
  s.solver.tolerance = 1e-12;
  return s;
}

/// One hinge on a fixed base.
std::vector<BodyDescription> hinge(Rng& rng) {
  BodyDescription b;
  b.name = "door";
  b.joint = rng.below(2) ? JointType::kRevolute : JointType::kContinuous;
  test::random_mass(rng, b);
  return {b};
}

/// A ball on a random body, and one fixed to the world that it is `depth` inside of. The normal
/// passes the body's joint at a distance between `least_lever` and 1 m.
void add_overlap(Rng& rng, double depth, double least_lever, Scene& scene) {
  const int body = rng.below(scene.num_bodies());
  const Transform X_WB = Simulator(scene).body_poses(Simulator(scene).initial_state())[body];
  const double lever = std::pow(least_lever, rng.uniform(0.0, 1.0)), radius = 0.05;
  const Vec3d n = test::unit_vector(rng);
  const Vec3d aside = cross(n, test::unit_vector(rng));
  const Vec3d p = X_WB.p + aside * (lever / norm(aside)) + n * rng.uniform(-0.3, 0.3);
  const Transform own{Mat3d::identity(), transpose_times(X_WB.R, p - X_WB.p)};
  scene.add_geometry("own", body, Shape::sphere(radius), own, {0.0});
  scene.add_geometry("fixed",
                     -1,
                     Shape::sphere(radius),
                     {Mat3d::identity(), p - n * (2.0 * radius - depth)},
                     {0.0});
}

/// A limit that is exceeded by `depth`; false if no joint can have one.
bool add_violation(Rng& rng, double depth, Robot& robot) {
  std::vector<int> able;
  int v = 0;
  for (const BodyDescription& b : robot.bodies) {
    if (b.joint == JointType::kRevolute || b.joint == JointType::kPrismatic) able.push_back(v);
    v += joint_nv(b.joint);
  }
  if (able.empty()) return false;
  DofDescription& dof = robot.dofs[able[rng.below(static_cast<int>(able.size()))]];
  (rng.below(2) ? dof.lower : dof.upper) = 0.0;
  (dof.lower == 0.0 ? dof.lower : dof.upper) += dof.lower == 0.0 ? depth : -depth;
  return true;
}

/// The one position error of a scene, > 0 [m or rad].
double position_error(Simulator& sim, const State& state) {
  State probe = state;
  sim.prepare(probe, {});
  double error = 0.0;
  for (const ConstraintRow& row : sim.record().rows.rows) {
    if (row.source == RowSource::kLimitRecovery) continue;  // its limit is another row
    if (row.source == RowSource::kContact) {
      error = std::max(error, -sim.contact_set()[row.index].gap);
    } else {
      const Parameters& p = sim.parameters();
      const double q =
          sim.scene().dof_positions({state.q.data(), state.q.data() + state.q.size()})[row.index];
      const bool lower = row.source == RowSource::kLowerLimit;
      error = std::max(error, lower ? p.lower[row.index] - q : q - p.upper[row.index]);
    }
  }
  return error;
}

/// The row that corrects the position error of the last step, or the first one.
const ConstraintRow& correcting_row(const Simulator& sim) {
  const ConstraintRow* found = &sim.record().rows.rows[0];
  for (const ConstraintRow& row : sim.record().rows.rows) {
    if (row.source == RowSource::kLimitRecovery) found = &row;
  }
  return *found;
}

/// A scene at rest, without gravity, with one position error of `depth`.
Scene scene_with_error(Rng& rng, ErrorKind kind, double depth, double least_lever) {
  for (;;) {
    const bool simple = rng.below(3) == 0;
    Robot robot = test::random_robot(
        simple && kind == ErrorKind::kContact ? hinge(rng) : test::random_tree(rng));
    if (kind == ErrorKind::kLimit && !add_violation(rng, depth, robot)) continue;
    Scene scene;
    scene.parameters.gravity = {0, 0, 0};
    scene.add_robot(robot, test::pose(rng, 1.0));
    if (kind == ErrorKind::kContact) add_overlap(rng, depth, least_lever, scene);
    return scene;
  }
}

}  // namespace

BOOST_AUTO_TEST_SUITE(recovery_test)

// From rest, one step: no joint and no body is faster than the caps, the row is not slower than it
// need be, and the energy is what the report says.
BOOST_AUTO_TEST_CASE(a_correction_moves_nothing_faster_than_the_caps) {
  Rng rng(1);
  int by_joint = 0, by_body = 0, by_row = 0, uncapped = 0, of_limits = 0;
  for (int trial = 0; trial < 1200; ++trial) {
    const ErrorKind kind = trial % 3 == 0 ? ErrorKind::kLimit : ErrorKind::kContact;
    const double depth = std::pow(10.0, rng.uniform(-7.0, -1.5));
    const Scene scene = scene_with_error(rng, kind, depth, 1e-4);
    Simulator sim(scene, strict());
    const double v_cap = sim.settings().contact.recovery_speed,
                 w_cap = sim.settings().contact.recovery_angular_speed;
    State state = sim.initial_state();
    const StepReport report = sim.step(state, {});
    BOOST_TEST_REQUIRE(report.num_rows > 0);
    if (sim.record().rows.rows[0].kind == ReferenceKind::kImmovable) continue;
    const Speeds s = speeds(scene, state);
    BOOST_TEST_CONTEXT("trial " << trial << ", depth " << depth) {
      BOOST_TEST((report.status == StepStatus::kOk));
      BOOST_TEST(s.linear() <= 1.001 * v_cap);
      BOOST_TEST(s.angular() <= 1.001 * w_cap);
      const ConstraintRow& row = correcting_row(sim);
      const double c = row.reference[row.set.dim - 1];
      const bool turns = kind == ErrorKind::kLimit && s.joint_angular > 0.999 * c &&
                         scene.trees()[0].joint[row.sides[0].body] == JointType::kRevolute;
      const double cap = turns ? w_cap : v_cap, asked = std::min(0.2 * depth / kDt, cap);
      // Cut only as far as something would be too fast.
      const double fastest = std::max({s.linear() / v_cap, s.angular() / w_cap, c / asked});
      BOOST_TEST(fastest > 0.999);
      BOOST_TEST(c < (1.0 + 1e-6) * asked);
      BOOST_TEST((row.kind == ReferenceKind::kCapped) == (c < (1.0 - 1e-6) * 0.2 * depth / kDt));
      // From rest, without friction: half of lambda c* is the energy.
      BOOST_TEST(kinetic_energy(scene, state) <= 0.501 * report.recovery_energy);
      BOOST_TEST(kinetic_energy(scene, state) >= 0.499 * report.recovery_energy);
      if (c > 0.999 * asked) {
        (asked == cap ? by_row : uncapped)++;
      } else {
        (std::max(s.joint_linear / v_cap, s.joint_angular / w_cap) > 0.999 ? by_joint : by_body)++;
      }
      of_limits += kind == ErrorKind::kLimit;
    }
  }
  BOOST_TEST_MESSAGE(by_joint << " cut by a joint, " << by_body << " by a body, " << by_row
                              << " by the row, " << uncapped << " not");
  BOOST_TEST(std::min({by_joint, by_body, by_row, uncapped}) >= 30);
  BOOST_TEST(of_limits >= 200);
}

// At rest before every step: the error only ever falls, and ends. Levers are such that dt c* is
// more than what the arc of a point takes back, (dt w)^2 / 2 of its radius.
BOOST_AUTO_TEST_CASE(errors_fall_to_zero) {
  Rng rng(2);
  for (int trial = 0; trial < 60; ++trial) {
    const ErrorKind kind = trial % 2 ? ErrorKind::kLimit : ErrorKind::kContact;
    const Scene scene = scene_with_error(rng, kind, rng.uniform(1e-4, 5e-3), 2e-3);
    SimulatorSettings settings = strict();
    settings.dt = 1e-3;
    Simulator sim(scene, settings);
    State state = sim.initial_state();
    double error = position_error(sim, state);
    if (sim.record().rows.rows[0].kind == ReferenceKind::kImmovable) continue;
    BOOST_TEST_CONTEXT("trial " << trial) {
      for (int k = 0; k < 20000 && error > 1e-7; ++k) {
        state.v.setZero();
        const StepReport report = sim.step(state, {});
        BOOST_TEST_REQUIRE((report.status == StepStatus::kOk));
        const double next = position_error(sim, state);
        BOOST_TEST_REQUIRE(next < error);
        error = next;
      }
      BOOST_TEST(error <= 1e-7);
    }
  }
}

// Rows that stay rigid beside compliant contacts obey the same caps, and are reported.
BOOST_AUTO_TEST_CASE(compliant_integrators_obey_too) {
  Rng rng(3);
  int cut = 0;
  for (int trial = 0; trial < 60; ++trial) {
    const ErrorKind kind = trial % 2 ? ErrorKind::kLimit : ErrorKind::kContact;
    Scene scene = scene_with_error(rng, kind, rng.uniform(1e-4, 5e-3), 1e-4);
    const int rigid = static_cast<int>(scene.geometries().size());
    scene.add_ground({0.5, 0.0, 1e4, 10.0});  // they want something to be compliant
    scene.add_body("ball", Shape::sphere(0.1), 1.0, {Mat3d::identity(), {50, 0, 0.2}}, {0.5});
    std::vector<std::pair<int, int>> pairs{{rigid, rigid + 1}};
    if (rigid == 2) pairs.push_back({0, 1});
    scene.enable_only(pairs);
    SimulatorSettings settings = strict();
    settings.integrator = trial % 4 < 2 ? "implicit-euler" : "rk4";
    Simulator sim(scene, settings);
    State state = sim.initial_state();
    const StepReport report = sim.step(state, {});
    const Speeds s = speeds(scene, state);
    BOOST_TEST_CONTEXT("trial " << trial << ", " << settings.integrator) {
      BOOST_TEST((report.status == StepStatus::kOk));
      BOOST_TEST(report.recovery_energy > 0.0);
      BOOST_TEST(s.linear() <= 1.001 * settings.contact.recovery_speed);
      BOOST_TEST(s.angular() <= 1.001 * settings.contact.recovery_angular_speed);
      cut += std::max(s.linear() / 0.5, s.angular()) > 0.99;
    }
  }
  BOOST_TEST(cut > 20);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace stiction
