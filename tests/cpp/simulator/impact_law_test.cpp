#include "stiction/simulator/simulator.hpp"

#include "integrator/energy.hpp"
#include "integrator/semi_implicit_euler.hpp"
#include "integrator/step_record.hpp"
#include "support/random.hpp"
#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <string>

// No impact under the default law gains kinetic energy, whatever hits what.

using namespace stiction;
using stiction::test::Rng;

namespace {

Shape random_shape(Rng& rng) {
  const double a = rng.uniform(0.03, 0.2), b = rng.uniform(0.03, 0.2), c = rng.uniform(0.03, 0.2);
  switch (rng.below(6)) {
    case 0:
      return Shape::sphere(a);
    case 1:
      return Shape::capsule(a, b);
    case 2:
      return Shape::box({a, b, c});
    case 3:
      return Shape::cylinder(a, b);
    case 4:
      return Shape::cone(a, b);
    default:
      return Shape::ellipsoid({a, b, c});
  }
}

Robot chain(Rng& rng) {
  Robot robot;
  robot.name = "chain";
  const int links = 2 + rng.below(4);
  for (int k = 0; k < links; ++k) {
    BodyDescription link;
    link.name = "l" + std::to_string(k);
    link.parent = k - 1;
    if (k == 0) link.joint = JointType::kFreeFlyer;
    link.axis = test::unit_vector(rng);
    if (k > 0) link.placement = {test::rotation(rng), {0.3, 0, 0}};
    link.mass = std::pow(10.0, rng.uniform(-1.0, 1.0));
    const double i = link.mass * 0.005;
    link.inertia = {i, 0, i, 0, 0, i};
    robot.bodies.push_back(link);
  }
  robot.dofs.resize(links + 5);
  robot.neutral = {0, 0, 0, 0, 0, 0, 1};
  for (int k = 1; k < links; ++k) robot.neutral.push_back(rng.uniform(-1.0, 1.0));
  return robot;
}

/// Bodies, a chain or both, let down on each other until they touch: shapes are raised by the depth
/// the narrow phase finds.
Scene random_impact(Rng& rng) {
  Scene scene;
  scene.parameters.gravity = {0, 0, 0};
  const Material m{rng.uniform(0.0, 2.0), rng.below(4) ? rng.uniform(0.0, 1.0) : 1.0};
  scene.add_ground(m);
  if (rng.below(3) == 0) {
    scene.add_robot(chain(rng), {test::rotation(rng), {0, 0, 1}});
    for (int b = 0; b < scene.num_bodies(); ++b)
      scene.add_geometry("g" + std::to_string(b), b, random_shape(rng), Transform::identity(), m);
  }
  const int bodies = 1 + rng.below(3);
  for (int b = 0; b < bodies; ++b) {
    const Mat3d R = rng.below(2) ? test::rotation(rng) : Mat3d::identity();
    scene.add_body("b" + std::to_string(b),
                   random_shape(rng),
                   std::pow(10.0, rng.uniform(-2.0, 2.0)),
                   {R, {0.05 * rng.uniform(-1, 1), 0.05 * rng.uniform(-1, 1), 0.1 + 0.3 * b}},
                   m);
  }
  return scene;
}

/// Kinetic energy of the velocities a step ends with in the metric of its start.
double kinetic(const Scene& scene, const State& start, const State& end, DynamicsWorkspace& work) {
  Eigen::VectorXd v = end.v;
  for (const Tree& t : scene.trees()) {
    if (!t.free_root) continue;
    double* x = v.data() + t.v_offset;
    const Vec3d c = t.num_bodies == 1 ? scene.parameters.com[t.body_offset] : Vec3d{0, 0, 0};
    const Vec3d about_c = cross(Vec3d{x[3], x[4], x[5]}, c);
    const Mat3d from = rotation_from_quaternion(end.q.data() + t.q_offset + 3),
                to = rotation_from_quaternion(start.q.data() + t.q_offset + 3);
    const Vec3d u = transpose_times(to, from * (Vec3d{x[0], x[1], x[2]} + about_c)) - about_c;
    for (int k = 0; k < 3; ++k) x[k] = u[k];
  }
  forward_kinematics(scene, scene.parameters, start.q.data(), v.data(), work);
  return mechanical_energy(scene, scene.parameters, work).kinetic;
}

struct Count {
  int impacts = 0, gaining = 0, many = 0, steps = 0, unsolved = 0, beyond_budget = 0;
  int hard_gaining = 0;
  double worst = 0.0, worst_hard = 0.0, worst_unsolved = 0.0, most_work = 0.0;
};

/// The end of the last step without its impulses.
State without_impulses(const Scene& scene, const Simulator& sim, const State& start) {
  State end = start;
  Eigen::VectorXd dv =
      Eigen::Map<const Eigen::VectorXd>(sim.record().dynamics.free_motion.data(), scene.nv());
  solve_scaled_lower(scene, sim.record().dynamics, dv.data());
  const std::vector<double> change(dv.begin(), dv.end());
  semi_implicit_euler(
      scene, scene.parameters, sim.settings().dt, sim.record().dynamics, change, end);
  return end;
}

/// Relative gains of kinetic energy in steps with impacts, solved or not, over the free motion of
/// the same step and less what recovery is said to add.
Count throw_around(const std::string& law, int impacts, int max_factorisations = 0) {
  Count count;
  for (int trial = 0; count.impacts < impacts; ++trial) {
    Rng rng(5000 + trial);
    const Scene scene = random_impact(rng);
    SimulatorSettings settings;
    settings.impact_law = law;
    settings.solver.max_factorisations = max_factorisations;
    Simulator sim(scene, settings);
    State state = sim.initial_state();
    for (int k = 0; k < scene.nv(); ++k) state.v[k] = rng.uniform(-3.0, 3.0);
    DynamicsWorkspace work;
    work.resize(scene);
    for (int k = 0; k < 300; ++k) {
      if (k % 30 == 0)  // thrown again, down
        for (const Tree& t : scene.trees()) state.v[t.v_offset + 2] -= rng.uniform(0.0, 2.0);
      const State start = state;
      const StepReport& report = sim.step(state, {});
      ++count.steps;
      const double share =
          static_cast<double>(report.factorisations) /
          static_cast<double>(std::max<std::int64_t>(1, sim.most_factorisations()));
      count.most_work = std::max(count.most_work, share);
      count.beyond_budget += share > 1.0;
      int rows = 0;
      for (const ConstraintRow& row : sim.record().rows.rows)
        rows += row.kind == ReferenceKind::kRestitution;
      if (rows == 0) continue;
      count.unsolved += report.status != StepStatus::kOk;
      if (report.num_fast_trees > 0) continue;
      const auto& kicked = sim.record().dynamics.kicked;  // bodies that roll beside the impact
      if (std::count(kicked.begin(), kicked.end(), 1) > 0) continue;
      const State flight = without_impulses(scene, sim, start);
      const double before = kinetic(scene, start, flight, work),
                   after = kinetic(scene, start, state, work);
      const double gain = (after - before - std::max(0.0, report.recovery_energy)) / before;
      ++count.impacts;
      count.many += rows > 1;
      // Problems that only the last stages solve: a gain of 1e-4 in about one of 10^4 impacts,
      // whose cause is not known.
      const bool ok = report.status == StepStatus::kOk, hard = report.factorisations > 1000;
      double& worst = !ok ? count.worst_unsolved : hard ? count.worst_hard : count.worst;
      worst = std::max(worst, gain);
      (hard ? count.hard_gaining : count.gaining) += ok && gain > 1e-9;
    }
  }
  BOOST_TEST_MESSAGE(law << ", budget " << max_factorisations << ": " << count.impacts
                         << " impacts, " << count.many << " of several contacts, " << count.gaining
                         << " gain, worst " << count.worst << ", " << count.unsolved
                         << " not solved, of them worst " << count.worst_unsolved << ", "
                         << count.most_work << " of the most work");
  return count;
}

/// Boxes on the ground far from each other: each is an island.
constexpr int kApart = 3;
const Vec3d kHalf{0.2, 0.1, 0.03};
Scene apart(Rng& rng) {
  Scene scene;
  scene.parameters.gravity = {0, 0, 0};
  const Material m{rng.uniform(0.3, 1.5), rng.uniform(0.1, 1.0)};
  scene.add_ground(m);
  for (int b = 0; b < kApart; ++b) {
    const Transform X{Mat3d::identity(), {5.0 * b, 0.0, kHalf.z}};
    scene.add_body(
        "b" + std::to_string(b), Shape::box(kHalf), std::pow(10.0, rng.uniform(-1.0, 1.0)), X, m);
  }
  return scene;
}

/// With a corner on the ground or in it, and about to hit it.
void throw_down(Rng& rng, State& state) {
  for (int b = 0; b < kApart; ++b) {
    double *q = state.q.data() + 7 * b, *v = state.v.data() + 6 * b;
    const double speed = std::pow(10.0, rng.uniform(-1.5, 0.0));
    double size = 0.0;
    for (int k = 3; k < 7; ++k) q[k] = rng.uniform(-1.0, 1.0);
    for (int k = 3; k < 7; ++k) size += q[k] * q[k];
    for (int k = 3; k < 7; ++k) q[k] /= std::sqrt(size);
    const Mat3d R = rotation_from_quaternion(q + 3);
    q[2] = std::abs(R.c0.z) * kHalf.x + std::abs(R.c1.z) * kHalf.y + std::abs(R.c2.z) * kHalf.z -
           rng.uniform(-2e-4, 5e-3);
    const Vec3d velocity = transpose_times(
        R, Vec3d{rng.uniform(-3.0, 3.0), rng.uniform(-3.0, 3.0), rng.uniform(-2.0, 0.0)});
    for (int k = 0; k < 3; ++k) v[k] = speed * velocity[k];
    for (int k = 3; k < 6; ++k) v[k] = speed * rng.uniform(-10.0, 10.0);
  }
}

/// Kinetic energy of body b alone.
double kinetic_of(
    const Scene& scene, int b, const State& start, State end, DynamicsWorkspace& work) {
  for (int k = 0; k < scene.nv(); ++k) end.v[k] *= k / 6 == b;
  return kinetic(scene, start, end, work);
}

}  // namespace

