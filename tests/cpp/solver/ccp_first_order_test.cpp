#include "stiction/solver/solver.hpp"

#include "support/contact_problems.hpp"
#include "support/dense.hpp"
#include <Eigen/Core>
#include <boost/test/unit_test.hpp>

#include <cmath>

// ccp-pgs and ccp-admm, beyond what ccp_test.cpp asks of every solver of their model.

using namespace stiction;
using namespace stiction::test;
using Eigen::MatrixXd;
using Eigen::Vector3d;
using Eigen::VectorXd;

namespace {

SolverSettings settings(const char* name, double tolerance = 1e-9) {
  SolverSettings s;
  s.name = name;
  s.tolerance = tolerance;
  s.max_iterations = 20000;
  return s;
}

ContactSolution solved(const ContactProblem& problem, const SolverSettings& s) {
  SolverWorkspace work;
  ContactSolution out;
  solve(problem, s, work, out);
  return out;
}

/// Contacts of a body on `dofs` directions, hyperstatic if there are fewer than rows.
Data standing(Rng& rng, int contacts, int dofs) {
  Data d;
  for (int i = 0; i < contacts; ++i) d.sets.push_back(ConstraintSet::cone(0.7));
  const MatrixXd A = random_matrix(rng, 3 * contacts, dofs);
  d.G = gram(A);
  d.g = A * random_vector(rng, dofs);
  return d;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(ccp_first_order_test)

// One stiff direction: the published step 3 / trace is three times too long and flips the impulse
// to and fro with growing size; limited, it converges.
BOOST_AUTO_TEST_CASE(step_does_not_overshoot) {
  const Vector3d diagonal(10.0, 0.1, 0.1), g(-1.0, 0.0, -1.0);
  const ConstraintSet set = ConstraintSet::cone(5.0);
  Vector3d published = Vector3d::Zero();
  for (int k = 0; k < 50; ++k) {
    published -= 3.0 / diagonal.sum() * (diagonal.cwiseProduct(published) + g);
    const double t = published.head<2>().norm();
    if (t > set.friction.mu[0] * published[2]) {  // never in the polar cone here
      const double n =
          (published[2] + set.friction.mu[0] * t) / (1.0 + set.friction.mu[0] * set.friction.mu[0]);
      published = Vector3d(
          set.friction.mu[0] * n / t * published[0], set.friction.mu[0] * n / t * published[1], n);
    }
  }
  BOOST_TEST((diagonal.cwiseProduct(published) + g).norm() > 1.0);
  const ContactSolution x = solved(ContactProblem::from_dense(diagonal.asDiagonal(), g, {set}),
                                   settings("ccp-pgs", 1e-10));
  BOOST_TEST(x.converged());
  BOOST_TEST(std::abs(x.impulse[0] - 0.1) < 1e-8);
  BOOST_TEST(std::abs(x.impulse[2] - 10.0) < 1e-7);
}

// Over-relaxation in all of (0, 2) keeps the solution; between 1 and 2 it saves iterations.
BOOST_AUTO_TEST_CASE(over_relaxation_keeps_the_solution) {
  for (const char* name : {"ccp-pgs", "ccp-admm"}) {
    Rng rng(1);
    int fewer = 0;
    const int trials = 60;
    for (int trial = 0; trial < trials; ++trial) {
      const ContactProblem p = easy_data(rng).problem();
      SolverSettings s = settings(name);
      const ContactSolution plain = solved(p, s);
      for (const double alpha : {0.4, 1.5, 1.95}) {
        s.over_relaxation = alpha;
        const ContactSolution x = solved(p, s);
        BOOST_TEST_CONTEXT(name << ", trial " << trial << ", " << alpha) {
          BOOST_REQUIRE((plain.converged() && x.converged()));
          for (std::size_t r = 0; r < x.velocity.size(); ++r)
            BOOST_TEST(std::abs(x.velocity[r] - plain.velocity[r]) < 1e-6);
        }
        if (alpha == 1.5) fewer += x.iterations < plain.iterations;
      }
    }
    if (std::string(name) == "ccp-admm") BOOST_TEST(fewer > trials / 2);
  }
}

// The penalty is taken from the solution, left in it, and found again from a start far away.
BOOST_AUTO_TEST_CASE(penalty_is_warm_started) {
  Rng rng(2);
  int near = 0, far = 0, tried = 0;
  for (int trial = 0; trial < 60; ++trial) {
    const ContactProblem p = standing(rng, 2 + rng.below(5), 6).problem();
    SolverWorkspace work;
    SolverSettings s = settings("ccp-admm");
    ContactSolution x, y, z;
    solve(p, s, work, x);
    if (x.iterations == 0) continue;
    ++tried;
    BOOST_TEST(x.penalty > 0.0);
    y.penalty = x.penalty;
    solve(p, s, work, y);
    near += y.factorisations;
    z.penalty = 1e4 * x.penalty;
    solve(p, s, work, z);
    far += z.factorisations;
    BOOST_TEST((x.converged() && y.converged() && z.converged()));
    s.max_iterations = 1;
    ContactSolution once;
    once.penalty = 0.37;
    solve(p, s, work, once);
    BOOST_TEST(std::abs(once.penalty - 0.37) < 1e-15);
  }
  BOOST_TEST_MESSAGE("factorisations " << near << " near, " << far << " far");
  BOOST_TEST(tried > 50);
  BOOST_TEST(2 * near < far);
}

// Between neighbouring steps a warm start of the impulse alone saves most iterations: gamma is
// rebuilt from it.
BOOST_AUTO_TEST_CASE(dual_is_rebuilt_from_the_impulse) {
  Rng rng(3);
  int cold = 0, warm = 0;
  for (int trial = 0; trial < 60; ++trial) {
    Data d = standing(rng, 4, 12);
    SolverWorkspace work;
    ContactSolution x;
    solve(d.problem(), settings("ccp-admm"), work, x);
    d.g += 1e-4 * random_vector(rng, 12);
    ContactSolution fresh;
    fresh.penalty = x.penalty;
    solve(d.problem(), settings("ccp-admm"), work, fresh);
    solve(d.problem(), settings("ccp-admm"), work, x);
    BOOST_TEST((x.converged() && fresh.converged()));
    cold += fresh.iterations;
    warm += x.iterations;
  }
  BOOST_TEST_MESSAGE("iterations " << cold << " cold, " << warm << " warm");
  BOOST_TEST(warm < 0.7 * cold);
}

// The matrix is factorised again rarely, at intervals that grow: m changes take 2 m (m + 1)
// iterations at least.
BOOST_AUTO_TEST_CASE(penalty_changes_are_rare) {
  Rng rng(4);
  int most = 0;
  for (int trial = 0; trial < 100; ++trial) {
    SolverSettings s = settings("ccp-admm", 1e-12);
    s.max_iterations = 2000;
    const ContactSolution x = solved(standing(rng, 2 + rng.below(8), 6).problem(), s);
    const int changes = x.factorisations - 1;
    BOOST_TEST(2 * changes * (changes + 1) <= x.iterations);
    most = std::max(most, changes);
  }
  BOOST_TEST(most >= 2);
}

// Two islands a million times apart in mass, each with a penalty that suits it.
BOOST_AUTO_TEST_CASE(islands_share_the_penalty_in_their_own_scale) {
  Rng rng(5);
  const Data a = standing(rng, 3, 9);
  Data d;
  d.G = MatrixXd::Zero(18, 18);
  d.G.topLeftCorner(9, 9) = a.G;
  d.G.bottomRightCorner(9, 9) = 1e6 * a.G;
  d.g.resize(18);
  d.g << a.g, a.g;
  d.sets = a.sets;
  d.sets.insert(d.sets.end(), a.sets.begin(), a.sets.end());
  ContactProblem both = d.problem();
  both.island_start = {0, 3, 6};
  SolverWorkspace work;
  ContactSolution one, two;
  solve(a.problem(), settings("ccp-admm"), work, one);
  solve(both, settings("ccp-admm"), work, two);
  BOOST_TEST((one.converged() && two.converged()));
  BOOST_TEST(std::abs(two.iterations - one.iterations) <= 1);
  BOOST_TEST(std::abs(two.penalty / one.penalty - 1.0) < 1e-6);
  two.impulse.clear();
  solve(both, settings("ccp-admm"), work, two);
  BOOST_TEST((two.converged() && two.iterations <= 2 * one.iterations));
}

BOOST_AUTO_TEST_SUITE_END()
