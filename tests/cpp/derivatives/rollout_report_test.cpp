#include "stiction/simulator/rollout.hpp"

#include <boost/test/unit_test.hpp>

namespace stiction::test {

BOOST_AUTO_TEST_SUITE(rollout_report_test)

// Each count says that something does not hold, but for torques at their limit: zero is exact.
BOOST_AUTO_TEST_CASE(counts_are_judged_as_those_of_a_step) {
  using R = RolloutGradientReport;
  BOOST_TEST((R{}.exact() && R{}.two_sided()));
  for (int R::* one_sided : {&R::gap_kinks, &R::at_switch, &R::not_unique, &R::kinks}) {
    R r;
    r.*one_sided = 1;
    BOOST_TEST((r.exact() && !r.two_sided()));
  }
  for (int R::* inexact : {&R::capped,
                           &R::scaled_impacts,
                           &R::swept,
                           &R::inexact,
                           &R::slowed,
                           &R::safe,
                           &R::undecided,
                           &R::asleep,
                           &R::not_followed,
                           &R::not_converged,
                           &R::by_differences}) {
    R r;
    r.*inexact = 1;
    BOOST_TEST((!r.exact() && r.two_sided()));
  }
  R contradicting, of_parameters;
  contradicting.contradicting = of_parameters.parameter_kinks = 1;
  BOOST_TEST((!contradicting.exact() && !contradicting.two_sided()));
  BOOST_TEST((of_parameters.exact() && of_parameters.two_sided()));
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace stiction::test