BOOST_AUTO_TEST_SUITE(impact_law_test)

BOOST_AUTO_TEST_CASE(impacts_gain_no_energy) {
  const int impacts = std::getenv("STICTION_FUZZ") != nullptr ? 100000 : 8000;
  const Count ours = throw_around("newton-dissipative", impacts),
              few = throw_around("newton-dissipative", 1000, 4),
              newton = throw_around("newton", 1000);
  for (const Count& count : {ours, few}) {
    BOOST_TEST(count.gaining == 0);
    BOOST_TEST(count.hard_gaining <= count.impacts / 1000);
    BOOST_TEST(count.worst_hard <= 1e-3);
    BOOST_TEST(count.worst <= 1e-9);
    BOOST_TEST(count.worst_unsolved <= 1e-4);  // the safe answer's own account of recovery
    BOOST_TEST(count.many > count.impacts / 10);
    BOOST_TEST(count.beyond_budget == 0);
  }
  // Masses of 1 to 10,000 that were let down on each other: as many are not solved under either
  // law.
  BOOST_TEST(ours.unsolved <= ours.impacts / 10);
  BOOST_TEST(newton.unsolved <= newton.impacts / 10);
  BOOST_TEST(few.unsolved > 10);
  BOOST_TEST(newton.gaining > 10);
}

