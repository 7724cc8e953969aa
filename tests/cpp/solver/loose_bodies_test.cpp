#include "stiction/solver/solver.hpp"

#include "contact/contact_space.hpp"
#include "solver/common/projection.hpp"
#include "solver/ncp_newton/conjugate_gradients.hpp"
#include "solver/ncp_newton/gauss_seidel.hpp"
#include "solver/ncp_newton/space_newton.hpp"
#include "support/allocation_guard.hpp"
#include "support/dense.hpp"
#include "support/loose_problem.hpp"
#include <boost/test/unit_test.hpp>

#include <cmath>

// ncp-newton on islands of loose bodies: sweeps, conjugate gradients and Newton without G.

using namespace stiction;
using namespace stiction::test;
using Eigen::VectorXd;

namespace {

std::vector<ConstraintSet> contacts(Rng& rng, int count, bool single_rows = true) {
  std::vector<ConstraintSet> sets;
  for (int i = 0; i < count; ++i)
    sets.push_back(ConstraintSet::cone(
        single_rows && rng.below(5) == 0 ? Cone{1, {}} : Cone::coulomb(rng.uniform(0.0, 1.0))));
  return sets;
}

/// Impulses inside their cones.
VectorXd inside(Rng& rng, const ContactProblem& p) {
  VectorXd l = random_vector(rng, p.num_rows());
  for (const ConstraintSet& set : p.sets) project(set, l.data() + set.offset);
  return l;
}

Residuals evaluate(const ContactProblem& p, const VectorXd& l, VectorXd& c) {
  c.resize(p.num_rows());
  return residuals(p, l.data(), c.data(), 0, p.num_sets());
}

}  // namespace

BOOST_AUTO_TEST_SUITE(loose_bodies_test)

// A sweep in one loop is the projected sweep set by set; u is the motion of its impulses.
BOOST_AUTO_TEST_CASE(sweeps_are_projected_gauss_seidel) {
  Rng rng(21);
  for (int trial = 0; trial < 40; ++trial) {
    const ContactProblem p = loose_problem(rng, 4, contacts(rng, 12));
    const Island island(p, 0, p.num_sets());
    Buffer<GaussSeidel::Local> locals;
    const GaussSeidel reference(island, locals);
    LooseSweeps sweeps;
    BOOST_REQUIRE(sweeps.prepare(island));
    VectorXd l = inside(rng, p), expected = l;
    std::vector<double> u(p.space.inverse.size()), exact(u.size());
    loose_motion(p, 0, p.num_sets(), l.data(), u.data());
    for (int k = 0; k < 5; ++k) {
      sweeps.sweep(l.data(), u.data());
      reference.sweep(GaussSeidel::Contact::kProjected, expected.data());
      BOOST_TEST((l - expected).norm() <= 1e-11 * (1.0 + expected.norm()));
    }
    loose_motion(p, 0, p.num_sets(), l.data(), exact.data());
    for (std::size_t k = 0; k < u.size(); ++k)
      BOOST_TEST(std::abs(u[k] - exact[k]) <= 1e-11 * (1.0 + l.norm()));
  }
  std::vector<ConstraintSet> sets = contacts(rng, 3);
  sets.push_back(ConstraintSet::free(2));
  LooseSweeps sweeps;
  const ContactProblem p = loose_problem(rng, 2, sets);
  BOOST_TEST(!sweeps.prepare({p, 0, p.num_sets()}));  // others are not its own
}

// Impulses stay inside their cones, are never worse than the start, and their velocity is theirs;
// more iterations reach smaller residuals, and fewer than sweeps alone need.
BOOST_AUTO_TEST_CASE(gradients_converge_and_stay_inside) {
  Rng rng(22);
  int reached = 0, total = 0;
  long with = 0, without = 0;
  for (int trial = 0; trial < 30; ++trial) {
    const ContactProblem p = loose_problem(rng, 20, contacts(rng, 60));
    const Island island(p, 0, p.num_sets());
    ConjugateGradientWork work;
    VectorXd l = VectorXd::Zero(p.num_rows()), c, again;
    const Residuals before = evaluate(p, l, c);
    int iterations = 0;
    const Residuals after = conjugate_gradients(island,
                                                {.tolerance = 1e-6, .max_iterations = 600},
                                                before,
                                                l.data(),
                                                c.data(),
                                                work,
                                                iterations);
    BOOST_TEST(after.relative <= before.relative);
    BOOST_TEST(evaluate(p, l, again).relative == after.relative);
    BOOST_TEST((again == c));
    for (const ConstraintSet& set : p.sets)
      BOOST_TEST(set_residual(set, l.data() + set.offset, c.data() + set.offset).primal <= 1e-12);
    ++total;
    if (!(after.relative <= 1e-6)) continue;
    ++reached;
    with += iterations;
    LooseSweeps sweeps;
    sweeps.prepare(island);
    VectorXd plain = VectorXd::Zero(p.num_rows());
    std::vector<double> u(p.space.inverse.size());
    int k = 0;
    for (; k < 2000 && (k % 8 != 0 || !(evaluate(p, plain, again).relative <= 1e-6)); ++k)
      sweeps.sweep(plain.data(), u.data());
    without += k;
  }
  BOOST_TEST_MESSAGE(reached << " of " << total << ", " << with << " against " << without);
  BOOST_TEST(reached >= total - 3);
  BOOST_TEST(1.5 * with < without);
}

