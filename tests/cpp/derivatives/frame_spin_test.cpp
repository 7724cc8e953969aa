#include "stiction/collision/distance.hpp"

#include "support/contact_problems.hpp"
#include "support/dense.hpp"
#include "support/random_world.hpp"
#include "support/recovery.hpp"
#include <boost/test/unit_test.hpp>

// The first tangent of a contact is the projection of an axis of A, and turns about the normal as
// that axis does. The derivatives leave this spin out: what is done in the frame, in it and back,
// depends on the frame's normal alone.

namespace stiction::test {
namespace {

/// The matrix of a rotation on [linear | angular] tangents.
Eigen::MatrixXd turned(const Mat3d& Q) {
  Eigen::MatrixXd T = Eigen::MatrixXd::Zero(6, 6);
  for (int r = 0; r < 3; ++r) {
    for (int c = 0; c < 3; ++c) T(r, c) = T(3 + r, 3 + c) = Q.column(c)[r];
  }
  return T;
}

/// Two bodies, of which A is described in axes turned by exp([x]), and its state with them.
struct Pair {
  Scene scene;
  State state;
  Control control;
  SimulatorSettings settings;

  Pair(Rng rng, const Vec3d& x, bool tangential) {
    Material material;
    material.friction = rng.below(2) ? 0.1 : 1.0;
    if (tangential) {
      material.stiffness = 1e4;
      settings.contact.tangential_compliance = true;
    } else if (rng.below(3) == 0) {
      material.restitution = 0.5;
    }
    const Mat3d R_WA = rotation(rng), R_WB = rotation(rng);
    const Vec3d direction = unit_vector(rng);
    const Shape a = Shape::ellipsoid({0.1, 0.15, 0.2}), b = Shape::ellipsoid({0.2, 0.1, 0.15});
    scene.add_body("a", a, 1.0, {R_WA, {0, 0, 0}}, material);
    scene.add_body("b", b, 0.7, {R_WB, direction}, material);
    const DistanceResult d = distance(a, {R_WA, {0, 0, 0}}, b, {R_WB, direction});
    state = make_state(scene, scene.default_q());
    for (int k = 0; k < 3; ++k) state.q[7 + k] -= d.normal[k] * (d.distance + 1e-4);
    state.v = 0.3 * random_vector(rng, 12);
    for (int k = 0; k < 3; ++k) state.v[k] += transpose_times(R_WA, d.normal)[k];  // it closes
    control.torque = random_vector(rng, 12);
    settings.solver.tolerance = 1e-13;
    describe(x);
  }

  /// A' = A exp([x]).
  void describe(const Vec3d& x) {
    const Mat3d Q = small_rotation(x);
    Parameters& p = scene.parameters;
    const Transform X{transpose(Q), {0, 0, 0}};
    p.geometry_placement[0] = X * p.geometry_placement[0];
    p.com[0] = X.R * p.com[0];
    const Sym3d& I = p.inertia[0];
    const Mat3d whole{{I.xx, I.xy, I.xz}, {I.xy, I.yy, I.yz}, {I.xz, I.yz, I.zz}},
        own = X.R * whole * Q;
    p.inertia[0] = {.xx = own.c0.x,
                    .xy = own.c1.x,
                    .yy = own.c1.y,
                    .xz = own.c2.x,
                    .yz = own.c2.y,
                    .zz = own.c2.z};
    double* q = state.q.data() + 3;
    integrate_quaternion(q, x);
    const Eigen::MatrixXd T = turned(X.R);
    state.v.head(6) = T * state.v.head(6).eval();
    control.torque.head(6) = T * control.torque.head(6).eval();
  }
};

}  // namespace

BOOST_AUTO_TEST_SUITE(frame_spin_test)

BOOST_AUTO_TEST_CASE(axes_of_a_body_change_nothing) {
  Rng rng(1);
  int stick = 0, slide = 0, springs = 0;
  for (int k = 0; k < 60; ++k) {
    const Rng start(k);
    const Vec3d x = uniform_vector(rng, 3.0);
    Eigen::MatrixXd J[2];
    for (int i = 0; i < 2; ++i) {
      Pair p(start, x * i, k % 3 == 0);
      Simulator simulator(p.scene, p.settings);
      State next = p.state;
      BOOST_TEST_REQUIRE(simulator.step(next, p.control).whole());
      if (k % 3 == 0) {  // springs are stretched by the step before
        next.v = p.state.v;
        simulator.step(next, p.control);
      }
      BOOST_TEST_REQUIRE(simulator.report().num_contacts == 1);
      const StepDerivatives& d = simulator.step_derivatives();
      BOOST_TEST(d.report.exact());
      J[i] = dense(d);
      stick += i == 0 && d.report.modes[0] == ContactMode::kStick;
      slide += i == 0 && d.report.modes[0] == ContactMode::kSlide;
      springs += k % 3 == 0;
    }
    Eigen::MatrixXd T = Eigen::MatrixXd::Identity(36, 36);
    for (int block = 0; block < 3; ++block)
      T.block<6, 6>(12 * block, 12 * block) = turned(small_rotation(x));
    const Eigen::MatrixXd back = multiply(multiply(T.topLeftCorner(24, 24), J[1]), T.transpose());
    for (int block = 0; block < 3; ++block) {
      const double size = J[0].middleCols(12 * block, 12).cwiseAbs().maxCoeff();
      BOOST_TEST((back - J[0]).middleCols(12 * block, 12).cwiseAbs().maxCoeff() < 1e-9 * size,
                 "pair " << k << " block " << block << " "
                         << (back - J[0]).middleCols(12 * block, 12).cwiseAbs().maxCoeff() / size);
    }
  }
  BOOST_TEST(stick > 5);
  BOOST_TEST(slide > 5);
  BOOST_TEST(springs > 5);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace stiction::test
