#include "scenes/scenes.hpp"
#include "support/random.hpp"
#include "support/step_differences.hpp"
#include <boost/test/unit_test.hpp>

#include <string>

namespace stiction::test {
namespace {

SimulatorSettings precise() {
  SimulatorSettings settings;
  settings.solver.tolerance = 1e-13;
  return settings;
}

Eigen::MatrixXd dense(const StepDerivatives& d) {
  Eigen::MatrixXd J(2 * d.nv(), 3 * d.nv());
  J << d.A(), d.B();
  return J;
}

/// A scene after some steps, disturbed so that no gap rests at its kink.
struct Moment {
  Scene scene;
  Simulator simulator;
  State state;
  Control control;

  Moment(const std::string& name,
         int steps,
         double disturbance,
         int after = 0,
         SimulatorSettings settings = precise())
      : scene(make_scene(name)),
        simulator(scene, settings),
        state(simulator.initial_state()),
        control(simulator.hold()) {
    for (int k = 0; k < steps; ++k) simulator.step(state, control);
    Rng rng(7);
    for (int k = 0; k < scene.nv(); ++k) {
      state.v[k] += disturbance * rng.uniform(-1.0, 1.0);
      control.torque[k] += disturbance * rng.uniform(-1.0, 1.0);
    }
    for (int k = 0; k < after; ++k) simulator.step(state, control);
  }
  const StepDerivatives& derivatives() {
    State next = state;
    simulator.step(next, control);
    return simulator.step_derivatives();
  }
};

}  // namespace

BOOST_AUTO_TEST_SUITE(step_derivatives_test)

BOOST_AUTO_TEST_CASE(columns_agree_with_differences) {
  struct Case {
    const char* scene;
    int steps;
    double disturbance;
    int after;  ///< steps with the disturbance
    int kinks;  ///< columns at most
  };
  for (const Case& c : {Case{"double-pendulum", 40, 0.1, 0, 0},
                        {"ball-drop", 40, 0.1, 0, 0},
                        {"cartpole", 40, 0.1, 0, 0},
                        {"four-bar", 40, 0.0, 0, 0},
                        {"solo12", 40, 0.02, 0, 6},
                        {"slope", 40, 0.0, 0, 6},
                        {"cube-slide", 40, 0.2, 0, 6}}) {
    Moment m(c.scene, c.steps, c.disturbance, c.after);
    // Lifted by more than the differences, less than it comes down by: gaps of feet that turn would
    // lie nearer to their kink at zero.
    if (std::string(c.scene) == "solo12") m.state.q[2] += 1e-6;
    const StepDerivatives& d = m.derivatives();
    BOOST_TEST(d.report.exact(), c.scene);
    const Eigen::MatrixXd J = dense(d);
    const ColumnErrors e = column_errors(m.simulator, m.state, m.control, J);
    const int nv = m.scene.nv();
    // A body that slides on four points: which impulses carry it, and with them how it begins to
    // turn, the solver takes from its warm start.
    const double bar = d.report.not_unique > 0 ? 1e-4 : 1e-7;
    for (int block = 0; block < 3; ++block)
      BOOST_TEST(e.worst(block * nv, nv) < bar,
                 c.scene << " block " << block << ": " << e.worst(block * nv, nv));
    BOOST_TEST(e.kinks() <= c.kinks, c.scene << ": " << e.kinks() << " kinks");
  }
}

BOOST_AUTO_TEST_CASE(products_are_those_of_the_matrix) {
  for (const char* name : {"double-pendulum", "four-bar", "solo12", "cube-slide", "box-stack(3)"}) {
    Moment m(name, 40, 0.02);
    const Eigen::MatrixXd J = dense(m.derivatives());
    const int nv = m.scene.nv();
    Rng rng(3);
    Eigen::VectorXd w(2 * nv), x(3 * nv);
    for (double& y : w) y = rng.uniform(-1.0, 1.0);
    for (double& y : x) y = rng.uniform(-1.0, 1.0);
    const StepGradient& g = m.simulator.vjp(w);
    Eigen::VectorXd gradient(3 * nv);
    gradient << g.q, g.v, g.torque;
    const double size = J.cwiseAbs().maxCoeff();
    BOOST_TEST((gradient - J.transpose() * w).cwiseAbs().maxCoeff() < 1e-12 * size * nv, name);
    BOOST_TEST((m.simulator.jvp(x) - J * x).cwiseAbs().maxCoeff() < 1e-12 * size * nv, name);
  }
}

/// Rigid contacts of loose bodies do not know how heavy all of it is.
BOOST_AUTO_TEST_CASE(masses_and_inertias_together_change_nothing) {
  for (const char* name : {"cube-slide", "slope", "box-stack(3)", "ball-drop"}) {
    for (const double disturbance : {0.0, 0.3}) {
      Moment m(name, 60, disturbance);
      m.control.torque.setZero(m.scene.nv());
      m.derivatives();
      const StepDerivatives& d = m.simulator.step_derivatives({"mass", "inertia"});
      const Parameters& p = m.scene.parameters;
      Eigen::VectorXd x(d.P.cols());
      for (int b = 0; b < m.scene.num_bodies(); ++b) {
        x[b] = p.mass[b];
        for (int k = 0; k < 6; ++k) x[m.scene.num_bodies() + 6 * b + k] = (&p.inertia[b].xx)[k];
      }
      const double size = (d.P * x.asDiagonal()).cwiseAbs().maxCoeff();
      if (d.report.not_unique > 0) continue;  // the warm start is not scaled
      BOOST_TEST(
          (d.P * x).cwiseAbs().maxCoeff() < 1e-9 * std::max(size, 1e-3),
          name << " " << disturbance << ": " << (d.P * x).cwiseAbs().maxCoeff() << " of " << size);
    }
  }
}

BOOST_AUTO_TEST_CASE(steps_are_the_same_with_and_without) {
  Moment with("solo12", 0, 0.0), without("solo12", 0, 0.0);
  for (int k = 0; k < 50; ++k) {
    with.simulator.step(with.state, with.control);
    with.simulator.step_derivatives();
    with.simulator.vjp(Eigen::VectorXd::Ones(2 * with.scene.nv()));
    without.simulator.step(without.state, without.control);
  }
  BOOST_TEST((with.state == without.state));
}

/// What differences of the step would not agree with is not called exact.
BOOST_AUTO_TEST_CASE(reports_say_what_is_not_exact) {
  SimulatorSettings settings;
  settings.solver.name = "ncp-pgs";
  settings.solver.max_iterations = 2;
  Moment stopped("box-stack(3)", 3, 0.3, 0, settings);
  BOOST_TEST(stopped.derivatives().report.num_not_converged == 1);
  BOOST_TEST(!stopped.simulator.gradient_report().exact());
  settings = {};
  settings.sleeping.enabled = true;
  Moment asleep("box-stack(3)", 1500, 0.0, 0, settings);
  BOOST_TEST(asleep.derivatives().report.num_asleep == 3);
  BOOST_TEST(!asleep.simulator.gradient_report().exact());
  Moment spinning("ball-drop", 0, 0.0);
  spinning.state.v.tail(3).setConstant(900.0);
  BOOST_TEST(spinning.derivatives().report.num_slowed == 1);
}

BOOST_AUTO_TEST_CASE(what_has_no_derivatives_is_refused) {
  const Scene scene = make_scene("slope");
  const auto refused = [&](SimulatorSettings settings, bool step, const std::string& says) {
    Simulator s(scene, settings);
    State state = s.initial_state();
    if (step) s.step(state, s.hold());
    BOOST_CHECK_EXCEPTION(s.step_derivatives(), std::invalid_argument, [&](const auto& e) {
      return std::string(e.what()).find(says) != std::string::npos;
    });
  };
  SimulatorSettings settings;
  refused(settings, false, "no step yet");
  settings.solver.name = "lcp-pgs";
  refused(settings, true, "lcp-pgs");
  settings.solver.name = "ccp-newton";
  refused(settings, true, "regularises");
  settings = {};
  settings.project_closures = true;
  refused(settings, true, "project_closures");
  Simulator s(scene, {});
  State state = s.initial_state();
  s.step(state, s.hold());
  BOOST_CHECK_THROW(s.vjp(Eigen::VectorXd::Ones(3)), std::invalid_argument);
  BOOST_CHECK_THROW(s.jvp(Eigen::VectorXd::Constant(3 * scene.nv(), NAN)), std::invalid_argument);
  const auto stale = [&](const std::string& says) {
    BOOST_CHECK_EXCEPTION(s.step_derivatives(), std::invalid_argument, [&](const auto& e) {
      return std::string(e.what()).find(says) != std::string::npos;
    });
  };
  s.prepare(state, s.hold());
  stale("prepared only; call advance()");
  s.advance(state, s.warm_start());
  s.step_derivatives();
  state.v.setConstant(1e200);
  BOOST_TEST_REQUIRE(!s.step(state, s.hold()).whole());
  stale("the last step ended with status");
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace stiction::test
