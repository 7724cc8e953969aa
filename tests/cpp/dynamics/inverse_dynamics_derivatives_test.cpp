#include "dynamics/inverse_dynamics_derivatives.hpp"

#include "dynamics/inverse_dynamics_products.hpp"
#include "scenes/scenes.hpp"
#include "support/recovery.hpp"
#include "support/tree_sample.hpp"
#include <boost/test/unit_test.hpp>

using namespace stiction;
using namespace stiction::test;

namespace {

using RowMajor = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

/// The kernel's matrices, within wider rows of numbers that must stay.
TauDerivatives derivatives(const TreeSample& s, bool constraint_wrench, bool wrench) {
  const TreeView& view = s.view();
  std::vector<double> memory(inverse_dynamics_work_size<double>(view));
  Arena<double> arena{memory.data()};
  const InverseDynamicsWork<double> work = take_inverse_dynamics_work(view, arena);
  BOOST_TEST(arena.cursor == memory.data() + memory.size());
  const int nv = view.nv, stride = nv + 3;
  RowMajor dq = RowMajor::Zero(nv, stride), dv = dq;
  dq.rightCols(3).setConstant(7.0);
  dv.rightCols(3).setConstant(7.0);
  inverse_dynamics_derivatives(view,
                               s.parameters(),
                               s.data(),
                               s.dt,
                               s.a.data(),
                               constraint_wrench ? s.constraint_wrench.data() : nullptr,
                               wrench ? s.wrench.data() : nullptr,
                               work,
                               {dq.data(), dv.data(), stride});
  BOOST_TEST((dq.rightCols(3).array() == 7.0).all());
  BOOST_TEST((dv.rightCols(3).array() == 7.0).all());
  return {dq.leftCols(nv), dv.leftCols(nv)};
}

struct Sampled {
  std::vector<BodyDescription> bodies;
  Scene scene;
};
Sampled random_scene(Rng& rng, bool loose) {
  Sampled s{random_tree(rng), {}};
  if (loose) {
    s.bodies.resize(1);
    s.bodies[0].joint = JointType::kFreeFlyer;
    s.bodies[0].placement = Transform::identity();
  }
  s.scene.add_robot(random_robot(s.bodies), pose(rng, 1.0));
  s.scene.parameters.gravity = uniform_vector(rng, 10.0);
  return s;
}

double largest(const Eigen::MatrixXd& m) { return m.cwiseAbs().maxCoeff(); }

/// Entries to `allowed` of the largest; where all of a block are rounding, to that of the other.
void compare(const TreeSample& s, const TauDerivatives& ours, double allowed) {
  const TauDerivatives exact = dual_derivatives(s);
  const double q = largest(exact.dq), v = largest(exact.dv);
  BOOST_TEST(largest(ours.dq - exact.dq) <= allowed * std::max(q, 1e-2 * v));
  BOOST_TEST(largest(ours.dv - exact.dv) <= allowed * std::max(v, 1e-2 * q));
}
void compare(const TreeSample& s, double allowed) {
  compare(s, derivatives(s, true, true), allowed);
}

void compare_products(const TreeSample& s, bool constraint_wrench, bool wrench) {
  const TreeView& view = s.view();
  const int nv = view.nv;
  const TauDerivatives full = derivatives(s, constraint_wrench, wrench);
  Rng rng(nv);
  const Eigen::VectorXd p = random_vector(rng, nv), dq = random_vector(rng, nv),
                        dv = random_vector(rng, nv);
  Eigen::VectorXd by_q(nv), by_v(nv), dtau(nv);
  std::vector<AdjointTerms<double>> adjoint(view.num_bodies);
  std::vector<TangentTerms<double>> tangent(view.num_bodies);
  const Force<double>*f = constraint_wrench ? s.constraint_wrench.data() : nullptr,
        *w = wrench ? s.wrench.data() : nullptr;
  const TreeParameters<double> parameters = s.parameters();
  inverse_dynamics_vjp(view,
                       parameters,
                       s.data(),
                       s.dt,
                       s.a.data(),
                       f,
                       w,
                       p.data(),
                       adjoint.data(),
                       by_q.data(),
                       by_v.data());
  inverse_dynamics_jvp(view,
                       parameters,
                       s.data(),
                       s.dt,
                       s.a.data(),
                       f,
                       w,
                       dq.data(),
                       dv.data(),
                       tangent.data(),
                       dtau.data());
  const double scale = largest(full.dq) + largest(full.dv);
  BOOST_TEST(largest(by_q - full.dq.transpose() * p) <= 1e-13 * scale);
  BOOST_TEST(largest(by_v - full.dv.transpose() * p) <= 1e-13 * scale);
  BOOST_TEST(largest(dtau - full.dq * dq - full.dv * dv) <= 1e-13 * scale);
}

}  // namespace

BOOST_AUTO_TEST_SUITE(inverse_dynamics_derivatives_test)

