#include "support/allocation_guard.hpp"
#include "support/ccp.hpp"
#include "support/dense.hpp"
#include <Eigen/Core>
#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <cmath>

// The edges of the problem, for all solvers of the cone complementarity problem.

using namespace stiction;
using namespace stiction::test;
using Eigen::MatrixXd;
using Eigen::Vector3d;
using Eigen::VectorXd;

BOOST_AUTO_TEST_SUITE(ccp_edges_test)

// mu = 0: no tangential impulse, and the normals are those of the frictionless problem.
BOOST_AUTO_TEST_CASE(no_friction_is_frictionless) {
  for (const std::string& name : kCcpNames) {
    Rng rng(18);
    for (int trial = 0; trial < 50; ++trial) {
      const int n = 1 + rng.below(5);
      Data cones, normals;
      const MatrixXd A = random_matrix(rng, 3 * n, 3 * n);
      cones.G = gram(A) + 0.1 * MatrixXd::Identity(3 * n, 3 * n);
      cones.g = random_vector(rng, 3 * n);
      std::vector<int> rows;
      for (int i = 0; i < n; ++i) {
        cones.sets.push_back(ConstraintSet::cone(0.0));
        normals.sets.push_back(ConstraintSet::non_negative());
        rows.push_back(3 * i + 2);
      }
      normals.G = cones.G(rows, rows);
      normals.g = cones.g(rows);
      SolverSettings s = settings(name, 1e-10);
      const auto given = [&](int size) {
        s.regularisation = RegularisationRule::kGiven;
        s.given_regularisation.assign(size, 1e-3);
        return s;
      };
      const ContactSolution a = solved(cones.problem(), given(3 * n)),
                            b = solved(normals.problem(), given(n));
      BOOST_TEST_CONTEXT(name << ", trial " << trial) {
        BOOST_REQUIRE((a.converged() && b.converged()));
        for (int i = 0; i < n; ++i) {
          BOOST_TEST((a.impulse[3 * i] == 0.0 && a.impulse[3 * i + 1] == 0.0));
          BOOST_TEST(std::abs(a.impulse[3 * i + 2] - b.impulse[i]) < 1e-6);
        }
      }
    }
  }
}

// Compliance is honoured: R beside G is R inside G, and a lone contact yields as it says.
BOOST_AUTO_TEST_CASE(compliance_is_honoured) {
  for (const std::string& name : kCcpNames) {
    Rng rng(19);
    for (int trial = 0; trial < 100; ++trial) {
      const Data d = random_problem(rng, rng.uniform(0.5, 1.2), true);
      Data e = d;
      e.G.diagonal() += e.R;
      e.R.resize(0);
      const ContactSolution a = solved(d.problem(), settings(name, 1e-10)),
                            b = solved(e.problem(), settings(name, 1e-10));
      BOOST_TEST_CONTEXT(name << ", trial " << trial) {
        BOOST_REQUIRE((a.converged() && b.converged()));
        BOOST_TEST((map(a.velocity) - map(b.velocity)).cwiseAbs().maxCoeff() < 1e-5);
      }
    }
    SolverSettings s = settings(name, 1e-12);
    s.regularisation = RegularisationRule::kDiagonal;
    s.regularisation_weight = 1e-9;
    const ContactSolution x = solved(ContactProblem::from_dense(MatrixXd::Identity(3, 3),
                                                                Vector3d(0, 0, -1),
                                                                {ConstraintSet::cone(0.5)},
                                                                Vector3d(0, 0, 3)),
                                     s);
    BOOST_TEST(std::abs(x.impulse[2] - 0.25) < 1e-8);
    BOOST_TEST(std::abs(x.velocity[2]) < 1e-8);
  }
}

