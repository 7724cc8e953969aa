#include "integrator/step_record.hpp"
#include "scenes/scenes.hpp"
#include "support/random.hpp"
#include "support/random_world.hpp"
#include "support/step_differences.hpp"
#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <string>

// Redundant contacts that slide: v+ is the limit of vanishing compliance, in the differences too.

namespace stiction::test {

BOOST_AUTO_TEST_SUITE(redundant_slides_test)

BOOST_AUTO_TEST_CASE(derivatives_are_those_of_the_limit) {
  int followed = 0, close = 0;
  for (const char* name : {"cube-slide", "slope"}) {
    for (int seed = 1; seed <= 10; ++seed) {
      const Scene scene = make_scene(name);
      SimulatorSettings settings;
      settings.solver.tolerance = 1e-13;
      Simulator simulator(scene, settings);
      State state = simulator.initial_state();
      const Control control = simulator.hold();
      for (int k = 0; k < 40; ++k) simulator.step(state, control);
      Rng rng(seed);
      // Along the plane and about its normal: all corners stay, and gaps are zero to rounding. What
      // tilts has gaps between that and the differences.
      const double push[] = {0.3, 0.3, 0.0, 0.0, 0.0, 0.5};
      for (int k = 0; k < 6; ++k) state.v[k] += push[k] * rng.uniform(-1.0, 1.0);
      for (int k = 0; k < 8; ++k) {
        State next = state;
        simulator.step(next, control);
        const StepDerivatives& d = simulator.step_derivatives();
        const GradientReport report = d.report;
        if (report.not_unique > 0) {
          const ColumnErrors e = column_errors(simulator, state, control, dense(d));
          double error = 0.0;
          for (int block = 0; block < 3; ++block) error = std::max(error, e.worst(6 * block, 6));
          if (report.exact()) {
            ++followed;
            close += error < 1e-7;
            BOOST_TEST(error < 1e-4, name << " seed " << seed << " step " << k << ": " << error);
          }
          // Gaps of O(dt^3) and one corner that alone carried are told too.
          BOOST_TEST(report.exact() == (report.num_not_followed == 0 && report.num_inexact == 0 &&
                                        report.num_contradicting == 0));
          BOOST_TEST(!report.two_sided());
        }
        simulator.step(state, control);
      }
    }
  }
  BOOST_TEST(followed > 100);
  BOOST_TEST(close > 0.75 * followed, close << " of " << followed);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace stiction::test
