#include "dynamics/integrate_derivatives.hpp"

#include "dynamics/integrate.hpp"
#include "support/recovery.hpp"
#include "support/tree_sample.hpp"
#include <boost/test/unit_test.hpp>

using namespace stiction;
using namespace stiction::test;

namespace {

using RowMajor = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

/// A random tree, its state and the point that moves straight on.
struct End {
  Scene scene;
  DynamicsWorkspace work;
  Eigen::VectorXd q, v;
  Vec3d c;
  double dt;

  explicit End(Rng& rng, bool loose) : dt(0.02) {
    std::vector<BodyDescription> bodies = random_tree(rng);
    if (loose) {
      bodies.resize(1);
      bodies[0].joint = JointType::kFreeFlyer;
      bodies[0].placement = Transform::identity();
    }
    scene.add_robot(random_robot(bodies), pose(rng, 1.0));
    const TreeSample s(rng, scene, 0, std::pow(10.0, rng.uniform(-2.0, 2.0)), dt);
    q = s.q;
    v = s.v;
    c = root_point(s.view(), s.parameters());
    work.resize(scene);
  }
  const TreeView& view() const { return work.views[0]; }
};

/// The tangent, in axes of the body, of a configuration of a joint that changes at a rate.
void tangent(JointType type, const double* q, const double* rate, double* out) {
  if (type == JointType::kFreeFlyer) {
    const Vec3d moved =
        transpose_times(rotation_from_quaternion(q + 3), Vec3d{rate[0], rate[1], rate[2]});
    for (int k = 0; k < 3; ++k) out[k] = moved[k];
    return tangent(JointType::kSpherical, q + 3, rate + 3, out + 3);
  }
  if (type == JointType::kSpherical) {  // twice the vector part of conj(q) q'
    const Vec3d e{q[0], q[1], q[2]}, r{rate[0], rate[1], rate[2]};
    const Vec3d turn = (r * q[3] - e * rate[3] - cross(e, r)) * 2.0;
    for (int k = 0; k < 3; ++k) out[k] = turn[k];
    return;
  }
  out[0] = type == JointType::kContinuous ? q[0] * rate[1] - q[1] * rate[0] : rate[0];
}

/// [2 nv x 2 nv] d(q+, v+)/d(q, v).
Eigen::MatrixXd by_duals(const End& e) {
  const int nv = e.view().nv;
  Eigen::MatrixXd J(2 * nv, 2 * nv);
  for (int column = 0; column < 2 * nv; ++column) {
    std::vector<Direction> q(e.q.data(), e.q.data() + e.q.size()), v(e.v.data(), e.v.data() + nv);
    std::vector<Direction> dq(nv, 0.0);
    (column < nv ? dq[column] : v[column - nv]).d[0] = 1.0;
    integrate_joints(e.view(), 0, Direction(1.0), q.data(), dq.data());
    integrate_configuration(e.view(), lift<Direction>(e.c), Direction(e.dt), q.data(), v.data());
    std::vector<double> at(q.size()), rate(q.size());
    for (std::size_t m = 0; m < q.size(); ++m) {
      at[m] = q[m].value;
      rate[m] = q[m].d[0];
    }
    double* out = J.col(column).data();
    for (int b = 0; b < e.view().num_bodies; ++b) {
      const int k = e.view().q_index[b];
      tangent(e.view().joint[b], at.data() + k, rate.data() + k, out + e.view().v_index[b]);
    }
    for (int m = 0; m < nv; ++m) out[nv + m] = v[m].d[0];
  }
  return J;
}

RowMajor mapped(const End& e, const RowMajor& columns, bool transposed) {
  const int nv = e.view().nv, width = static_cast<int>(columns.cols());
  RowMajor out(2 * nv, width + 3);  // rows wider than the columns asked for
  out.setConstant(7.0);
  out.leftCols(width) = columns;
  (transposed ? integrate_cotangents<double> : integrate_tangents<double>)(e.view(),
                                                                           e.c,
                                                                           e.dt,
                                                                           e.v.data(),
                                                                           width,
                                                                           width + 3,
                                                                           out.data(),
                                                                           out.row(nv).data());
  BOOST_TEST((out.rightCols(3).array() == 7.0).all());
  return out.leftCols(width);
}

template <class Check>
void each_end(Check&& check) {
  Rng rng(41);
  for (int trial = 0; trial < 120; ++trial) {
    const End e(rng, trial % 5 == 0);
    BOOST_TEST_CONTEXT("trial " << trial << ", turn " << e.v.norm() * e.dt) { check(e, rng); }
  }
}

}  // namespace

