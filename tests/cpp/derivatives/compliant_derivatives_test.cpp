#include "stiction/model/tangents.hpp"

#include "support/compliant_moment.hpp"
#include "support/step_differences.hpp"
#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <string>

namespace stiction::test {
namespace {

const char* const kIntegrators[] = {"explicit-euler",
                                    "exponential",
                                    "exponential-published",
                                    "implicit-euler",
                                    "rk4",
                                    "symplectic-euler"};

/// Rows or columns of `from` that the springs `to` know, in their order; others are zero.
Eigen::MatrixXd matched(int fixed,
                        const std::vector<SpringName>& from,
                        const std::vector<SpringName>& to) {
  Eigen::MatrixXd S = Eigen::MatrixXd::Zero(fixed + 3 * to.size(), fixed + 3 * from.size());
  S.topLeftCorner(fixed, fixed).setIdentity();
  for (std::size_t i = 0; i < to.size(); ++i) {
    for (std::size_t j = 0; j < from.size(); ++j)
      if (to[i] == from[j]) S.block<3, 3>(fixed + 3 * i, fixed + 3 * j).setIdentity();
  }
  return S;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(compliant_derivatives_test)

BOOST_AUTO_TEST_CASE(columns_agree_with_differences_made_elsewhere) {
  for (const char* integrator : kIntegrators) {
    for (const char* name : {"ball-drop", "cube-slide", "solo12"}) {
      for (const double friction : {0.1, 0.9}) {
        const std::string what =
            std::string(integrator) + ", " + name + ", friction " + std::to_string(friction);
        Moment m(soft(name, friction), with(integrator), 0.05);
        const StepDerivatives& d = m.derivatives();
        BOOST_TEST((d.report.method == "exact") == (std::string(integrator) == "implicit-euler"));
        BOOST_TEST(!d.report.springs.empty(), what);
        BOOST_TEST(d.report.num_kinks == 0, what << ": " << d.report.num_kinks << " kinks");
        const ColumnErrors e = column_errors(m.simulator, m.state, m.control, dense(d));
        const int nv = d.nv();
        for (int block = 0; block < 3; ++block)
          BOOST_TEST(e.worst(block * nv, nv) < 1e-6,
                     what << ", block " << block << ": " << e.worst(block * nv, nv) << ", said "
                          << d.report.error_estimate);
      }
    }
  }
}

// Without the columns and rows of the springs a chain of steps is wrong.
BOOST_AUTO_TEST_CASE(chains_of_steps_need_the_springs) {
  for (const char* integrator : kIntegrators) {
    Moment m(soft("solo12", 0.9), with(integrator), 0.02);
    const int nv = m.state.v.size(), steps = 20;
    const Eigen::VectorXd x = Eigen::VectorXd::LinSpaced(2 * nv, -1.0, 1.0);
    const auto moved_by = [&](double h) {
      State s = m.state;
      s.q = integrate(m.simulator.scene(), m.state.q, x.head(nv) * h);
      s.v += x.tail(nv) * h;
      m.simulator.run(s, m.control, steps);
      return s;
    };
    State end = moved_by(0.0);
    const auto seen = [&](const State& s) {
      Eigen::VectorXd y(2 * nv);
      y << difference(m.simulator.scene(), end.q, s.q), s.v - end.v;
      return y;
    };
    const double h = 1e-7;
    const Eigen::VectorXd expected = (seen(moved_by(h)) - seen(moved_by(-h))) / (2.0 * h);
    Eigen::VectorXd chain = x, held = x;
    std::vector<SpringName> names;
    State s = m.state;
    for (int k = 0; k < steps; ++k) {
      m.simulator.step(s, m.control);
      const StepDerivatives& d = m.simulator.step_derivatives();
      chain = d.dx_dx() * (matched(2 * nv, names, d.report.springs) * chain);
      held = d.A() * held;
      names = d.report.springs;
    }
    const double size = expected.cwiseAbs().maxCoeff();
    const double error = (chain.head(2 * nv) - expected).cwiseAbs().maxCoeff() / size;
    BOOST_TEST(error < 1e-5, integrator << ": " << error);
    BOOST_TEST((held - expected).cwiseAbs().maxCoeff() > 1e-2 * size, integrator);
  }
}

BOOST_AUTO_TEST_CASE(scenes_without_bodies_have_empty_derivatives) {
  Scene scene;
  scene.add_ground({0.5, 0.0, 1e4, 10.0});
  const Eigen::VectorXd none;
  std::vector<std::string> integrators(std::begin(kIntegrators), std::end(kIntegrators));
  integrators.push_back("semi-implicit-euler");
  for (const std::string& integrator : integrators) {
    for (int call = 0; call < 4; ++call) {  // each of them the first after a step
      Simulator simulator(scene, with(integrator));
      State state = simulator.initial_state();
      simulator.step(state, simulator.hold());
      BOOST_TEST_CONTEXT(integrator << ", call " << call) {
        if (call == 0) BOOST_TEST(simulator.jvp(none).size() == 0);
        if (call == 1) BOOST_TEST(simulator.vjp(none).q.size() == 0);
        if (call == 2) BOOST_TEST(simulator.step_derivatives().A().size() == 0);
        BOOST_TEST(simulator.gradient_report().two_sided());
        BOOST_CHECK_THROW(simulator.jvp(Eigen::VectorXd::Ones(1)), std::invalid_argument);
      }
    }
  }
}

BOOST_AUTO_TEST_CASE(products_are_those_of_the_matrix) {
  for (const char* integrator : kIntegrators) {
    Moment m(soft("solo12", 0.3), with(integrator), 0.05);
    const StepDerivatives& d = m.derivatives();
    const Eigen::MatrixXd X = d.dx_dx(), T = d.dx_dtorque();
    const int nv = d.nv(), n = static_cast<int>(X.rows());
    BOOST_TEST(n > 2 * nv);
    Rng rng(5);
    Eigen::VectorXd w(n), x(n + nv);
    for (double& y : w) y = rng.uniform(-1.0, 1.0);
    for (double& y : x) y = rng.uniform(-1.0, 1.0);
    Eigen::VectorXd state(n);
    state << x.head(2 * nv), x.tail(n - 2 * nv);
    const Eigen::VectorXd expected = X * state + T * x.segment(2 * nv, nv);
    const double size = X.cwiseAbs().maxCoeff() * nv;
    BOOST_TEST((m.simulator.jvp(x) - expected).cwiseAbs().maxCoeff() < 1e-6 * size, integrator);
    BOOST_TEST(m.simulator.jvp(x.head(3 * nv)).size() == 2 * nv);
    const StepGradient& g = m.simulator.vjp(w);
    Eigen::VectorXd gradient(n);
    gradient << g.q, g.v, g.springs;
    BOOST_TEST((gradient - X.transpose() * w).cwiseAbs().maxCoeff() < 1e-12 * size, integrator);
    BOOST_TEST((g.torque - T.transpose() * w).cwiseAbs().maxCoeff() < 1e-12 * size, integrator);
    const Eigen::VectorXd full = g.q, head = w.head(2 * nv);
    BOOST_TEST(m.simulator.vjp(head).q.size() == nv);
    BOOST_CHECK_THROW(m.simulator.vjp(w.head(2 * nv + 1)), std::invalid_argument);
    BOOST_CHECK_THROW(m.simulator.jvp(x.head(3 * nv + 1)), std::invalid_argument);
  }
}

BOOST_AUTO_TEST_CASE(steps_are_the_same_with_and_without) {
  for (const char* integrator : kIntegrators) {
    const SimulatorSettings settings = with(integrator);
    Moment one(soft("cube-slide", 0.3), settings, 0.1), two(soft("cube-slide", 0.3), settings, 0.1);
    for (int k = 0; k < 30; ++k) {
      const StepReport before = one.simulator.step(one.state, one.control);
      const std::vector<ContactReport> contacts = one.simulator.contacts();
      one.simulator.step_derivatives();
      one.simulator.vjp(Eigen::VectorXd::Ones(12));
      BOOST_TEST(one.simulator.report().iterations == before.iterations);
      BOOST_TEST(one.simulator.report().creep == before.creep);
      const std::vector<ContactReport> after = one.simulator.contacts();
      BOOST_TEST_REQUIRE(after.size() == contacts.size());
      for (std::size_t i = 0; i < after.size(); ++i)
        BOOST_TEST(norm(after[i].impulse - contacts[i].impulse) == 0.0);
      two.simulator.step(two.state, two.control);
      BOOST_TEST((one.state == two.state), integrator << " step " << k);
    }
  }
}

// Parameters of the step that was taken, edits included.
BOOST_AUTO_TEST_CASE(parameters_are_those_of_the_step) {
  Moment m(soft("ball-drop", 0.3), with("implicit-euler"), 0.0);
  const Eigen::MatrixXd stiff = m.derivatives().A();
  for (Material& material : m.simulator.parameters().material) material.stiffness *= 0.5;
  const Eigen::MatrixXd softer = m.derivatives().A();
  BOOST_TEST((stiff - softer).cwiseAbs().maxCoeff() > 1e-2 * stiff.cwiseAbs().maxCoeff());
  const ColumnErrors e = column_errors(m.simulator, m.state, m.control, dense(m.derivatives()));
  BOOST_TEST(e.worst(0, 18) < 1e-6);
}

// A point exactly at the edge of its cone: one-sided.
BOOST_AUTO_TEST_CASE(kinks_are_counted) {
  Scene scene = soft("ball-drop", 0.5);
  Simulator simulator(scene, with("explicit-euler"));
  State state = simulator.initial_state();
  const Control control = simulator.hold();
  int most = 0;
  for (int k = 0; k < 2000 && most == 0; ++k) {
    State start = state;
    simulator.step(state, control);
    if (simulator.contacts().empty()) continue;
    const double gap = simulator.contacts()[0].gap;
    start.q[2] -= gap;  // just touching
    simulator.step(start, control);
    most = simulator.gradient_report().num_kinks;
    BOOST_TEST(!simulator.gradient_report().two_sided());
  }
  BOOST_TEST(most > 0);
}

BOOST_AUTO_TEST_CASE(what_is_missing_is_said) {
  Moment m(soft("ball-drop", 0.3), with("rk4"), 0.0);
  BOOST_TEST(m.derivatives().report.method == "differences");
  BOOST_CHECK_THROW(m.simulator.step_derivatives({"mass"}), std::invalid_argument);
  Simulator fresh(soft("ball-drop", 0.3), with("rk4"));
  BOOST_CHECK_THROW(fresh.step_derivatives(), std::invalid_argument);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace stiction::test
