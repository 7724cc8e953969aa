#include "scenes/scenes.hpp"
#include "support/contact_problems.hpp"
#include "support/random.hpp"
#include "support/step_differences.hpp"
#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <cmath>
#include <string>

// Derivatives of a step that was solved to a coarse tolerance, against those of the same step
// solved to rounding.

namespace stiction::test {
namespace {

SimulatorSettings settings(const std::string& solver, double tolerance) {
  SimulatorSettings s;
  s.solver.name = solver;
  s.solver.tolerance = tolerance;
  s.solver.max_iterations = 20000;
  return s;
}

/// Largest difference in the rows of v+, of the largest entry of its block of columns.
double difference(const StepDerivatives& a, const StepDerivatives& b) {
  const Eigen::Index n = a.nv();
  Eigen::MatrixXd J(2 * n, 3 * n), expected(2 * n, 3 * n);
  J << a.A(), a.B();
  expected << b.A(), b.B();
  double worst = 0.0;
  for (int block = 0; block < 3; ++block) {
    const Eigen::MatrixXd e = expected.block(n, block * n, n, n), d = J.block(n, block * n, n, n);
    worst = std::max(worst, (d - e).cwiseAbs().maxCoeff() / e.cwiseAbs().maxCoeff());
  }
  return worst;
}

/// Solo-12 on its feet, or trotting.
class Walk {
 public:
  Walk(const Scene& scene, bool trots)
      : simulator_(scene, settings("ncp-newton", 1e-12)),
        trots_(trots),
        state(simulator_.initial_state()),
        control(simulator_.hold()),
        stand_(control.position_target) {}

  void step() {
    for (int leg = 0; leg < 4 && trots_; ++leg) {
      const double phase = 0.04 * count_ + (leg == 0 || leg == 3 ? 0.0 : 3.14159);
      for (int k = 6 + 3 * leg; k < 9 + 3 * leg; ++k)
        control.position_target[k] = stand_[k] + 0.3 * std::sin(phase);
    }
    simulator_.step(state, control);
    ++count_;
  }

 private:
  Simulator simulator_;
  bool trots_;
  int count_ = 0;

 public:
  State state;
  Control control;

 private:
  Eigen::VectorXd stand_;
};

}  // namespace

BOOST_AUTO_TEST_SUITE(solver_tolerance_test)

BOOST_AUTO_TEST_CASE(what_is_called_exact_does_not_depend_on_the_solver) {
  const Scene scene = make_scene("solo12");
  Simulator precise(scene, settings("ncp-newton", 1e-12));
  int compared = 0, rough = 0, undecided = 0;
  for (const char* solver : {"ncp-admm", "ncp-newton", "ncp-pgs"}) {
    for (const double tolerance : {1e-4, 1e-5, 1e-6}) {
      Simulator coarse(scene, settings(solver, tolerance));
      Rng rng(5);
      for (const bool trots : {false, true}) {
        Walk walk(scene, trots);
        for (int k = 0; k < 2400; ++k) {
          if (k % 4 == 0) walk.step();
          State moved = walk.state;
          if (k % 4 != 0)
            moved.v += std::pow(10.0, rng.uniform(-4.0, 0.0)) * random_vector(rng, scene.nv());
          State next = moved;
          precise.step(next, walk.control);
          next = moved;
          coarse.step(next, walk.control);
          const StepDerivatives& exact = precise.step_derivatives();
          const StepDerivatives& d = coarse.step_derivatives();
          undecided += d.report.num_undecided > 0;
          const GradientReport& r = exact.report;
          if (!r.exact() || r.num_at_switch > 0 || r.not_unique > 0 || !d.report.exact()) continue;
          ++compared;
          BOOST_TEST((d.report.modes == r.modes), solver << " " << tolerance << " " << k);
          const double error = difference(d, exact);
          rough += error > 100.0 * tolerance;
          // Of the angle between slide and friction a residual shows the square.
          BOOST_TEST(error < 30.0 * std::sqrt(tolerance),
                     solver << " " << tolerance << (trots ? " trots " : " stands ") << k << ": "
                            << error << " at a residual of "
                            << coarse.solution().model_residuals.relative);
        }
      }
    }
  }
  BOOST_TEST(compared > 30000);
  BOOST_TEST(rough < 0.03 * compared, rough << " of " << compared);
  BOOST_TEST(undecided > 10);
  BOOST_TEST_MESSAGE(compared << " compared, " << rough << " rough, " << undecided << " undecided");
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace stiction::test