// Every joint type, spherical ones with joints below and beside them, branches, general axes.
BOOST_AUTO_TEST_CASE(random_trees_agree_with_dual_numbers) {
  Rng rng(31);
  int types[5] = {}, inner_spherical = 0, general = 0, branches = 0, loose = 0, fixed = 0;
  for (int trial = 0; trial < 150; ++trial) {
    const Sampled sampled = random_scene(rng, trial % 10 == 0);
    const TreeSample s(rng, sampled.scene, 0, 3.0, 1e-3);
    BOOST_TEST_CONTEXT("trial " << trial << ", " << sampled.bodies.size() << " bodies") {
      compare(s, 1e-13);
    }
    std::vector<int> children(sampled.bodies.size(), 0);
    for (std::size_t b = 0; b < sampled.bodies.size(); ++b) {
      const int p = sampled.bodies[b].parent;
      ++types[static_cast<int>(sampled.bodies[b].joint)];
      general += s.view().axis_code[b] == 3;
      if (p >= 0) {
        branches += children[p]++ > 0;
        inner_spherical += sampled.bodies[p].joint == JointType::kSpherical;
      }
    }
    loose += is_loose_body(s.view());
    fixed += !s.view().free_root;
  }
  for (const int count : types) BOOST_TEST(count > 20);
  BOOST_TEST(inner_spherical > 20);
  BOOST_TEST(general > 50);
  BOOST_TEST(branches > 50);
  BOOST_TEST(loose >= 15);
  BOOST_TEST(fixed > 30);
}

// Null wrenches are wrenches of zero.
BOOST_AUTO_TEST_CASE(wrenches_may_be_left_out) {
  Rng rng(32);
  int different = 0;
  for (int trial = 0; trial < 40; ++trial) {
    const Sampled sampled = random_scene(rng, trial % 4 == 0);
    TreeSample s(rng, sampled.scene, 0, 3.0, 1e-3);
    const TauDerivatives pushed = derivatives(s, true, true);
    std::vector<Force<double>> none(s.constraint_wrench.size(),
                                    Force<double>{{0, 0, 0}, {0, 0, 0}});
    for (const bool constraint_wrench : {true, false}) {
      for (const bool wrench : {true, false}) {
        const TauDerivatives left_out = derivatives(s, constraint_wrench, wrench);
        const std::vector<Force<double>> kept[2] = {s.constraint_wrench, s.wrench};
        if (!constraint_wrench) s.constraint_wrench = none;
        if (!wrench) s.wrench = none;
        const TauDerivatives expected = derivatives(s, true, true);
        s.constraint_wrench = kept[0];
        s.wrench = kept[1];
        BOOST_TEST(relative(left_out.dq, expected.dq) < 1e-15);
        BOOST_TEST(relative(left_out.dv, expected.dv) < 1e-15);
        different += relative(left_out.dq, pushed.dq) > 1e-3;
      }
    }
  }
  BOOST_TEST(different > 100);  // of 120
}

// A loose body with its centre of mass aside, up to half a radian a step.
BOOST_AUTO_TEST_CASE(tumbling_bodies_agree_with_dual_numbers) {
  Rng rng(33);
  for (const auto& [spin, allowed] : {std::pair{10.0, 1e-12}, {50.0, 1e-11}, {300.0, 1e-6}}) {
    for (int trial = 0; trial < 50; ++trial) {
      const Sampled sampled = random_scene(rng, true);
      const TreeSample s(rng, sampled.scene, 0, spin, 1e-3);
      BOOST_TEST_CONTEXT("trial " << trial << ", " << spin << " rad/s") { compare(s, allowed); }
    }
  }
}

// The products linear in the bodies are those with the matrices.
BOOST_AUTO_TEST_CASE(products_are_those_of_the_matrices) {
  Rng rng(35);
  for (int trial = 0; trial < 100; ++trial) {
    const Sampled sampled = random_scene(rng, trial % 10 == 0);
    const TreeSample s(rng, sampled.scene, 0, 3.0, 1e-3);
    const bool constraint_wrench = trial % 3 != 0, wrench = trial % 2 == 0;
    BOOST_TEST_CONTEXT("trial " << trial << ", " << sampled.bodies.size() << " bodies") {
      compare_products(s, constraint_wrench, wrench);
    }
  }
}

BOOST_AUTO_TEST_CASE(robots_agree_with_dual_numbers) {
  Rng rng(34);
  for (const char* name : {"solo12", "talos", "allegro-ball", "double-pendulum"}) {
    const Scene scene = make_scene(name);
    for (int trial = 0; trial < 3; ++trial) {
      for (std::size_t t = 0; t < scene.trees().size(); ++t) {
        const TreeSample s(rng, scene, static_cast<int>(t), 2.0, 1e-3);
        BOOST_TEST_CONTEXT(name << ", tree " << t) {
          compare(s, 1e-13);
          compare_products(s, true, true);
        }
      }
    }
  }
}

BOOST_AUTO_TEST_SUITE_END()
