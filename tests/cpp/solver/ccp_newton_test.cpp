#include "stiction/solver/solver.hpp"

#include "solver/convex/regularised_law.hpp"
#include "support/contact_problems.hpp"
#include "support/dense.hpp"
#include <Eigen/Core>
#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <cmath>

// ccp-newton and its law, beyond what ccp_test.cpp asks of every solver of its model.

using namespace stiction;
using namespace stiction::test;
using Eigen::Matrix3d;
using Eigen::Vector3d;
using Eigen::VectorXd;

namespace {

VectorXd map(const std::vector<double>& x) {
  return Eigen::Map<const VectorXd>(x.data(), x.size());
}

ContactSolution solved(const ContactProblem& problem, const SolverSettings& s) {
  SolverWorkspace work;
  ContactSolution out;
  solve(problem, s, work, out);
  return out;
}

SolverSettings given(const VectorXd& rows, double tolerance, const char* name = "ccp-newton") {
  SolverSettings s;
  s.name = name;
  s.tolerance = tolerance;
  s.max_iterations = 50000;
  s.regularisation = RegularisationRule::kGiven;
  s.given_regularisation.assign(rows.data(), rows.data() + rows.size());
  return s;
}

struct Sample {
  ConstraintSet set;
  Vector3d R, c;
};

Sample random_contact(Rng& rng) {
  Sample s;
  s.set = ConstraintSet::cone(rng.below(8) == 0 ? 0.0 : rng.uniform(0.05, 1.5));
  const double tangential = std::pow(10.0, rng.uniform(-4, 1));
  s.R = Vector3d(tangential, tangential, std::pow(10.0, rng.uniform(-4, 1)));
  s.c = random_vector(rng, 3);
  return s;
}

Vector3d impulse(const Sample& s, const Vector3d& c) {
  Vector3d l;
  regularised_impulse(s.set, s.R.data(), c.data(), l.data());
  return l;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(ccp_newton_test)

// The law's impulse solves its own problem, K 3 l perp c + R l in K*, in every mode.
BOOST_AUTO_TEST_CASE(law_is_the_projection_in_the_metric_of_R) {
  Rng rng(1);
  int modes[3] = {};
  for (int trial = 0; trial < 3000; ++trial) {
    const Sample s = random_contact(rng);
    const Vector3d l = impulse(s, s.c), y = s.c + s.R.cwiseProduct(l);
    ++modes[static_cast<int>(
        ScaledContact<3>(s.set.friction.mu[0], s.R.data(), s.c.data()).at.mode)];
    const double size = 1e-12 * std::max(1.0, l.norm());
    BOOST_TEST_CONTEXT("trial " << trial << ", mu " << s.set.friction.mu[0]) {
      BOOST_TEST(l.head<2>().norm() <= s.set.friction.mu[0] * l[2] + size);
      BOOST_TEST(y[2] >= s.set.friction.mu[0] * y.head<2>().norm() - size);
      BOOST_TEST(std::abs(l.dot(y)) <= size);
    }
  }
  for (const int count : modes) BOOST_TEST(count > 300);
}

// H = L L^T is minus the derivative of the impulse, by central differences.
BOOST_AUTO_TEST_CASE(stiffness_is_the_derivative_of_the_law) {
  Rng rng(2);
  int ranks[4] = {}, smooth = 0;
  for (int trial = 0; trial < 1000; ++trial) {
    const Sample s = random_contact(rng);
    double columns[9];
    const int rank = regularised_stiffness(s.set, s.R.data(), s.c.data(), columns);
    ++ranks[rank];
    const Eigen::Map<const Eigen::Matrix3Xd> L(columns, 3, rank);
    const Matrix3d H = gram(L);
    Matrix3d difference;
    const double h = 1e-6;
    bool kink = false;
    for (int k = 0; k < 3; ++k) {
      const Vector3d up = s.c + h * Vector3d::Unit(k), down = s.c - h * Vector3d::Unit(k);
      difference.col(k) = (impulse(s, down) - impulse(s, up)) / (2.0 * h);
      const auto mode = [&](const Vector3d& c) {
        return ScaledContact<3>(s.set.friction.mu[0], s.R.data(), c.data()).at.mode;
      };
      kink = kink || mode(up) != mode(s.c) || mode(down) != mode(s.c);
    }
    if (kink) continue;
    ++smooth;
    BOOST_TEST((H - difference).norm() <= 1e-5 * (1.0 + H.norm()), "trial " << trial);
  }
  BOOST_TEST(smooth > 900);
  for (const int count : ranks) BOOST_TEST(count > 30);  // open, mu = 0, sliding, sticking
}

// R_T1 and R_T2 of a contact may differ: the velocity is that of the problem with R in G, found by
// a solver that adds nothing.
BOOST_AUTO_TEST_CASE(each_tangential_row_has_its_own_regularisation) {
  Rng rng(3);
  for (int trial = 0; trial < 60; ++trial) {
    Data d = random_problem(rng, rng.uniform(0.4, 1.2), false);
    const int rows = static_cast<int>(d.g.size());
    VectorXd R(rows);
    for (int r = 0; r < rows; ++r) R[r] = std::pow(10.0, rng.uniform(-3, 0));
    const ContactSolution x = solved(d.problem(), given(R, 1e-11));
    d.R = R;
    const ContactSolution y = solved(d.problem(), given(R, 1e-11, "ccp-admm"));
    BOOST_TEST_CONTEXT("trial " << trial) {
      BOOST_REQUIRE((x.converged() && y.converged()));
      BOOST_TEST((map(x.regularisation) - R).isZero(0.0));
      const VectorXd c = map(x.velocity) + R.cwiseProduct(map(x.impulse));
      BOOST_TEST((c - map(y.velocity)).cwiseAbs().maxCoeff() <= 1e-7);
    }
  }
}

// R over twelve decades, down to where lambda = -c / R is all rounding: few iterations, and 1e-9.
BOOST_AUTO_TEST_CASE(weak_regularisation_is_solved_too) {
  Rng rng(4);
  int total = 0, converged = 0;
  std::vector<int> iterations;
  for (int trial = 0; trial < 400; ++trial) {
    const Data d = random_problem(rng, rng.uniform(0.3, 1.2), trial % 3 == 0);
    SolverSettings s;
    s.name = "ccp-newton";
    s.tolerance = 1e-9;
    s.regularisation = RegularisationRule::kDiagonal;
    s.regularisation_weight = std::pow(10.0, rng.uniform(-10, 2));
    const ContactSolution x = solved(d.problem(), s);
    ++total;
    converged += x.converged();
    iterations.push_back(x.iterations);
  }
  std::sort(iterations.begin(), iterations.end());
  BOOST_TEST_MESSAGE(converged << " of " << total << ", iterations median " << iterations[total / 2]
                               << ", most " << iterations.back());
  BOOST_TEST(converged >= 0.98 * total);
  BOOST_TEST(iterations[total / 2] <= 12);
}

// The energy that each step is to lower is not touched by a warm start a million times too large:
// the line search goes beyond and below the full step, and arrives.
BOOST_AUTO_TEST_CASE(wild_starts_take_few_steps) {
  Rng rng(5);
  for (int trial = 0; trial < 100; ++trial) {
    const ContactProblem p = random_problem(rng, rng.uniform(0.3, 1.2), false).problem();
    SolverWorkspace work;
    ContactSolution x;
    for (int r = 0; r < p.num_rows(); ++r) x.impulse.push_back(1e6 * rng.uniform(-1.0, 1.0));
    SolverSettings s;
    s.name = "ccp-newton";
    solve(p, s, work, x);
    BOOST_TEST((x.converged() && x.iterations <= 60), "trial " << trial << ", " << x.iterations);
    BOOST_TEST(x.factorisations >= x.iterations);
  }
}

// Given rows of another number are refused by name.
BOOST_AUTO_TEST_CASE(given_rows_must_fit) {
  Rng rng(6);
  const Data d = easy_data(rng);
  const SolverSettings s = given(VectorXd::Ones(d.g.size() + 1), 1e-8);
  BOOST_CHECK_EXCEPTION(solved(d.problem(), s), std::invalid_argument, [](const auto& e) {
    return std::string(e.what()).find("regularisation has") != std::string::npos;
  });
}

BOOST_AUTO_TEST_SUITE_END()
