#include "dynamics/bias.hpp"
#include "dynamics/constraint_rows.hpp"
#include "dynamics/forest.hpp"
#include "dynamics/integrate.hpp"
#include "dynamics/inverse_dynamics_derivatives.hpp"
#include "dynamics/kinematics.hpp"
#include "dynamics/loose_body.hpp"
#include "dynamics/mass_matrix.hpp"
#include "model/joint.hpp"
#include "support/random_tree.hpp"
#include <boost/test/unit_test.hpp>
#include <pinocchio/algorithm/center-of-mass.hpp>
#include <pinocchio/algorithm/crba.hpp>
#include <pinocchio/algorithm/energy.hpp>
#include <pinocchio/algorithm/jacobian.hpp>
#include <pinocchio/algorithm/joint-configuration.hpp>
#include <pinocchio/algorithm/rnea-derivatives.hpp>
#include <pinocchio/algorithm/rnea.hpp>
#include <pinocchio/multibody.hpp>

using namespace stiction;
using namespace stiction::test;

namespace {

Eigen::Vector3d eigen(const Vec3d& v) { return {v.x, v.y, v.z}; }
Eigen::Matrix3d eigen(const Mat3d& m) {
  Eigen::Matrix3d R;
  R << eigen(m.c0), eigen(m.c1), eigen(m.c2);
  return R;
}

pinocchio::JointModel joint_model(const BodyDescription& b) {
  const Eigen::Vector3d a = eigen(b.axis);
  switch (b.joint) {
    case JointType::kFreeFlyer:
      return pinocchio::JointModelFreeFlyer();
    case JointType::kSpherical:
      return pinocchio::JointModelSpherical();
    case JointType::kContinuous:
      return pinocchio::JointModelRevoluteUnboundedUnaligned(a);
    case JointType::kPrismatic:
      return pinocchio::JointModelPrismaticUnaligned(a);
    case JointType::kRevolute:
      break;
  }
  return pinocchio::JointModelRevoluteUnaligned(a);
}

pinocchio::Model pinocchio_model(const std::vector<BodyDescription>& bodies) {
  pinocchio::Model model;
  for (const BodyDescription& b : bodies) {
    const pinocchio::SE3 X(eigen(b.placement.R), eigen(b.placement.p));
    const auto id = model.addJoint(b.parent + 1, joint_model(b), X, b.name);
    Eigen::Matrix3d I;
    I << b.inertia.xx, b.inertia.xy, b.inertia.xz, b.inertia.xy, b.inertia.yy, b.inertia.yz,
        b.inertia.xz, b.inertia.yz, b.inertia.zz;
    model.appendBodyToJoint(
        id, pinocchio::Inertia(b.mass, eigen(b.com), I), pinocchio::SE3::Identity());
  }
  return model;
}

/// One random tree with its state, our data and Pinocchio's.
struct Sample {
  std::vector<BodyDescription> bodies;
  Scene scene;
  pinocchio::Model model;
  pinocchio::Data data;
  Eigen::VectorXd q, v;
  DynamicsWorkspace work;

  explicit Sample(Rng& rng) : bodies(random_tree(rng)) {
    Robot robot;
    robot.name = "tree";
    robot.bodies = bodies;
    robot.dofs.resize(robot.nv());
    model = pinocchio_model(bodies);
    const Eigen::VectorXd neutral = pinocchio::neutral(model);
    robot.neutral.assign(neutral.data(), neutral.data() + neutral.size());
    scene.add_robot(robot);
    data = pinocchio::Data(model);
    const Eigen::VectorXd step = 2.0 * random_vector(rng, model.nv);
    q = pinocchio::integrate(
        model, Eigen::Ref<const Eigen::VectorXd>(neutral), Eigen::Ref<const Eigen::VectorXd>(step));
    v = random_vector(rng, model.nv);
    work.resize(scene);
  }
  const TreeView& view() { return work.views[0]; }
  TreeData<double>& tree() { return work.trees[0]; }
  TreeParameters<double> parameters() {
    return tree_parameters(scene.trees()[0], 0, scene.parameters);
  }
  void kinematics() { forward_kinematics(scene, scene.parameters, q.data(), v.data(), work); }

