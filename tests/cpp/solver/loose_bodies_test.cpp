#include "stiction/solver/solver.hpp"

#include "contact/contact_space.hpp"
#include "solver/common/pgs_kernel.hpp"
#include "solver/common/projection.hpp"
#include "solver/ncp_newton/conjugate_gradients.hpp"
#include "solver/ncp_newton/space_newton.hpp"
#include "support/allocation_guard.hpp"
#include "support/dense.hpp"
#include "support/loose_problem.hpp"
#include <boost/test/unit_test.hpp>

#include <cmath>
#include <map>
#include <set>

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

/// The projected update of one set, from its panel of G.
void update(const ContactProblem& p, int i, VectorXd& l) {
  const ConstraintSet& set = p.sets[i];
  double c[kMaxSetDim], *own = l.data() + set.offset;
  p.velocity(i, l.data(), c);
  if (set.dim == 1) {
    own[0] = std::max(0.0, own[0] - c[0] / p.diagonal_entry(i, 0));
    return;
  }
  const double *b = p.block(i), block[6] = {b[0], b[1], b[2], b[5], b[6], b[10]};
  update_cone(cone_step(block, 0.0), set.friction.slope(), c, own);
}

}  // namespace

BOOST_AUTO_TEST_SUITE(loose_bodies_test)

// Every contact has one lane, no body is twice in a pack; a body in more contacts than packs are
// looked through, too.
BOOST_AUTO_TEST_CASE(packs_hold_every_contact_once) {
  Rng rng(20);
  std::size_t most = 0;
  for (const auto& [bodies, count] : {std::pair{1, 5}, {4, 12}, {40, 300}, {3, 900}}) {
    const ContactProblem p = loose_problem(rng, bodies, contacts(rng, count));
    ContactPacks packs;
    BOOST_REQUIRE(packs.prepare({p, 0, p.num_sets()}));
    std::multiset<int> rows, expected;
    for (const ConstraintSet& set : p.sets) expected.insert(set.offset);
    for (int k = 0; k < packs.num_packs(); ++k) {
      std::set<int> seen;
      for (int lane = 0; lane < contact_pack::kLanes; ++lane) {
        if (packs.row(k, lane) >= 0) rows.insert(packs.row(k, lane));
        for (int side = 0; side < 2; ++side) {
          const int body = packs.body(k, side, lane);
          if (body > 0) BOOST_TEST(seen.insert(body).second);
        }
      }
    }
    BOOST_TEST((rows == expected));
    most = std::max(most, static_cast<std::size_t>(packs.num_packs()));
  }
  BOOST_TEST(most > 256u);  // the window has moved
}

// A sweep over packs is the projected sweep contact by contact in their order, on G; u is the
// motion of its impulses; every width gives the same bits.
BOOST_AUTO_TEST_CASE(sweeps_are_projected_gauss_seidel) {
  Rng rng(21);
  int single = 0;
  for (int trial = 0; trial < 40; ++trial) {
    const ContactProblem p = loose_problem(rng, 4 + trial % 20, contacts(rng, 12 + trial));
    const Island island(p, 0, p.num_sets());
    VectorXd l = inside(rng, p), expected = l;
    std::vector<std::vector<double>> bits;
    for (int k = 0; k < packed_sweeps().count; ++k) {
      ContactPacks packs;
      BOOST_REQUIRE(packs.prepare(island, packed_sweeps().of[k].sweep));
      std::vector<double> packed(packs.num_impulses()), change(packed), u(packs.num_motions());
      packs.pack(l.data(), packed.data());
      packs.find_motion(packed.data(), u.data());
      for (int n = 0; n < 5; ++n) packs.sweep(packed.data(), change.data(), u.data());
      std::vector<double> exact(u);
      packs.find_motion(packed.data(), exact.data());
      for (std::size_t m = 0; m < u.size(); ++m)
        BOOST_TEST(std::abs(u[m] - exact[m]) <= 1e-11 * (1.0 + l.norm()));
      bits.push_back(packed);
      bits.back().insert(bits.back().end(), u.begin(), u.end());
      BOOST_TEST((bits.back() == bits.front()));
    }
    ContactPacks packs;
    packs.prepare(island);
    p.panels(0, p.num_sets());
    std::map<int, int> set_of_row;
    for (int i = 0; i < p.num_sets(); ++i) set_of_row[p.sets[i].offset] = i;
    for (int n = 0; n < 5; ++n) {
      for (int k = 0; k < packs.num_packs() * contact_pack::kLanes; ++k) {
        const int row = packs.row(k / contact_pack::kLanes, k % contact_pack::kLanes);
        if (row >= 0) update(p, set_of_row[row], expected);
      }
    }
    packs.unpack(bits.front().data(), l.data());
    BOOST_TEST((l - expected).norm() <= 1e-10 * (1.0 + expected.norm()));
    single += static_cast<int>(set_of_row.size()) * 3 - p.num_rows();
  }
  BOOST_TEST(single > 0);
  BOOST_TEST(packed_sweeps().of[0].width == 2);
  std::vector<ConstraintSet> sets = contacts(rng, 3);
  sets.push_back(ConstraintSet::free(2));
  ContactPacks packs;
  const ContactProblem p = loose_problem(rng, 2, sets);
  BOOST_TEST(!packs.prepare({p, 0, p.num_sets()}));  // others are not its own
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
    WorkAccount account;
    int iterations = 0;
    const Residuals after = conjugate_gradients(island,
                                                {.tolerance = 1e-6, .max_iterations = 600},
                                                before,
                                                l.data(),
                                                c.data(),
                                                work,
                                                account,
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
    VectorXd plain = VectorXd::Zero(p.num_rows());
    p.panels(0, p.num_sets());
    int k = 0;
    for (; k < 2000 && (k % 8 != 0 || !(evaluate(p, plain, again).relative <= 1e-6)); ++k) {
      for (int i = 0; i < p.num_sets(); ++i) update(p, i, plain);
    }
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
    BOOST_REQUIRE(space.prepare(island, island.problem.space, 1000));
    SpaceNewtonWork work;
    WorkAccount account;
    const NewtonSettings settings{1e-10, 20, {}, 1e-6};
    const Residuals after =
        newton_in_space(island, settings, 8, before, l.data(), c.data(), space, work, account);
    VectorXd again;
    BOOST_TEST(evaluate(p, l, again).relative <= std::max(after.relative, 1e-15));
    BOOST_TEST(after.relative <= before.relative);
    ++total;
    solved += after.relative <= 1e-10;
    steps += account.factorisations;
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