// Rows and blocks of zeros, an immovable problem, and no rows at all.
BOOST_AUTO_TEST_CASE(zero_rows_do_no_harm) {
  for (const std::string& name : kCcpNames) {
    const ContactSolution none =
        solved(ContactProblem::from_dense({}, {}, {}), settings(name, 1e-8));
    BOOST_TEST((none.converged() && none.iterations == 0 && none.impulse.empty()));
    MatrixXd G = MatrixXd::Zero(9, 9);
    G.diagonal() << 1.0, 1.0, 1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 2.0;
    VectorXd g = VectorXd::Zero(9);
    g[2] = -1.0;
    g[5] = 1.0;
    g[8] = 0.5;
    const std::vector<ConstraintSet> sets = {ConstraintSet::cone(0.5),
                                             ConstraintSet::cone(0.5),
                                             ConstraintSet::non_negative(),
                                             ConstraintSet::box(-0.1, 0.2),
                                             ConstraintSet::free(1)};
    const ContactSolution x = solved(ContactProblem::from_dense(G, g, sets), settings(name, 1e-9));
    BOOST_TEST_CONTEXT(name) {
      BOOST_TEST(x.converged());
      BOOST_TEST(x.impulse[2] > 0.9);
      BOOST_TEST(x.impulse[5] == 0.0);
      BOOST_TEST(map(x.impulse).allFinite());
    }
    const ContactSolution stuck =
        solved(ContactProblem::from_dense(
                   MatrixXd::Zero(3, 3), Vector3d(0.0, 0.0, -1.0), {ConstraintSet::cone(0.5)}),
               settings(name, 1e-8, 100));
    BOOST_TEST(map(stuck.impulse).allFinite());
    BOOST_TEST(stuck.residuals.relative >= 1.0);  // the certificate is not deceived
    if (name != "ccp-newton") BOOST_TEST(!stuck.converged());
  }
}

BOOST_AUTO_TEST_CASE(too_few_iterations_are_reported) {
  for (const std::string& name : kCcpNames) {
    Rng rng(20);
    int stopped = 0;
    for (int trial = 0; trial < 100; ++trial) {
      const ContactSolution x = solved(random_problem(rng, rng.uniform(0.3, 1.2), false).problem(),
                                       settings(name, 1e-12, 1));
      BOOST_TEST(x.iterations <= 1);
      if (x.model_residuals.relative <= 1e-12) continue;
      ++stopped;
      BOOST_TEST(
          (x.status == SolveStatus::kMaxIterations || x.status == SolveStatus::kRoundingLimited));
    }
    BOOST_TEST(stopped > 30);
  }
}

BOOST_AUTO_TEST_CASE(not_finite_is_reported) {
  for (const std::string& name : kCcpNames) {
    Rng rng(21);
    const Data d = easy_data(rng);
    for (const double bad : {std::nan(""), double(INFINITY)}) {
      for (int r = 0; r < d.g.size(); ++r) {
        ContactProblem p = d.problem();
        p.g[r] = bad;
        const ContactSolution x = solved(p, settings(name, 1e-8));
        BOOST_TEST((x.status == SolveStatus::kNotFinite && map(x.impulse).isZero(0.0)), name);
      }
      for (int i = 0; i < static_cast<int>(d.sets.size()); ++i) {
        ContactProblem p = d.problem();
        p.set_diagonal_entry(i, 0, bad);
        BOOST_TEST((solved(p, settings(name, 1e-8)).status == SolveStatus::kNotFinite), name);
      }
    }
  }
}

// A second solve of the same size allocates nothing, small or large.
BOOST_AUTO_TEST_CASE(warm_calls_do_not_allocate) {
  for (const std::string& name : kCcpNames) {
    for (const int contacts : {4, 80}) {
      Rng rng(22);
      Data d;
      for (int i = 0; i < contacts; ++i) d.sets.push_back(ConstraintSet::cone(0.6));
      d.sets.push_back(ConstraintSet::box(-0.1, 0.1));
      d.sets.push_back(ConstraintSet::free(3));
      const int rows = count_rows(d.sets);
      const MatrixXd A = random_matrix(rng, rows, rows / 2);
      d.G = gram(A);
      d.g = A * random_vector(rng, rows / 2);
      const ContactProblem p = d.problem();
      SolverWorkspace work;
      ContactSolution x;
      const SolverSettings s = settings(name, 1e-9, 60);
      solve(p, s, work, x);
      std::fill(x.impulse.begin(), x.impulse.end(), 0.0);
      const long before = allocation_count();
      solve(p, s, work, x);
      const long allocated = allocation_count() - before;
      BOOST_TEST(allocated == 0, name << ", " << rows << " rows: " << allocated);
      BOOST_TEST(x.iterations > 3);
    }
  }
}

BOOST_AUTO_TEST_SUITE_END()