  /// Symmetric M from the packed rows.
  Eigen::MatrixXd dense_mass() {
    Eigen::MatrixXd M = Eigen::MatrixXd::Zero(model.nv, model.nv);
    for (int j = 0; j < model.nv; ++j) {
      for (int m = 0; m <= view().depth[j]; ++m) {
        const int i = view().chain[view().row[j] + m];
        M(i, j) = M(j, i) = tree().L[view().row[j] + m];
      }
    }
    return M;
  }
  Eigen::MatrixXd pinocchio_mass() {
    pinocchio::crba(model, data, Eigen::Ref<const Eigen::VectorXd>(q));
    return data.M.selfadjointView<Eigen::Upper>();
  }
};

double relative(const Eigen::MatrixXd& a, const Eigen::MatrixXd& b) {
  return (a - b).cwiseAbs().maxCoeff() / std::max(1e-300, b.cwiseAbs().maxCoeff());
}

template <class Check>
void each_sample(Check&& check) {
  Rng rng(7);
  for (int trial = 0; trial < 60; ++trial) {
    Sample s(rng);
    s.kinematics();
    BOOST_TEST_CONTEXT("trial " << trial << ", " << s.bodies.size() << " bodies") { check(s, rng); }
  }
}

}  // namespace

BOOST_AUTO_TEST_SUITE(kernels_against_pinocchio_test)

// The generator visits every joint type, free and fixed roots, branches, and general axes.
BOOST_AUTO_TEST_CASE(sampler_visits_every_branch) {
  int types[5] = {}, general = 0, branches = 0, fixed_roots = 0;
  each_sample([&](Sample& s, Rng&) {
    std::vector<int> children(s.bodies.size(), 0);
    for (std::size_t b = 0; b < s.bodies.size(); ++b) {
      ++types[static_cast<int>(s.bodies[b].joint)];
      general += s.scene.trees()[0].axis_code[b] == 3;
      if (s.bodies[b].parent >= 0) branches += children[s.bodies[b].parent]++ > 0;
    }
    fixed_roots += !s.view().free_root;
  });
  for (const int count : types) BOOST_TEST(count > 5);
  BOOST_TEST(general > 20);
  BOOST_TEST(branches > 20);
  BOOST_TEST(fixed_roots > 10);
  BOOST_TEST(fixed_roots < 50);
}

BOOST_AUTO_TEST_CASE(placements_agree) {
  each_sample([](Sample& s, Rng&) {
    pinocchio::forwardKinematics(s.model, s.data, Eigen::Ref<const Eigen::VectorXd>(s.q));
    for (std::size_t b = 0; b < s.bodies.size(); ++b) {
      const Transform X = body_placement(s.scene, s.work, static_cast<int>(b));
      BOOST_TEST(relative(eigen(X.R), s.data.oMi[b + 1].rotation()) < 1e-12);
      BOOST_TEST((eigen(X.p) - s.data.oMi[b + 1].translation()).norm() <
                 1e-12 * (1.0 + eigen(X.p).norm()));
    }
  });
}

BOOST_AUTO_TEST_CASE(mass_matrix_agrees) {
  each_sample([](Sample& s, Rng&) {
    body_inertias_and_forces(s.view(), s.parameters(), s.tree());
    mass_matrix(s.view(), s.tree());
    BOOST_TEST(relative(s.dense_mass(), s.pinocchio_mass()) < 1e-12);
  });
}

// Ours takes the classical acceleration of a free-flyer's origin: nle = ours + M (w x v, 0).
BOOST_AUTO_TEST_CASE(bias_forces_agree) {
  each_sample([](Sample& s, Rng&) {
    body_inertias_and_forces(s.view(), s.parameters(), s.tree());
    bias_forces(s.view(), s.tree());
    pinocchio::nonLinearEffects(s.model,
                                s.data,
                                Eigen::Ref<const Eigen::VectorXd>(s.q),
                                Eigen::Ref<const Eigen::VectorXd>(s.v));
    Eigen::VectorXd ours = Eigen::Map<Eigen::VectorXd>(s.tree().bias, s.model.nv);
    if (s.view().free_root) {
      Eigen::VectorXd offset = Eigen::VectorXd::Zero(s.model.nv);
      const Eigen::Vector3d w = s.v.segment<3>(3), u = s.v.segment<3>(0);
      offset.head<3>() = w.cross(u);
      ours += s.pinocchio_mass() * offset;
    }
    BOOST_TEST(relative(ours, s.data.nle) < 1e-12);
  });
}

