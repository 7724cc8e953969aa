#include "solver/workspace.hpp"

#include "support/contact_problems.hpp"
#include "support/loose_problem.hpp"
#include <boost/pfr.hpp>
#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <cstring>
#include <limits>
#include <map>
#include <string>
#include <type_traits>
#include <vector>

// What a workspace holds from call to call is room alone.

using namespace stiction;
using namespace stiction::test;

namespace {

template <class T>
void poison(Buffer<T>& x) {
  for (std::size_t k = 0; k < x.size(); ++k)
    std::memset(static_cast<void*>(x + k), 0x7f, sizeof(T));
  if constexpr (std::is_same_v<T, double>)
    std::fill(x.data(), x + x.size(), std::numeric_limits<double>::quiet_NaN());
}
void poison(std::vector<double>& x) {
  std::fill(x.begin(), x.end(), std::numeric_limits<double>::quiet_NaN());
}
/// Leaves nothing in a workspace that a solve could mistake for its own: whatever fields it has.
template <class Work>
  requires(!std::is_aggregate_v<Work>)
void poison(Work&) {}
template <class Work>
  requires(std::is_aggregate_v<Work>)
void poison(Work& work) {
  boost::pfr::for_each_field(work, [](auto& field) { poison(field); });
}

/// Bodies on the ground and on each other, as moving or as resting: more rows than the sweeps take.
ContactProblem pile(Rng& rng) {
  std::vector<ConstraintSet> sets;
  const int bodies = 2 + rng.below(rng.below(5) == 0 ? 120 : 40), count = 4 + rng.below(4 * bodies);
  for (int i = 0; i < count; ++i)
    sets.push_back(ConstraintSet::cone(rng.below(8) == 0 ? Cone{1, {}}
                                                         : Cone::coulomb(rng.uniform(0.0, 1.5))));
  ContactProblem p = loose_problem(rng, bodies, sets);
  p.resting.assign(p.num_sets(), rng.below(2) == 0);
  return p;
}

struct Record {
  int trials = 0, unsolved = 0;
  std::map<std::string, int> visits, factorisations;  // of the stages
};

/// A solve in a workspace that others have used is one in a fresh workspace, to the bit; its
/// impulses.
std::vector<double> compare(const ContactProblem& p,
                            const SolverSettings& s,
                            SolverWorkspace& used,
                            Record& record,
                            const std::vector<double>& start = {}) {
  SolverWorkspace unused;
  ContactSolution fresh, again;
  fresh.impulse = again.impulse = start;
  fresh.record_stages = again.record_stages = true;
  solve(p, s, unused, fresh);
  poison(used.parts());
  solve(p, s, used, again);
  BOOST_TEST_CONTEXT(s.name << " trial " << record.trials) {
    BOOST_TEST(again.impulse == fresh.impulse);
    BOOST_TEST(again.velocity == fresh.velocity);
    BOOST_TEST(again.residuals.relative == fresh.residuals.relative);
    BOOST_TEST(again.iterations == fresh.iterations);
    BOOST_TEST(again.factorisations == fresh.factorisations);
    BOOST_TEST((again.status == fresh.status));
    BOOST_TEST(again.stages.size() == fresh.stages.size());
  }
  ++record.trials;
  record.unsolved += fresh.status > SolveStatus::kRoundingLimited;
  for (const StageRecord& r : fresh.stages) {
    ++record.visits[r.stage];
    record.factorisations[r.stage] += r.factorisations;
  }
  return fresh.impulse;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(workspace_test)

// A step must not depend on the steps before it, other than by its state.
BOOST_AUTO_TEST_CASE(what_a_workspace_held_before_does_not_matter) {
  int unsolved = 0, large = 0;
  for (const SolverEntry& solver : solvers()) {
    Rng rng(23);
    SolverSettings s;
    s.name = solver.name;
    s.max_iterations = 60;
    SolverWorkspace used;
    Record record;
    const bool ours = solver.name == std::string("ncp-newton");
    for (int trial = 0; trial < (ours ? 600 : 90); ++trial) {
      Data d = trial % 2 == 0 ? chain(rng) : random_problem(rng, 0.2 + 0.2 * (trial % 5), false);
      if (trial >= 60) d.g = random_vector(rng, count_rows(d.sets));  // often no solution
      if (trial >= 60 && trial % 3 == 1) {                            // what hardly anything moves
        const int last = d.sets.back().dim;
        d.G.bottomRows(last) *= 1e-9;
        d.G.rightCols(last) *= 1e-9;
      }
      s.max_factorisations = trial % 3 == 0 ? 0 : 150;
      const ContactProblem p = d.problem();
      compare(p, s, used, record);
      large += p.num_rows() > 12;
    }
    unsolved += record.unsolved;
    if (!ours) continue;
    for (const char* name : {"infeasible", "interior point", "scattered"})
      BOOST_TEST_CONTEXT(name) BOOST_TEST(record.factorisations[name] > 0);
  }
  BOOST_TEST(unsolved > 50);
  BOOST_TEST(large > 200);
}

// The stages in the coordinates of bodies, on islands of any size by turns: what they prepare of
// one must not be met in the next.
BOOST_AUTO_TEST_CASE(nor_does_it_on_loose_bodies) {
  Rng rng(24);
  SolverSettings s;
  SolverWorkspace used;
  Record record;
  for (int trial = 0; trial < 150; ++trial) {
    s.max_iterations = trial % 5 == 0 ? 3 : 1000;
    s.max_factorisations = trial % 4 == 0 ? 10 : 0;
    s.tolerance_large = trial % 3 == 0 ? s.tolerance : 1e-3;
    ContactProblem p = pile(rng);
    const std::vector<double> last = compare(p, s, used, record);
    for (double& g : p.g) g *= 1.0 + 1e-3 * rng.uniform(-1.0, 1.0);
    compare(p, s, used, record, last);
  }
  BOOST_TEST(record.unsolved > 5);
  BOOST_TEST(record.unsolved < 100);
  for (const auto& [name, count] : record.visits)
    BOOST_TEST_MESSAGE(name << ": " << count << " visits, " << record.factorisations[name]);
  BOOST_TEST(record.visits["sweeps in space"] > 0);
  for (const char* name :
       {"start", "interior in space", "multipliers", "interior after multipliers"})
    BOOST_TEST_CONTEXT(name) BOOST_TEST(record.factorisations[name] > 0);
}

BOOST_AUTO_TEST_SUITE_END()