BOOST_AUTO_TEST_SUITE(integrate_derivatives_test)

BOOST_AUTO_TEST_CASE(tangents_agree_with_dual_numbers) {
  int spherical = 0, loose = 0, floating = 0, slow = 0, fast = 0;
  each_end([&](const End& e, Rng&) {
    const int n = 2 * e.view().nv;
    BOOST_TEST(relative(mapped(e, RowMajor::Identity(n, n), false), by_duals(e)) < 1e-13);
    for (int b = 0; b < e.view().num_bodies; ++b)
      spherical += e.view().joint[b] == JointType::kSpherical;
    loose += is_loose_body(e.view());
    floating += e.view().free_root && !is_loose_body(e.view());
    slow += e.v.lpNorm<Eigen::Infinity>() * e.dt < 5e-3;  // the series of J_r
    fast += e.v.lpNorm<Eigen::Infinity>() * e.dt > 0.5;
  });
  BOOST_TEST(spherical > 30);
  BOOST_TEST(loose >= 24);
  BOOST_TEST(floating > 20);
  BOOST_TEST(slow > 20);
  BOOST_TEST(fast > 15);
}

BOOST_AUTO_TEST_CASE(cotangents_are_the_transpose) {
  each_end([](const End& e, Rng& rng) {
    const int n = 2 * e.view().nv;
    const RowMajor J = mapped(e, RowMajor::Identity(n, n), false);
    const RowMajor T = mapped(e, RowMajor::Identity(n, n), true);
    BOOST_TEST(relative(T, J.transpose()) < 1e-14);
    const RowMajor x = random_vector(rng, n);
    BOOST_TEST(relative(mapped(e, x, true), J.transpose() * x) < 1e-14);
  });
}

BOOST_AUTO_TEST_CASE(the_point_that_moves_straight_on_counts) {
  each_end([](const End& e, Rng& rng) {
    if (!is_loose_body(e.view())) return;
    Eigen::MatrixXd by_c(6, 3), ours(6, 3), transposed(3, 6);
    for (int k = 0; k < 3; ++k) {
      std::vector<Direction> q(e.q.data(), e.q.data() + 7), v(e.v.data(), e.v.data() + 6);
      Vec3<Direction> c = lift<Direction>(e.c);
      c[k].d[0] = 1.0;
      integrate_configuration(e.view(), c, Direction(e.dt), q.data(), v.data());
      const Vec3d moved{q[0].d[0], q[1].d[0], q[2].d[0]};
      const double turn[4] = {q[3].value, q[4].value, q[5].value, q[6].value};
      const Vec3d own = transpose_times(rotation_from_quaternion(turn), moved);
      Vec3d dc{0, 0, 0};
      dc[k] = 1.0;
      const RootLinear<double> d = root_point_tangent(e.v.data(), e.dt, dc);
      for (int i = 0; i < 3; ++i) {
        by_c(i, k) = own[i];
        by_c(3 + i, k) = v[i].d[0];
        ours(i, k) = d.q[i];
        ours(3 + i, k) = d.v[i];
      }
    }
    for (int i = 0; i < 6; ++i) {
      RootLinear<double> by{{0, 0, 0}, {0, 0, 0}};
      (i < 3 ? by.q : by.v)[i % 3] = 1.0;
      const Vec3d c = root_point_cotangent(e.v.data(), e.dt, by);
      for (int k = 0; k < 3; ++k) transposed(k, i) = c[k];
    }
    const double scale = 1.0 + e.v.norm();
    BOOST_TEST((ours - by_c).cwiseAbs().maxCoeff() < 1e-14 * scale);
    BOOST_TEST((transposed - ours.transpose()).cwiseAbs().maxCoeff() < 1e-14 * scale);
  });
}

BOOST_AUTO_TEST_SUITE_END()