// tau = Pinocchio's at the spatial acceleration a - (w x v, 0) of a free root.
BOOST_AUTO_TEST_CASE(inverse_dynamics_derivatives_agree) {
  each_sample([&](Sample& s, Rng& rng) {
    if (is_loose_body(s.view())) return;
    const int nv = s.model.nv;
    body_inertias_and_forces(s.view(), s.parameters(), s.tree());
    bias_forces(s.view(), s.tree());
    mass_matrix(s.view(), s.tree());
    const Eigen::VectorXd a = 5.0 * random_vector(rng, nv);
    Eigen::MatrixXd dq = Eigen::MatrixXd::Zero(nv, nv), dv = dq;
    std::vector<double> memory(inverse_dynamics_work_size<double>(s.view()));
    Arena<double> arena{memory.data()};
    inverse_dynamics_derivatives<double>(s.view(),
                                         s.parameters(),
                                         s.tree(),
                                         1e-3,
                                         a.data(),
                                         nullptr,
                                         nullptr,
                                         take_inverse_dynamics_work(s.view(), arena),
                                         {dq.data(), dv.data(), nv});
    Eigen::VectorXd spatial = a;
    Eigen::MatrixXd turn = Eigen::MatrixXd::Zero(nv, nv);  // d(w x v) / d(v, w)
    if (s.view().free_root) {
      const Eigen::Vector3d u = s.v.segment<3>(0), w = s.v.segment<3>(3);
      spatial.head<3>() -= w.cross(u);
      turn.block<3, 3>(0, 0) = pinocchio::skew(w);
      turn.block<3, 3>(0, 3) = -pinocchio::skew(u);
    }
    pinocchio::computeRNEADerivatives(s.model,
                                      s.data,
                                      Eigen::Ref<const Eigen::VectorXd>(s.q),
                                      Eigen::Ref<const Eigen::VectorXd>(s.v),
                                      Eigen::Ref<const Eigen::VectorXd>(spatial));
    const Eigen::MatrixXd by_v = s.data.dtau_dv - s.pinocchio_mass() * turn;
    const double scale = s.data.dtau_dq.norm() + by_v.norm();  // one may be all rounding
    // Rows of ours are columns of Eigen's.
    BOOST_TEST((dq.transpose() - s.data.dtau_dq).norm() <= 1e-13 * scale);
    BOOST_TEST((dv.transpose() - by_v).norm() <= 1e-13 * scale);
  });
}

// The conserving bias of a loose body tends to Pinocchio's with dt, at first order. Its linear part
// is for the centre of mass: nle = ours + M (w x (v + w x c), 0).
BOOST_AUTO_TEST_CASE(bias_of_a_loose_body_tends_to_pinocchios) {
  int loose = 0;
  each_sample([&](Sample& s, Rng&) {
    if (!is_loose_body(s.view())) return;
    ++loose;
    const Eigen::VectorXd nle = pinocchio::nonLinearEffects(s.model,
                                                            s.data,
                                                            Eigen::Ref<const Eigen::VectorXd>(s.q),
                                                            Eigen::Ref<const Eigen::VectorXd>(s.v));
    Eigen::VectorXd offset = Eigen::VectorXd::Zero(6);
    const Eigen::Vector3d w = s.v.tail<3>(), u = s.v.head<3>(), c = eigen(s.bodies[0].com);
    offset.head<3>() = w.cross(u + w.cross(c));
    const Eigen::VectorXd limit = nle - s.pinocchio_mass() * offset;
    double error[3];
    for (int level = 0; level < 3; ++level) {
      const double dt = level == 2 ? 1e-8 : 1e-3 / (1 << level);
      body_inertias_and_forces(s.view(), s.parameters(), s.tree());
      loose_body_bias(s.parameters(), dt, s.tree());
      error[level] = (Eigen::Map<Eigen::VectorXd>(s.tree().bias, 6) - limit).norm() / nle.norm();
    }
    BOOST_TEST(error[0] < 1e-2);
    BOOST_TEST(std::abs(error[0] / error[1] - 2.0) < 0.05);
    BOOST_TEST(error[2] < 1e-7);
  });
  BOOST_TEST(loose > 0);
}

