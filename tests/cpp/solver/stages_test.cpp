#include "stiction/solver/solver.hpp"

#include "support/contact_problems.hpp"
#include "support/dense.hpp"
#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <map>
#include <string>
#include <vector>

// The stages of ncp-newton, by the record of those that ran.

using namespace stiction;
using namespace stiction::test;

namespace {

struct Count {
  int visits = 0, ends = 0, factorisations = 0;
};
using Counts = std::map<std::string, Count>;

/// What holds for every record of a solve from `start`; counts its stages.
void count(const ContactProblem& p,
           const SolverSettings& s,
           bool record,
           const std::vector<double>& start,
           Counts& counts) {
  SolverWorkspace work;
  ContactSolution x, silent;
  x.impulse = silent.impulse = start;
  x.record_stages = record;
  solve(p, s, work, x);
  solve(p, s, work, silent);
  BOOST_TEST((x.impulse == silent.impulse && x.factorisations == silent.factorisations));
  BOOST_TEST(silent.stages.empty());
  if (!record) BOOST_TEST(x.stages.empty());
  if (!record) return;
  int factorisations = 0, ends = 0;
  for (const StageRecord& r : x.stages) {
    Count& c = counts[r.stage];
    ++c.visits;
    c.ends += r.ends;
    c.factorisations += r.factorisations;
    factorisations += r.factorisations;
    ends += r.ends;
    if (r.ends) BOOST_TEST(&r == &x.stages.back());
  }
  BOOST_TEST(factorisations == x.factorisations);
  const bool bilateral = std::any_of(p.sets.begin(), p.sets.end(), [](const ConstraintSet& set) {
    return set.kind == SetKind::kFree;
  });
  BOOST_TEST(ends <= 1);
  if (x.converged() && !bilateral) BOOST_TEST(ends == 1);
}

}  // namespace

BOOST_AUTO_TEST_SUITE(stages_test)

BOOST_AUTO_TEST_CASE(each_is_visited_and_counted) {
  Rng rng(1);
  Counts counts;
  for (int trial = 0; trial < 1200; ++trial) {
    Data d = random_problem(rng, rng.uniform(0.3, 1.0), false);
    const int rows = count_rows(d.sets);
    if (trial % 2) d.g = random_vector(rng, rows);  // not in the range of G: often no solution
    if (trial % 3 == 0) d.g.setZero();
    SolverSettings s;
    s.max_factorisations = trial % 7 ? 300 : 3;
    s.tolerance = trial % 11 ? 1e-8 : 1e-16;
    const Eigen::VectorXd last = 10.0 * random_vector(rng, rows);
    std::vector<double> start;  // else cold
    if (trial % 2) start.assign(last.data(), last.data() + rows);
    count(d.problem(), s, trial % 13 != 0, start, counts);
  }
  constexpr int kCones = 140;  // more rows than the limit is looked for, and no trees
  Data large;
  for (int i = 0; i < kCones; ++i) large.sets.push_back(ConstraintSet::cone(0.5));
  large.G = gram(random_matrix(rng, 3 * kCones, 3 * kCones));
  large.g = large.G * random_vector(rng, 3 * kCones);
  large.R = Eigen::VectorXd::Zero(3 * kCones);
  count(large.problem(), {}, true, {}, counts);
  for (const auto& [name, c] : counts)
    BOOST_TEST_MESSAGE(name << ": " << c.visits << " visits, ends " << c.ends << ", "
                            << c.factorisations << " factorisations");
  for (const char* name : {"limit",
                           "few rows",
                           "start",
                           "multipliers after turns",
                           "turns",
                           "turns from zero",
                           "overflow",
                           "rounding",
                           "acceptable",
                           "infeasible",
                           "interior point",
                           "scattered",
                           "bilateral rows"})
    BOOST_TEST_CONTEXT(name) BOOST_TEST(counts[name].visits > 0);
  // "scattered" needs a problem of its own to end one (test_solve.py). "turns from zero" and
  // "acceptable" end nothing here, but steps of ur5_gripper and centauro (test_robots.py).
  BOOST_TEST(counts.size() == 13u);
  for (const char* name : {"few rows", "start", "turns", "infeasible"})
    BOOST_TEST_CONTEXT(name) BOOST_TEST(counts[name].ends > 0);
  for (const char* name : {"multipliers after turns", "overflow", "rounding"})
    BOOST_TEST_CONTEXT(name) BOOST_TEST(counts[name].factorisations == 0);
}

// What is not solved is no worse than what it was given, whatever was tried on the way.
BOOST_AUTO_TEST_CASE(answers_are_no_worse_than_starts) {
  Rng rng(2);
  int unsolved = 0;
  for (int trial = 0; trial < 300; ++trial) {
    Data d = random_problem(rng, rng.uniform(0.3, 1.0), false);
    d.g = random_vector(rng, count_rows(d.sets));
    const ContactProblem p = d.problem();
    SolverSettings s;
    s.max_factorisations = 1 + rng.below(60);
    s.max_iterations = 1 + rng.below(60);
    SolverWorkspace work;
    ContactSolution x;
    solve(p, s, work, x);
    for (int again = 0; again < 3 && p.num_islands() == 1 && !x.converged(); ++again) {
      if (again == 2) x.impulse[0] *= 1.1;
      const double given = residuals(p, x.impulse.data(), x.velocity.data()).relative;
      solve(p, s, work, x);
      ++unsolved;
      BOOST_TEST(x.residuals.relative <= given * (1.0 + 1e-6),
                 "trial " << trial << ", " << to_string(x.status));
    }
  }
  BOOST_TEST(unsolved > 100);
}

BOOST_AUTO_TEST_SUITE_END()
