#include "integrator/step_record.hpp"
#include "support/random.hpp"
#include "support/random_tree.hpp"
#include "support/shapes.hpp"
#include "support/step_differences.hpp"
#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <map>
#include <string>

// The derivatives of steps in which loose bodies of every shape touch each other and fixed shapes.

namespace stiction::test {
namespace {

/// A body moved along the line to another until both touch with a gap.
void bring_near(Simulator& simulator, State& state, double gap) {
  const Scene& scene = simulator.scene();
  for (int k = 0; k < 40; ++k) {
    const std::vector<Transform> poses = simulator.body_poses(state);
    const DistanceResult r = distance(
        scene.geometries()[0].shape,
        poses[0],
        scene.geometries()[1].shape,
        scene.geometries()[1].body < 0 ? simulator.parameters().geometry_placement[1] : poses[1]);
    if (std::abs(r.distance - gap) < 1e-9) return;
    const Vec3d step = r.normal * (r.distance - gap);
    for (int i = 0; i < 3; ++i) state.q[i] += step[i];
  }
}

}  // namespace

BOOST_AUTO_TEST_SUITE(shape_steps_test)

BOOST_AUTO_TEST_CASE(pairs_of_shapes) {
  Rng rng(5);
  std::vector<Vec3d> points;
  for (int k = 0; k < 30; ++k) points.push_back(unit_vector(rng) * rng.uniform(0.1, 0.2));
  const std::vector<Shape> shapes = {Shape::convex_mesh(points),
                                     Shape::sphere(0.1),
                                     Shape::box({0.1, 0.15, 0.2}),
                                     Shape::capsule(0.08, 0.1),
                                     Shape::cylinder(0.1, 0.1),
                                     Shape::cone(0.1, 0.15),
                                     Shape::ellipsoid({0.1, 0.15, 0.2})};
  std::map<WitnessKind, int> seen;
  int compared = 0, inexact = 0, columns = 0, kinks[3] = {0, 0, 0};
  for (int k = 0; k < 300; ++k) {
    const std::size_t a = static_cast<std::size_t>(rng.uniform(0.0, 0.999) * shapes.size()),
                      b = static_cast<std::size_t>(rng.uniform(0.0, 0.999) * shapes.size());
    const bool fixed = rng.uniform(0.0, 1.0) < 0.3;
    Scene scene;
    Material material;
    material.friction = rng.uniform(0.0, 1.0) < 0.5 ? 0.2 : 2.0;
    scene.add_body("a", shapes[a], 1.0, {rotation(rng), {0, 0, 0}}, material);
    if (fixed) {
      scene.add_geometry("b", -1, shapes[b], {rotation(rng), unit_vector(rng) * 1.0}, material);
    } else {
      scene.add_body("b", shapes[b], 0.7, {rotation(rng), unit_vector(rng) * 1.0}, material);
    }
    SimulatorSettings settings;
    settings.solver.tolerance = 1e-13;
    Simulator simulator(scene, settings);
    State state = simulator.initial_state();
    bring_near(simulator, state, rng.uniform(0.0, 1.0) < 0.7 ? -2e-4 : 1e-4);
    const int nv = scene.nv();
    state.v = random_vector(rng, nv) * (rng.uniform(0.0, 1.0) < 0.5 ? 0.02 : 0.5);
    Control control;
    control.torque = random_vector(rng, nv);
    State next = state;
    simulator.step(next, control);
    if (simulator.report().status != StepStatus::kOk || simulator.report().num_contacts == 0)
      continue;
    const StepDerivatives d = simulator.step_derivatives();
    inexact += d.report.num_inexact > 0 || d.report.num_swept > 0;
    if (!d.report.exact() || !d.report.two_sided() || d.report.smallest_pivot < 1e-7) continue;
    if (d.report.margin.empty() ||
        *std::min_element(d.report.margin.begin(), d.report.margin.end()) < 1e-5)
      continue;
    Eigen::MatrixXd J(2 * nv, 3 * nv);
    J << d.A(), d.B();
    const int points = simulator.report().num_contacts;
    const ColumnErrors e = column_errors(simulator, state, control, J);
    const std::string pair = std::to_string(a) + " on " + std::to_string(b);
    for (int block = 0; block < 3; ++block) {
      kinks[block] += e.kinks(block * nv, nv);
      BOOST_TEST(e.worst(block * nv, nv) < 1e-5,
                 "case " << k << " " << pair << " block " << block << ": "
                         << e.worst(block * nv, nv) << " points " << points);
    }
    columns += nv;
    ++compared;
    for (const Contact& c : simulator.contact_set()) ++seen[c.witness.kind];
  }
  BOOST_TEST(compared > 100);
  BOOST_TEST(inexact < 60, inexact << " inexact");
  for (const int k : kinks)
    BOOST_TEST(k < 1e-2 * columns, k << " of " << columns << " columns of a block have kinks");
  for (const WitnessKind kind : {WitnessKind::kVertexFace,
                                 WitnessKind::kFaceVertex,
                                 WitnessKind::kEdgeEdge,
                                 WitnessKind::kRim,
                                 WitnessKind::kClipped,
                                 WitnessKind::kSmooth})
    BOOST_TEST(seen[kind] > 0, "kind " << static_cast<int>(kind));
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace stiction::test