BOOST_AUTO_TEST_CASE(energies_agree) {
  each_sample([](Sample& s, Rng&) {
    body_inertias_and_forces(s.view(), s.parameters(), s.tree());
    const double kinetic = pinocchio::computeKineticEnergy(s.model,
                                                           s.data,
                                                           Eigen::Ref<const Eigen::VectorXd>(s.q),
                                                           Eigen::Ref<const Eigen::VectorXd>(s.v));
    const double potential =
        pinocchio::computePotentialEnergy(s.model, s.data, Eigen::Ref<const Eigen::VectorXd>(s.q));
    BOOST_TEST(std::abs(s.tree().kinetic_energy - kinetic) < 1e-12 * kinetic);
    BOOST_TEST(std::abs(s.tree().potential_energy - potential) <
               1e-11 * (1.0 + std::abs(potential)));
  });
}

// L^T D L rebuilds M, and the two half solves invert it.
BOOST_AUTO_TEST_CASE(factorisation_inverts) {
  each_sample([](Sample& s, Rng& rng) {
    body_inertias_and_forces(s.view(), s.parameters(), s.tree());
    mass_matrix(s.view(), s.tree());
    const Eigen::MatrixXd M = s.dense_mass();
    factorise(s.view(), s.tree());
    const Eigen::VectorXd b = random_vector(rng, s.model.nv);
    Eigen::VectorXd x = b;
    solve_transposed(s.view(), s.tree(), x.data());
    solve_scaled_lower(s.view(), s.tree(), x.data());
    const double condition_free = (M * x - b).norm() / (M.norm() * x.norm() + b.norm());
    BOOST_TEST(condition_free < 1e-14);
  });
}

// Rows of a point on a random body equal R^T J of Pinocchio, and Z^T D^-1 Z equals J M^-1 J^T.
BOOST_AUTO_TEST_CASE(constraint_rows_and_delassus_agree) {
  each_sample([](Sample& s, Rng& rng) {
    body_inertias_and_forces(s.view(), s.parameters(), s.tree());
    mass_matrix(s.view(), s.tree());
    factorise(s.view(), s.tree());
    pinocchio::computeJointJacobians(s.model, s.data, Eigen::Ref<const Eigen::VectorXd>(s.q));
    const Eigen::MatrixXd M = s.pinocchio_mass();
    const int nb = static_cast<int>(s.bodies.size()), nv = s.model.nv;
    Eigen::MatrixXd J(6, nv);
    std::vector<double> z[2], scaled[2];
    int body[2], last[2];
    for (int k = 0; k < 2; ++k) {
      body[k] = static_cast<int>(rng.uniform(0.0, 0.999) * nb);
      last[k] = s.scene.trees()[0].last_dof[body[k]];
      const Vec3d p = uniform_vector(rng, 1.0);
      const Mat3d frame = rotation(rng);
      const TreeData<double>& data = s.tree();
      z[k].assign(3 * nv, 0.0);
      point_rows(s.view(),
                 data,
                 last[k],
                 transpose_times(data.X_WR.R, p - data.X_WR.p),
                 transpose_times(data.X_WR.R, frame),
                 1.0,
                 z[k].data());
      Eigen::MatrixXd full = Eigen::MatrixXd::Zero(6, nv);
      pinocchio::getJointJacobian(s.model, s.data, body[k] + 1, pinocchio::WORLD, full);
      Eigen::MatrixXd at_point = full.topRows<3>();
      for (int c = 0; c < nv; ++c)
        at_point.col(c) += Eigen::Vector3d(full.col(c).tail<3>()).cross(eigen(p));
      J.middleRows<3>(3 * k) = eigen(frame).transpose() * at_point;
      Eigen::MatrixXd ours = Eigen::MatrixXd::Zero(3, nv);
      for (int m = 0; m <= s.view().depth[last[k]]; ++m) {
        for (int r = 0; r < 3; ++r)
          ours(r, s.view().chain[s.view().row[last[k]] + m]) = z[k][3 * m + r];
      }
      BOOST_TEST((ours - J.middleRows<3>(3 * k)).cwiseAbs().maxCoeff() <
                 1e-12 * (1.0 + J.cwiseAbs().maxCoeff()));
      whiten_rows<3>(s.view(), data, last[k], z[k].data());
      scaled[k].assign(3 * nv, 0.0);
      scale_rows<3>(s.view(), data, last[k], z[k].data(), scaled[k].data());
    }
    const Eigen::MatrixXd G = J * M.ldlt().solve(J.transpose());
    Eigen::MatrixXd ours(6, 6);
    for (int a = 0; a < 2; ++a) {
      for (int b = 0; b < 2; ++b) {
        double block[9] = {};
        delassus_block<3, 3>(
            s.scene.trees()[0].common(body[a], body[b]), z[a].data(), scaled[b].data(), block, 3);
        ours.block<3, 3>(3 * a, 3 * b) = Eigen::Map<Eigen::Matrix3d>(block);
      }
    }
    // The reference solves with M: its own error grows with the condition number.
    const double condition = M.norm() * M.inverse().norm();
    BOOST_TEST(relative(ours, G) < 1e-15 * condition + 1e-12);
  });
}

