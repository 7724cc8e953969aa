#include "integrator/step_record.hpp"
#include "scenes/scenes.hpp"
#include "support/random.hpp"
#include "support/step_differences.hpp"
#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <string>

// Derivatives of steps on the central path against differences of the same steps.

namespace stiction::test {
namespace {

SimulatorSettings smooth(double energy, double margin = 0.01) {
  SimulatorSettings settings;
  settings.smoothing = energy;
  settings.collision.margin = margin;
  return settings;
}

/// A scene after some steps, disturbed.
struct SmoothMoment {
  Scene scene;
  Simulator simulator;
  State state;
  Control control;

  SmoothMoment(const std::string& name, int steps, const SimulatorSettings& settings)
      : scene(make_scene(name)),
        simulator(scene, settings),
        state(simulator.initial_state()),
        control(simulator.hold()) {
    for (int k = 0; k < steps; ++k) simulator.step(state, control);
    Rng rng(7);
    for (int k = 0; k < scene.nv(); ++k) state.v[k] += 0.05 * rng.uniform(-1.0, 1.0);
  }
  Eigen::MatrixXd matrix() {
    State next = state;
    simulator.step(next, control);
    const StepDerivatives& d = simulator.step_derivatives();
    Eigen::MatrixXd J(2 * d.nv(), 3 * d.nv());
    J << d.A(), d.B();
    return J;
  }
  /// The end of `steps` steps from the state moved by x [2 nv].
  State rolled(const Eigen::VectorXd& x, int steps) {
    const int nv = scene.nv();
    State s = state;
    s.q = integrate(scene, state.q, x.head(nv));
    s.v += x.tail(nv);
    for (int k = 0; k < steps; ++k) simulator.step(s, control);
    return s;
  }
};

/// Of differences, which see a layer of some epsilon dt / lambda_N: 1e-6 m at 1e-6 J.
double bar(double energy) { return energy > 1e-3 ? 1e-8 : energy > 1e-5 ? 1e-7 : 1e-5; }

}  // namespace

BOOST_AUTO_TEST_SUITE(path_derivatives_test)

BOOST_AUTO_TEST_CASE(columns_agree_with_differences) {
  for (const char* name : {"solo12", "cube-slide", "ball-drop", "cartpole", "box-stack(3)"}) {
    for (const double energy : {1e-2, 1e-4, 1e-6}) {
      SmoothMoment m(name, 30, smooth(energy));
      const Eigen::MatrixXd J = m.matrix();
      BOOST_TEST((m.simulator.report().status == StepStatus::kOk), name);
      const ColumnErrors e = column_errors(m.simulator, m.state, m.control, J);
      const int nv = m.scene.nv();
      for (int block = 0; block < 3; ++block) {
        BOOST_TEST_MESSAGE(name << " " << energy << " J, block " << block << ": "
                                << e.worst(block * nv, nv) << ", kinks " << e.kinks());
        BOOST_TEST(e.worst(block * nv, nv) < bar(energy),
                   name << " " << energy << " block " << block << ": " << e.worst(block * nv, nv));
      }
    }
  }
}

/// 35 steps, a product of 35 matrices.
BOOST_AUTO_TEST_CASE(chains_agree_with_differences) {
  constexpr int kSteps = 35;
  for (const char* name : {"solo12", "cube-slide", "ball-drop"}) {
    for (const double energy : {1e-2, 1e-4}) {
      SmoothMoment m(name, 30, smooth(energy));
      const int nv = m.scene.nv();
      const State start = m.state;
      Eigen::MatrixXd J = Eigen::MatrixXd::Identity(2 * nv, 2 * nv);
      for (int k = 0; k < kSteps; ++k) {
        const Eigen::MatrixXd step = m.matrix();
        J = step.leftCols(2 * nv) * J;
        m.simulator.step(m.state, m.control);
      }
      const State end = m.state;
      m.state = start;
      double worst = 0.0;
      for (int k = 0; k < 2 * nv; ++k) {
        const auto central = [&](double h) {
          const Eigen::VectorXd x = Eigen::VectorXd::Unit(2 * nv, k) * h;
          const State plus = m.rolled(x, kSteps), minus = m.rolled(-x, kSteps);
          Eigen::VectorXd column(2 * nv);
          column << (difference(m.scene, end.q, plus.q) - difference(m.scene, end.q, minus.q)),
              plus.v - minus.v;
          return Eigen::VectorXd(column / (2.0 * h));
        };
        double error = 1e300;
        for (const double h : {1e-5, 1e-6, 1e-7}) {
          const Eigen::VectorXd fourth = (4.0 * central(0.5 * h) - central(h)) / 3.0;
          error = std::min(error, (fourth - J.col(k)).cwiseAbs().maxCoeff());
        }
        worst = std::max(worst, error / J.cwiseAbs().maxCoeff());
      }
      BOOST_TEST_MESSAGE(name << " " << energy << " J: " << worst);
      BOOST_TEST(worst < bar(energy), name << " " << energy << ": " << worst);
    }
  }
}

/// A ball that falls from rest well above the ground is held back by epsilon dt / gap, and the
/// derivative tells where the ground is.
BOOST_AUTO_TEST_CASE(it_acts_at_a_distance) {
  const Scene scene = make_scene("ball-drop");
  for (const double energy : {1e-3, 1e-5}) {
    Simulator smoothed(scene, smooth(energy, 1.0)), exact(scene, smooth(0.0, 1.0));
    State state = smoothed.initial_state(), other = state;
    smoothed.step(state, {});
    exact.step(other, {});
    BOOST_REQUIRE_EQUAL(smoothed.record().contacts.size(), 1);
    const double gap = smoothed.record().contacts[0].gap, dt = smoothed.settings().dt;
    const double push = smoothed.solution().impulse[2];
    BOOST_TEST(gap > 0.1);
    BOOST_TEST(push > 0.0);
    BOOST_TEST(std::abs(push * gap / (energy * dt) - 1.0) < 0.05);
    BOOST_TEST(exact.solution().impulse[2] == 0.0);
    const int nv = scene.nv();
    const double by_height = smoothed.step_derivatives().A()(nv + 2, 2);
    BOOST_TEST(by_height < 0.0);
    BOOST_TEST(exact.step_derivatives().A()(nv + 2, 2) == 0.0);
  }
}

BOOST_AUTO_TEST_CASE(what_does_not_read_it_refuses_it) {
  const Scene scene = make_scene("ball-drop");
  SimulatorSettings settings = smooth(1e-3);
  settings.solver.name = "ncp-pgs";
  BOOST_CHECK_THROW(Simulator(scene, settings), std::invalid_argument);
  settings = smooth(1e-3);
  settings.integrator = "implicit-euler";
  BOOST_CHECK_THROW(Simulator(scene, settings), std::invalid_argument);
  BOOST_CHECK_THROW(Simulator(scene, smooth(-1.0)), std::invalid_argument);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace stiction::test
