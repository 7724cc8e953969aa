#include "stiction/simulator/simulator.hpp"

#include "support/random_tree.hpp"
#include "support/random_world.hpp"
#include "support/solids.hpp"
#include "support/step_differences.hpp"
#include <boost/test/unit_test.hpp>

#include <algorithm>

// Steps in which a force closes a gap that the velocities of the start would not, or not all of:
// where a contact acts then depends on the gap and on the velocities.

namespace stiction::test {
namespace {

struct Push {
  Scene scene;
  SimulatorSettings settings;
  State state;
  Control control;
};

Shape spinning_shape(Rng& rng) {
  const double r = rng.uniform(0.04, 0.1);
  switch (rng.below(4)) {
    case 0:
      return Shape::sphere(r);
    case 1:
      return Shape::capsule(r, 0.1);
    case 2:
      return Shape::ellipsoid({r, 0.7 * r, 1.3 * r});
    default:
      return Shape::box({r, 0.7 * r, 1.3 * r});
  }
}

/// On a half-space, a box, or a body that moves; `share` of the gap is passed by the velocities.
Push pushed(Rng& rng, double share) {
  Push w;
  Material material;
  material.friction = rng.uniform(0.2, 1.0);
  if (rng.below(4) == 0) material.restitution = 0.4;
  w.scene.parameters.gravity = {0, 0, 0};
  const int kind = rng.below(3);
  const Transform X{rotation(rng), {0, 0, 0}}, below{Mat3d::identity(), {0, 0, -1.0}};
  const Shape shape = spinning_shape(rng);
  if (kind == 0)
    w.scene.add_geometry(
        "floor", -1, Shape::half_space(), {Mat3d::identity(), {0, 0, 0}}, material);
  if (kind == 1) w.scene.add_geometry("floor", -1, Shape::box({2, 2, 1}), below, material);
  w.scene.add_body("body", shape, rng.uniform(0.5, 2.0), X, material);
  if (kind == 2) w.scene.add_body("floor", Shape::box({2, 2, 1}), 50.0, below, material);
  const double gap = rng.uniform(2e-4, 9e-4);
  w.settings.dt = 2e-3;
  w.settings.solver.tolerance = 1e-13;
  w.state = Simulator(w.scene, w.settings).initial_state();
  w.state.q[2] = gap - bounding_box(shape, X).lower.z;
  const Vec3d spin = uniform_vector(rng, 20.0);
  w.state.v.setZero();
  for (int k = 0; k < 3; ++k) w.state.v[3 + k] = transpose_times(X.R, spin)[k];
  const auto point_speed = [&] {  // of the point of contact, along z
    Simulator sim(w.scene, w.settings);
    State after = w.state;
    sim.step(after, {});
    double least = 0.0;
    for (const Contact& c : sim.contact_set())
      least = std::min(least, cross(spin, c.position - Vec3d{0, 0, w.state.q[2]}).z);
    return least;
  };
  const double down = -share * gap / w.settings.dt - point_speed();
  const Vec3d v{rng.uniform(-0.5, 0.5), rng.uniform(-0.5, 0.5), down};
  w.control.torque = Eigen::VectorXd::Zero(w.state.v.size());
  const Vec3d force{0, 0, -rng.uniform(1.0, 3.0) * gap / (w.settings.dt * w.settings.dt) * 2.0};
  for (int k = 0; k < 3; ++k) {
    w.state.v[k] = transpose_times(X.R, v)[k];
    w.control.torque[k] = transpose_times(X.R, force)[k];
  }
  return w;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(touch_steps_test)

BOOST_AUTO_TEST_CASE(what_a_force_closes_agrees_with_differences) {
  Rng rng(61);
  int compared = 0, seen = 0;
  for (int t = 0; t < 120; ++t) {
    Push w = pushed(rng, rng.uniform(0.1, 0.9));
    Simulator simulator(w.scene, w.settings);
    State next = w.state;
    simulator.step(next, w.control);
    double pressed = 0.0;
    for (const ContactReport& c : simulator.contacts()) pressed += norm(c.force_on_b_world);
    if (pressed == 0.0) continue;
    const StepDerivatives d =
        simulator.step_derivatives({"geometry_size", "geometry_placement", "mass", "friction"});
    if (!d.report.exact() || !d.report.two_sided()) continue;
    const int nv = w.scene.nv();
    const Eigen::MatrixXd J = dense(d).leftCols(3 * nv);
    const Eigen::VectorXd y = random_vector(rng, static_cast<int>(J.rows()));
    const StepGradient& g = simulator.vjp(y);
    Eigen::VectorXd pulled(J.cols());
    pulled << g.q, g.v, g.torque;
    BOOST_TEST((pulled - J.transpose() * y).norm() < 1e-10 * (1.0 + (J.transpose() * y).norm()));
    const ColumnErrors e = column_errors(simulator, w.state, w.control, J);
    if (e.kinks() > 0) continue;
    ++compared;
    for (int block = 0; block < 3; ++block)
      BOOST_TEST(e.worst(block * nv, nv) < 2e-6,
                 "step " << t << " block " << block << ": " << e.worst(block * nv, nv));
    for (std::size_t k = 0; k < w.scene.geometries().size(); ++k) {
      for (int r = 0; r < 3; ++r) {
        double& size = simulator.parameters().geometry_size[k][r];
        const double at = size;
        if (at == 0.0) continue;
        const ColumnCheck check = check_column(simulator,
                                               w.state,
                                               w.control,
                                               next,
                                               d.P.col(3 * static_cast<int>(k) + r).head(2 * nv),
                                               at,
                                               [&](double h) { size = at + h; });
        BOOST_TEST(check.error() <= 1.0, "step " << t << " size " << r << ": " << check.error());
        seen += check.compared() && check.seen();
      }
    }
  }
  BOOST_TEST(compared > 60, compared << " compared");
  BOOST_TEST(seen > 40, seen << " sizes");
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace stiction::test
