#include "dynamics/inertial_derivatives.hpp"

#include "scenes/scenes.hpp"
#include "support/recovery.hpp"
#include "support/tree_sample.hpp"
#include <boost/test/unit_test.hpp>

using namespace stiction;
using namespace stiction::test;

namespace {

constexpr int kTen = kInertialParameters;

/// d tau / d(10 parameters of every body, gravity), [nv x (10 bodies + 3)], by dual numbers.
Eigen::MatrixXd by_duals(const TreeSample& s) {
  const int bodies = s.view().num_bodies, nv = s.view().nv, n = kTen * bodies + 3;
  const TreeParameters<double> p = s.parameters();
  DualTree dual;
  dual.resize(s.tree());
  dual.take(s.tree(), p);
  Eigen::MatrixXd out(nv, n);
  for (int first = 0; first < n; first += kDirections) {
    std::vector<InertialParameters<Direction>> x(bodies);
    std::vector<Direction> mass(bodies);
    std::vector<Vec3<Direction>> com(bodies);
    std::vector<Sym3<Direction>> inertia(bodies);
    for (int b = 0; b < bodies; ++b)
      x[b] = {p.mass[b], lift<Direction>(p.com[b]), lift(p.inertia[b])};
    dual.parameters.gravity = lift<Direction>(p.gravity);
    for (int k = first; k < std::min(first + kDirections, n); ++k) {
      Direction& seeded = k < kTen * bodies ? entry(x[k / kTen], k % kTen)
                                            : dual.parameters.gravity[k - kTen * bodies];
      seeded.d[k - first] = 1.0;
    }
    for (int b = 0; b < bodies; ++b) {
      mass[b] = x[b].mass;
      com[b] = x[b].com;
      inertia[b] = x[b].inertia;
    }
    dual.parameters.mass = mass.data();
    dual.parameters.com = com.data();
    dual.parameters.inertia = inertia.data();
    const std::vector<Direction> still(nv, 0.0),
        v(s.v.data() + s.tree().v_offset, s.v.data() + s.tree().v_offset + nv);
    const std::vector<Direction> tau = dual_inverse_dynamics(s, still, v, dual);
    for (int i = 0; i < nv; ++i) {
      for (int k = first; k < std::min(first + kDirections, n); ++k)
        out(i, k) = tau[i].d[k - first];
    }
  }
  return out;
}

using RowMajor = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

RowMajor columns(const TreeSample& s) {
  const int bodies = s.view().num_bodies, nv = s.view().nv, n = kTen * bodies + 3;
  const TreeParameters<double> p = s.parameters();
  std::vector<Motion<double>> A(bodies);
  body_accelerations(s.view(), p, s.data(), s.a.data(), A.data());
  RowMajor out = RowMajor::Zero(nv, n);
  for (int b = 0; b < bodies; ++b) {
    inertial_columns(
        s.view(), p, s.data(), s.dt, s.a.data(), A.data(), b, n, out.data() + kTen * b);
  }
  gravity_columns(s.view(), s.data(), n, out.data() + kTen * bodies);
  return out;
}

/// Parameters have units of their own: each column to its largest entry, and what is due to
/// rounding of the largest.
void compare(const TreeSample& s, double allowed) {
  const Eigen::MatrixXd exact = by_duals(s), ours = columns(s);
  const double all = exact.cwiseAbs().maxCoeff();
  for (int k = 0; k < exact.cols(); ++k) {
    const double error = (ours.col(k) - exact.col(k)).cwiseAbs().maxCoeff();
    BOOST_TEST(error <= allowed * (exact.col(k).cwiseAbs().maxCoeff() + 1e-3 * all));
  }
}

}  // namespace

BOOST_AUTO_TEST_SUITE(inertial_derivatives_test)

BOOST_AUTO_TEST_CASE(random_trees_agree_with_dual_numbers) {
  Rng rng(51);
  int loose = 0, fixed = 0;
  for (int trial = 0; trial < 60; ++trial) {
    std::vector<BodyDescription> bodies = random_tree(rng);
    if (trial % 6 == 0) {
      bodies.resize(1);
      bodies[0].joint = JointType::kFreeFlyer;
      bodies[0].placement = Transform::identity();
    }
    Scene scene;
    scene.add_robot(random_robot(bodies), pose(rng, 1.0));
    scene.parameters.gravity = uniform_vector(rng, 10.0);
    const TreeSample s(rng, scene, 0, 3.0, 1e-3);
    BOOST_TEST_CONTEXT("trial " << trial << ", " << bodies.size() << " bodies") {
      compare(s, 1e-12);
    }
    loose += is_loose_body(s.view());
    fixed += !s.view().free_root;
  }
  BOOST_TEST(loose >= 10);
  BOOST_TEST(fixed > 10);
}

BOOST_AUTO_TEST_CASE(robots_agree_with_dual_numbers) {
  Rng rng(52);
  for (const char* name : {"solo12", "talos", "allegro-ball"}) {
    const Scene scene = make_scene(name);
    for (std::size_t t = 0; t < scene.trees().size(); ++t) {
      const TreeSample s(rng, scene, static_cast<int>(t), 2.0, 1e-3);
      BOOST_TEST_CONTEXT(name << ", tree " << t) { compare(s, 1e-11); }
    }
  }
}

BOOST_AUTO_TEST_SUITE_END()
