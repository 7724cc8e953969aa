#include "stiction/solver/solver.hpp"

#include "support/allocation_guard.hpp"
#include "support/contact_problems.hpp"
#include <boost/test/unit_test.hpp>

using namespace stiction;
using namespace stiction::test;

BOOST_AUTO_TEST_SUITE(lcp_allocation_test)

// A second solve of a problem of the same size allocates nothing, converged or not.
BOOST_AUTO_TEST_CASE(second_solve_allocates_nothing) {
  for (const char* name : {"lcp-lemke", "lcp-pgs", "lcp-qp", "lcp-staggered", "ncp-staggered"}) {
    Rng rng(1);
    for (int trial = 0; trial < 30; ++trial) {
      const ContactProblem p = random_problem(rng, rng.uniform(0.3, 1.2), false).problem();
      SolverSettings s;
      s.name = name;
      s.tolerance = 1e-9;
      s.max_iterations = 100;
      SolverWorkspace work;
      ContactSolution x;
      solve(p, s, work, x);
      for (double& l : x.impulse) l = 0.0;
      const long before = allocation_count();
      solve(p, s, work, x);
      BOOST_TEST(allocation_count() == before, name << ", trial " << trial);
    }
  }
}

BOOST_AUTO_TEST_SUITE_END()
