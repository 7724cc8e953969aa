#include "integrator/step_record.hpp"
#include "support/random.hpp"
#include "support/random_tree.hpp"
#include "support/random_world.hpp"
#include "support/shapes.hpp"
#include "support/step_differences.hpp"
#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <cmath>
#include <map>
#include <string>

// The derivatives of steps in which loose bodies of every shape touch each other and fixed shapes.

namespace stiction::test {
namespace {

/// Geometry 0 or 1, whichever moves, brought along the normal until both touch with a gap.
void bring_near(Simulator& simulator, State& state, double gap) {
  const std::vector<Geometry>& g = simulator.scene().geometries();
  const double sign = g[0].body < 0 ? -1.0 : 1.0;
  for (int k = 0; k < 40; ++k) {
    const std::vector<Transform> poses = simulator.body_poses(state);
    const auto pose_of = [&](int i) {
      return g[i].body < 0 ? simulator.parameters().geometry_placement[i] : poses[g[i].body];
    };
    const DistanceResult r = distance(g[0].shape, pose_of(0), g[1].shape, pose_of(1));
    if (std::abs(r.distance - gap) < 1e-9) return;
    const Vec3d step = r.normal * (sign * (r.distance - gap));
    for (int i = 0; i < 3; ++i) state.q[i] += step[i];
  }
}

/// Two shapes 1 m apart: anyhow, or with flat faces that look at each other but for a small tilt.
struct Facing {
  Mat3d R_WA, R_WB;
  Vec3d p_B;
};
Facing facing(Rng& rng) {
  const Mat3d R = rotation(rng);
  if (rng.below(2)) return {rotation(rng), R, unit_vector(rng)};
  const double tilt = rng.below(2) ? 1e-3 : 0.3;
  Vec3d axis{0, 0, 0};
  axis[rng.below(3)] = rng.below(2) ? 1.0 : -1.0;
  return {R * small_rotation(uniform_vector(rng, tilt)), R, R * axis + uniform_vector(rng, 0.03)};
}

/// Boxes whose edges along x and along y cross.
Facing crossed(Rng& rng) {
  const Mat3d R = rotation(rng);
  const auto turned = [&](const Vec3d& w) {
    return R * small_rotation(w + uniform_vector(rng, 0.1));
  };
  return {turned({0.8, 0, 0}), turned({0, 0.8, 0}), R * Vec3d{0.0, 0.0, 1.0}};
}

}  // namespace

BOOST_AUTO_TEST_SUITE(shape_steps_test)

BOOST_AUTO_TEST_CASE(pairs_of_shapes) {
  Rng rng(5);
  std::vector<Vec3d> points;
  for (int k = 0; k < 30; ++k) points.push_back(unit_vector(rng) * rng.uniform(0.1, 0.2));
  constexpr int kBox = 1;
  const std::vector<Shape> shapes = {Shape::convex_mesh(points),
                                     Shape::box({0.1, 0.15, 0.2}),
                                     Shape::sphere(0.1),
                                     Shape::capsule(0.08, 0.1),
                                     Shape::cylinder(0.1, 0.1),
                                     Shape::cone(0.1, 0.15),
                                     Shape::ellipsoid({0.1, 0.15, 0.2})};
  std::map<WitnessKind, int> seen;
  std::map<std::string, int> rows, sizes;
  int compared = 0, inexact = 0, columns = 0, kinks[3] = {0, 0, 0};
  for (int k = 0; k < 500; ++k) {
    const bool edges = rng.below(10) == 0;
    const auto any = [&] { return edges ? kBox : rng.below(static_cast<int>(shapes.size())); };
    const int a = any(), b = any();
    const int world = rng.below(4);  // 0, 1: a fixed shape, of the higher and of the lower number
    Scene scene;
    Material material;
    material.friction = rng.uniform(0.0, 1.0) < 0.5 ? 0.2 : 2.0;
    const int law = rng.below(4);  // 2: springs, stretched by the step before, 3: restitution
    if (law == 2) {
      material.stiffness = 1e4;
      material.damping = 10.0;
    } else if (law == 3) {
      material.restitution = 0.6;
    }
    const Facing at = edges ? crossed(rng) : facing(rng);
    const auto add_fixed = [&] {
      if (rng.below(2)) {
        scene.add_half_space("b", at.p_B, -at.p_B * (1.0 / norm(at.p_B)), material);
      } else {
        scene.add_geometry("b", -1, shapes[b], {at.R_WB, at.p_B}, material);
      }
    };
    if (world == 1) add_fixed();
    scene.add_body("a", shapes[a], 1.0, {at.R_WA, {0, 0, 0}}, material);
    if (world == 0) add_fixed();
    if (world > 1) scene.add_body("b", shapes[b], 0.7, {at.R_WB, at.p_B}, material);
    SimulatorSettings settings;
    settings.solver.tolerance = 1e-13;
    settings.contact.tangential_compliance = law == 2;
    Simulator simulator(scene, settings);
    State state = simulator.initial_state();
    bring_near(simulator, state, rng.uniform(0.0, 1.0) < 0.7 ? -2e-4 : 1e-4);
    const int nv = scene.nv();
    state.v = random_vector(rng, nv) * (rng.uniform(0.0, 1.0) < 0.5 ? 0.02 : 0.5);
    Control control;
    control.torque = random_vector(rng, nv);
    if (law == 2 && !simulator.step(state, control).whole()) continue;
    State next = state;
    simulator.step(next, control);
    if (simulator.report().status != StepStatus::kOk || simulator.report().num_contacts == 0)
      continue;
    const StepDerivatives d = simulator.step_derivatives({"geometry_size"});
    inexact += d.report.num_inexact > 0 || d.report.num_swept > 0;
    if (!d.report.exact() || !d.report.two_sided() || d.report.smallest_pivot < 1e-7) continue;
    if (d.report.margin.empty() ||
        *std::min_element(d.report.margin.begin(), d.report.margin.end()) < 1e-5)
      continue;
    Eigen::MatrixXd J(2 * nv, 3 * nv);
    J << d.A(), d.B();
    const int points = simulator.report().num_contacts;
    for (const std::string& row : kinds_of(simulator, d.report)) ++rows[row];
    const ColumnErrors e = column_errors(simulator, state, control, J);
    const std::string pair = std::to_string(a) + " on " + std::to_string(b);
    for (int block = 0; block < 3; ++block) {
      kinks[block] += e.kinks(block * nv, nv);
      BOOST_TEST(e.worst(block * nv, nv) < 1e-5,
                 "case " << k << " " << pair << " block " << block << ": "
                         << e.worst(block * nv, nv) << " points " << points);
    }
    for (int j = 0; j < 6; ++j) {
      double& size = simulator.parameters().geometry_size[j / 3][j % 3];
      const Eigen::VectorXd column = d.P.col(j).head(2 * nv);
      if (size == 0.0) {
        BOOST_TEST(column.isZero(0.0), "case " << k << " " << pair << " size " << j);
        continue;
      }
      const double at = size;
      const ColumnCheck check = check_column(
          simulator, state, control, next, column, at, [&](double h) { size = at + h; });
      BOOST_TEST(check.error() <= 1.0,
                 "case " << k << " " << pair << " size " << j << ": " << check.error());
      const std::string shape = to_string(scene.geometries()[j / 3].shape.type);
      ++sizes[check.compared() ? shape : "kinks"];
      rows[shape + " size"] += check.compared() && check.seen();
    }
    columns += nv;
    ++compared;
    for (const Contact& c : simulator.contact_set()) ++seen[c.witness.kind];
  }
  BOOST_TEST(sizes["kinks"] < 10, sizes["kinks"] << " columns of sizes have kinks");
  BOOST_TEST(compared > 400);
  BOOST_TEST(inexact < 5, inexact << " inexact");
  for (const int k : kinks)
    BOOST_TEST(k < 1e-2 * columns, k << " of " << columns << " columns of a block have kinks");
  for (const char* row : {"contact restitution slide",
                          "contact restitution stick",
                          "contact spring tangential slide",
                          "contact spring tangential stick",
                          "box size",
                          "sphere size",
                          "capsule size",
                          "cylinder size",
                          "cone size",
                          "ellipsoid size"})
    BOOST_TEST(rows[row] > 10, row << ": " << rows[row]);
  for (int kind = 0; kind <= static_cast<int>(WitnessKind::kSmooth); ++kind)
    BOOST_TEST(seen[static_cast<WitnessKind>(kind)] > 10, "kind " << kind);
}

/// A fixed ball carries the anchor of the spring, and the normal turns as the other one moves over
/// it.
BOOST_AUTO_TEST_CASE(springs_of_a_fixed_ball) {
  Material material;
  material.friction = 0.8;
  material.stiffness = 2e4;
  material.damping = 50.0;
  Scene scene;
  scene.add_geometry("fixed", -1, Shape::sphere(0.5), {Mat3d::identity(), {0, 0, 0}}, material);
  const Vec3d up{std::sin(0.3), 0.0, std::cos(0.3)}, down{up.z, 0.0, -up.x};
  scene.add_body("ball", Shape::sphere(0.1), 1.0, {Mat3d::identity(), up * 0.599}, material);
  SimulatorSettings settings;
  settings.solver.tolerance = 1e-14;
  settings.dt = 2e-3;
  settings.contact.tangential_compliance = true;
  for (const double speed : {0.0, 0.5, 2.0}) {
    Simulator simulator(scene, settings);
    State state = simulator.initial_state();
    state.v.head(3) << speed * down.x, 0.3 * speed, speed * down.z;
    for (int k = 0; k < 5; ++k) simulator.step(state, {});
    State next = state;
    simulator.step(next, {});
    const StepDerivatives d = simulator.step_derivatives();  // a copy
    BOOST_TEST_REQUIRE(d.report.springs.size() == 1u);
    Eigen::MatrixXd J(12, 18);
    J << d.A(), d.B();
    const ColumnErrors e = column_errors(simulator, state, {}, J);
    BOOST_TEST(e.kinks() == 0);
    BOOST_TEST(e.worst(0, 6) < 2e-8, speed << ": " << e.worst(0, 6));
    const RowMajorMatrix P = simulator.step_derivatives({"geometry_placement", "geometry_size"}).P;
    for (int k = 0; k < 8; ++k) {  // each of the two shifted along each axis, then its radius
      const int body = k < 6 ? k / 3 : k - 6, column = k < 6 ? 6 * body + k % 3 : 12 + 3 * body;
      Transform& X = simulator.parameters().geometry_placement[body];
      double& radius = simulator.parameters().geometry_size[body].x;
      const Transform before = X;
      const double r = radius;
      const auto extension = [&](double h) {
        if (k < 6) X.p = before.p + before.R.column(k % 3) * h;
        if (k >= 6) radius = r + h;
        State end = state;
        simulator.step(end, {});
        X = before;
        radius = r;
        return end.contacts.at(0).extension;
      };
      const Vec3d difference = (extension(1e-6) - extension(-1e-6)) * 5e5;
      for (int i = 0; i < 3; ++i) BOOST_TEST(std::abs(P(12 + i, column) - difference[i]) < 1e-7);
    }
  }
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace stiction::test
