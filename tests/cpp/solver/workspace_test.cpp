#include "solver/workspace.hpp"

#include "support/contact_problems.hpp"
#include <boost/pfr.hpp>
#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <cstring>
#include <limits>
#include <map>
#include <string>
#include <type_traits>

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
/// Leaves nothing in a workspace that a solve could mistake for its own: whatever fields it has.
template <class Work>
  requires(!std::is_aggregate_v<Work>)
void poison(Work&) {}
template <class Work>
  requires(std::is_aggregate_v<Work>)
void poison(Work& work) {
  boost::pfr::for_each_field(work, [](auto& field) { poison(field); });
}

}  // namespace

BOOST_AUTO_TEST_SUITE(workspace_test)

// A step must not depend on the steps before it, other than by its state: to the bit.
BOOST_AUTO_TEST_CASE(what_a_workspace_held_before_does_not_matter) {
  int unsolved = 0, large = 0;
  std::map<std::string, int> stages;
  for (const SolverEntry& solver : solvers()) {
    Rng rng(23);
    SolverSettings s;
    s.name = solver.name;
    s.max_iterations = 60;
    SolverWorkspace used;
    const int trials = solver.name == std::string("ncp-newton") ? 600 : 90;
    for (int trial = 0; trial < trials; ++trial) {
      Data d = trial % 2 == 0 ? chain(rng) : random_problem(rng, 0.2 + 0.2 * (trial % 5), false);
      if (trial >= 60) d.g = random_vector(rng, count_rows(d.sets));  // often no solution
      if (trial >= 60 && trial % 3 == 1) {                            // what hardly anything moves
        const int last = d.sets.back().dim;
        d.G.bottomRows(last) *= 1e-9;
        d.G.rightCols(last) *= 1e-9;
      }
      s.max_factorisations = trial % 3 == 0 ? 0 : 150;
      const ContactProblem p = d.problem();
      SolverWorkspace unused;
      ContactSolution fresh;
      fresh.record_stages = true;
      solve(p, s, unused, fresh);
      poison(used.parts());
      ContactSolution again;
      solve(p, s, used, again);
      BOOST_TEST_CONTEXT(solver.name << " trial " << trial) {
        BOOST_TEST(again.impulse == fresh.impulse);
        BOOST_TEST(again.iterations == fresh.iterations);
        BOOST_TEST(again.factorisations == fresh.factorisations);
        BOOST_TEST((again.status == fresh.status));
      }
      unsolved += fresh.status > SolveStatus::kRoundingLimited;
      large += p.num_rows() > 12;
      for (const StageRecord& r : fresh.stages) stages[r.stage] += r.factorisations;
    }
  }
  BOOST_TEST(unsolved > 50);
  for (const char* name : {"infeasible", "interior point", "scattered"})
    BOOST_TEST_CONTEXT(name) BOOST_TEST(stages[name] > 0);
  BOOST_TEST(large > 200);
}

BOOST_AUTO_TEST_SUITE_END()
