#include "stiction/simulator/simulator.hpp"

#include "integrator/energy.hpp"
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
  int impacts = 0, gaining = 0, many = 0;
  double worst = 0.0;
};

/// Relative gains of kinetic energy in steps with impacts, over the free motion of the same step
/// and less what recovery is said to add.
Count throw_around(const std::string& law, int impacts) {
  Count count;
  for (int trial = 0; count.impacts < impacts; ++trial) {
    Rng rng(5000 + trial);
    const Scene scene = random_impact(rng);
    Scene empty = scene;
    for (std::size_t a = 0; a < scene.geometries().size(); ++a) {
      for (std::size_t b = 0; b < a; ++b)
        empty.disable_pair(static_cast<int>(b), static_cast<int>(a));
    }
    SimulatorSettings settings;
    settings.impact_law = law;
    Simulator sim(scene, settings), free(empty, settings);
    State state = sim.initial_state();
    for (int k = 0; k < scene.nv(); ++k) state.v[k] = rng.uniform(-3.0, 3.0);
    DynamicsWorkspace work;
    work.resize(scene);
    for (int k = 0; k < 300; ++k) {
      if (k % 30 == 0)  // thrown again, down
        for (const Tree& t : scene.trees()) state.v[t.v_offset + 2] -= rng.uniform(0.0, 2.0);
      const State start = state;
      if (sim.step(state, {}).status != StepStatus::kOk) continue;
      int rows = 0;
      for (const ConstraintRow& row : sim.rows().rows)
        rows += row.kind == ReferenceKind::kRestitution;
      if (rows == 0) continue;
      State flight = start;
      free.step(flight, {});
      const double before = kinetic(scene, start, flight, work),
                   after = kinetic(scene, start, state, work);
      double recovery = 0.0;
      int offset = 0;
      for (const ConstraintRow& row : sim.rows().rows) {
        if (row.kind != ReferenceKind::kRestitution)
          recovery += std::max(0.0, sim.solution().impulse[offset + 2] * row.reference[2]);
        offset += row.set.dim;
      }
      const double gain = (after - before - recovery) / before;
      ++count.impacts;
      count.many += rows > 1;
      count.gaining += gain > 1e-9;
      count.worst = std::max(count.worst, gain);
    }
  }
  return count;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(impact_energy_test)

BOOST_AUTO_TEST_CASE(impacts_gain_no_energy) {
  const int impacts = std::getenv("STICTION_FUZZ") != nullptr ? 100000 : 10000;
  const Count ours = throw_around("energetic", impacts), newton = throw_around("newton", 1000);
  BOOST_TEST_MESSAGE("energetic: " << ours.impacts << " impacts, " << ours.many
                                   << " of several contacts, worst gain " << ours.worst
                                   << "; newton: " << newton.gaining << " of " << newton.impacts
                                   << " gain, worst " << newton.worst);
  BOOST_TEST(ours.gaining == 0);
  BOOST_TEST(ours.worst <= 1e-9);
  BOOST_TEST(ours.many > impacts / 10);
  BOOST_TEST(newton.gaining > 10);
}

BOOST_AUTO_TEST_SUITE_END()