// Joints other than the free-flyer integrate as Pinocchio does; the free-flyer turns as Pinocchio's
// does and moves its origin, or the centre of mass of a loose body, straight on, keeping the world
// velocity of that point.
BOOST_AUTO_TEST_CASE(integration_agrees) {
  const double dt = 0.01;
  each_sample([&](Sample& s, Rng&) {
    Eigen::VectorXd q = s.q, v = s.v;
    integrate_configuration(s.view(), root_point(s.view(), s.parameters()), dt, q.data(), v.data());
    const Eigen::VectorXd step = dt * s.v;
    Eigen::VectorXd expected = pinocchio::integrate(
        s.model, Eigen::Ref<const Eigen::VectorXd>(s.q), Eigen::Ref<const Eigen::VectorXd>(step));
    if (s.view().free_root) {
      const Eigen::Quaterniond old(s.q[6], s.q[3], s.q[4], s.q[5]), now(q[6], q[3], q[4], q[5]);
      const Eigen::Vector3d w = s.v.segment<3>(3), c = is_loose_body(s.view())
                                                           ? eigen(s.bodies[0].com)
                                                           : Eigen::Vector3d::Zero();
      const Eigen::Vector3d u = old * (s.v.head<3>() + w.cross(c));
      expected.head<3>() = s.q.head<3>() + old * c + dt * u - now * c;
      BOOST_TEST((now * (v.head<3>() + w.cross(c)) - u).norm() < 1e-14 * (1.0 + u.norm()));
    }
    BOOST_TEST((q - expected).cwiseAbs().maxCoeff() < 1e-13);
  });
}

// The displacement between two configurations is Pinocchio's, but for the linear part of a
// free-flyer: the straight line in the axes of the first, where Pinocchio's is a screw.
BOOST_AUTO_TEST_CASE(difference_agrees) {
  each_sample([&](Sample& s, Rng& rng) {
    const Eigen::VectorXd step = 1.5 * random_vector(rng, s.model.nv);
    const Eigen::VectorXd to = pinocchio::integrate(
        s.model, Eigen::Ref<const Eigen::VectorXd>(s.q), Eigen::Ref<const Eigen::VectorXd>(step));
    Eigen::VectorXd expected = pinocchio::difference(
        s.model, Eigen::Ref<const Eigen::VectorXd>(s.q), Eigen::Ref<const Eigen::VectorXd>(to));
    if (s.view().free_root) {
      const Eigen::Quaterniond from(s.q[6], s.q[3], s.q[4], s.q[5]);
      expected.head<3>() = from.conjugate() * (to.head<3>() - s.q.head<3>());
    }
    Eigen::VectorXd x(s.model.nv);
    for (int b = 0; b < s.view().num_bodies; ++b) {
      const int q = s.view().q_index[b], v = s.view().v_index[b];
      visit_joint(s.view().joint[b], [&](auto joint) {
        joint.difference(s.q.data() + q, to.data() + q, x.data() + v);
      });
    }
    BOOST_TEST((x - expected).cwiseAbs().maxCoeff() < 1e-13);
  });
}

BOOST_AUTO_TEST_SUITE_END()