// Newton from near a solution is quadratic, as the dense one on the same modes.
BOOST_AUTO_TEST_CASE(newton_in_space_solves_from_near) {
  Rng rng(23);
  int solved = 0, total = 0, steps = 0;
  for (int trial = 0; trial < 60; ++trial) {
    const ContactProblem p = loose_problem(rng, 8, contacts(rng, 16));
    const Island island(p, 0, p.num_sets());
    ContactSolution solution;
    SolverWorkspace workspace;
    solve(p, {.tolerance = 1e-12}, workspace, solution);
    if (!solution.converged()) continue;
    VectorXd l = Eigen::Map<VectorXd>(solution.impulse.data(), p.num_rows()), c;
    for (double& x : l) x *= 1.0 + 1e-3 * rng.uniform(-1.0, 1.0);
    for (const ConstraintSet& set : p.sets) project(set, l.data() + set.offset);
    const Residuals before = evaluate(p, l, c);
    TreeSpace space;
    BOOST_REQUIRE(space.prepare(island, 1000));
    SpaceNewtonWork work;
    int factorisations = 0;
    const NewtonSettings settings{1e-10, 20, {}, 1e-6};
    const Residuals after = newton_in_space(
        island, settings, 8, before, l.data(), c.data(), space, work, factorisations);
    VectorXd again;
    BOOST_TEST(evaluate(p, l, again).relative <= std::max(after.relative, 1e-15));
    BOOST_TEST(after.relative <= before.relative);
    ++total;
    solved += after.relative <= 1e-10;
    steps += factorisations;
  }
  BOOST_TEST_MESSAGE(solved << " of " << total << " in " << steps << " steps");
  BOOST_TEST(total > 50);
  BOOST_TEST(solved >= 0.95 * total);
  BOOST_TEST(steps < 5 * total);
}

// A large island is held to tolerance_large, and says so; a small one, and another solver, are not.
BOOST_AUTO_TEST_CASE(large_islands_have_a_tolerance_of_their_own) {
  Rng rng(24);
  for (int trial = 0; trial < 3; ++trial) {
    const ContactProblem large = loose_problem(rng, 50, contacts(rng, 150, false)),
                         small = loose_problem(rng, 20, contacts(rng, 60, false));
    const auto solved = [&](const ContactProblem& p, SolverSettings settings) {
      ContactSolution s;
      SolverWorkspace work;
      solve(p, settings, work, s);
      BOOST_TEST((s.residuals.relative <= s.tolerance) == s.converged());
      return s;
    };
    const ContactSolution quick = solved(large, {}),
                          exact = solved(large, {.tolerance_large = 1e-8});
    BOOST_TEST(quick.converged());
    BOOST_TEST(quick.tolerance == 1e-3);
    BOOST_TEST(quick.residuals.relative > 1e-8);
    BOOST_TEST(exact.converged());
    BOOST_TEST(exact.tolerance == 1e-8);
    BOOST_TEST(quick.factorisations <= exact.factorisations);
    BOOST_TEST(solved(small, {}).tolerance == 1e-8);
    BOOST_TEST(solved(large, {.name = "ncp-pgs", .tolerance = 1e-6}).tolerance == 1e-6);
    // Warm, it keeps what it has.
    ContactSolution warm = exact;
    SolverWorkspace work;
    solve(large, {}, work, warm);
    BOOST_TEST(warm.tolerance == 1e-8);
    std::copy(exact.impulse.begin(), exact.impulse.end(), warm.impulse.begin());
    const long before = allocation_count();
    solve(large, {}, work, warm);
    BOOST_TEST(allocation_count() == before);
  }
}

BOOST_AUTO_TEST_SUITE_END()