// An island whose impacts gain nothing has the bits of Newton's law, whatever is solved again
// beside it; one that is changed had gained; c* is never below what it is without restitution.
BOOST_AUTO_TEST_CASE(islands_that_gain_nothing_keep_their_bits) {
  int changed = 0, kept_beside = 0, at_the_gap = 0;
  for (int trial = 0; trial < 120; ++trial) {
    Rng rng(trial);
    const Scene scene = apart(rng);
    SimulatorSettings settings;
    Simulator sim(scene, settings), plastic(scene, settings);
    settings.impact_law = "newton";
    Simulator newton(scene, settings);
    for (Material& m : plastic.parameters().material) m.restitution = 0.0;
    State state = sim.initial_state();
    DynamicsWorkspace work;
    work.resize(scene);
    for (int k = 0; k < 25; ++k) {
      throw_down(rng, state);
      const State start = state;
      State other = start, without = start;
      sim.step(state, {});
      newton.step(other, {});
      plastic.prepare(without, {});
      bool differs[kApart];
      int differing = 0, impacts[kApart] = {};
      for (int b = 0; b < kApart; ++b) {
        differs[b] = state.v.segment<6>(6 * b) != other.v.segment<6>(6 * b);
        differing += differs[b];
      }
      BOOST_TEST_REQUIRE(sim.record().rows.rows.size() == plastic.record().rows.rows.size());
      for (std::size_t i = 0; i < sim.record().rows.rows.size(); ++i) {
        const ConstraintRow &row = sim.record().rows.rows[i], &full = newton.record().rows.rows[i];
        impacts[row.sides[0].tree] += full.kind == ReferenceKind::kRestitution;
        const double least = plastic.record().rows.rows[i].reference[2];
        at_the_gap += full.kind == ReferenceKind::kRestitution && row.kind != full.kind;
        // Cut with the others of its island otherwise: see recovery_together_test.cpp.
        if (row.kind != ReferenceKind::kCapped) BOOST_TEST(row.reference[2] >= least);
      }
      for (int b = 0; b < kApart; ++b) {
        if (!differs[b]) {
          kept_beside += differing > 0 && impacts[b] > 0;
          continue;
        }
        ++changed;
        const double gain =
            kinetic_of(scene, b, start, other, work) - kinetic_of(scene, b, start, start, work);
        BOOST_TEST(impacts[b] > 0);
        BOOST_TEST(gain > 0.0);
      }
    }
  }
  BOOST_TEST_MESSAGE(changed << " islands changed, " << kept_beside << " with impacts kept beside, "
                             << at_the_gap << " contacts fall to what the gap asks");
  BOOST_TEST(changed > 30);
  BOOST_TEST(kept_beside > 10);
  BOOST_TEST(at_the_gap > 0);
}

BOOST_AUTO_TEST_SUITE_END()
