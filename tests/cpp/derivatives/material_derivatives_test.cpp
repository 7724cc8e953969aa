#include "support/step_differences.hpp"
#include <boost/test/unit_test.hpp>

#include <cmath>
#include <string>

// Derivatives by the numbers of materials where combining two of them has a kink, or a number has
// no effect.

namespace stiction::test {
namespace {

/// A ball that lands on a plane, sliding and turning.
struct Landing {
  Scene scene;
  SimulatorSettings settings;
  Control control;

  explicit Landing(const Material& ball, const Material& plane, double depth = 0.0) {
    scene.add_body("ball", Shape::sphere(0.1), 1.0, {Mat3d::identity(), {0, 0, 0.1 - depth}}, ball);
    scene.add_half_space("plane", {0, 0, 0}, {0, 0, 1}, plane);
    settings.solver.tolerance = 1e-13;
  }

  /// End of the step, with what change(parameters) does before it.
  template <class Change>
  Eigen::VectorXd end(Change&& change, const std::string& field = {}) {
    Simulator simulator(scene, settings);
    change(simulator.parameters());
    State state = simulator.initial_state();
    state.v << 0.3, 0.2, -0.5, 1.0, 0.0, 2.0;
    simulator.step(state, simulator.hold());
    BOOST_REQUIRE((simulator.report().status == StepStatus::kOk));
    if (!field.empty()) {
      const StepDerivatives& d = simulator.step_derivatives({field});
      by = d.P.middleRows(6, 6);
      report = d.report;
      const Eigen::VectorXd w = Eigen::VectorXd::LinSpaced(12, -1.0, 2.0);
      const Eigen::VectorXd gradient = simulator.vjp(w, {field}).parameters;
      BOOST_TEST((gradient - d.P.topRows(12).transpose() * w).norm() <= 1e-12 * (1.0 + d.P.norm()));
      BOOST_TEST(simulator.gradient_report().num_parameter_kinks == report.num_parameter_kinks);
    }
    return state.v;
  }
  void differentiate(const std::string& field) {
    end([](Parameters&) {}, field);
  }

  Eigen::MatrixXd by;  ///< [nv x geometries] of v+
  GradientReport report;
};

}  // namespace

BOOST_AUTO_TEST_SUITE(material_derivatives_test)

BOOST_AUTO_TEST_CASE(equal_restitutions_have_half_each) {
  for (const double plane : {0.6, 0.5, 0.4}) {
    Material a, b;
    a.restitution = 0.5;
    b.restitution = plane;
    Landing landing(a, b);
    landing.differentiate("restitution");
    const auto both = [&](double h) {
      return landing.end([&](Parameters& p) {
        for (Material& m : p.material) m.restitution += h;
      });
    };
    const Eigen::VectorXd together = (both(1e-6) - both(-1e-6)) / 2e-6;
    BOOST_TEST(together.norm() > 0.1);
    BOOST_TEST((landing.by.rowwise().sum() - together).norm() < 1e-7);
    BOOST_TEST(landing.by.col(0).norm() == (plane == 0.5  ? 0.5
                                            : plane < 0.5 ? 1.0
                                                          : 0.0) *
                                               together.norm(),
               boost::test_tools::tolerance(1e-6));
    BOOST_TEST(landing.report.num_parameter_kinks == (plane == 0.5));
  }
}

/// At e = 0 the target of an open gap is its speculative one, with any e > 0 it is 0 at least.
BOOST_AUTO_TEST_CASE(restitution_of_zero_is_a_kink_of_an_impact) {
  for (const double gap : {0.0, 1e-4, 0.1}) {
    Landing landing({}, {}, -gap);
    landing.differentiate("restitution");
    const bool impact = gap < 0.01;
    BOOST_TEST(landing.report.num_parameter_kinks == impact);
    const Eigen::VectorXd v = landing.end([](Parameters&) {}),
                          more =
                              landing.end([](Parameters& p) { p.material[0].restitution = 1e-6; });
    BOOST_TEST(((more - v).norm() > 1e-7) == impact);
  }
}

BOOST_AUTO_TEST_CASE(friction_of_zero_beside_another_is_a_kink) {
  for (const bool rough : {false, true}) {
    Material a, b;
    a.friction = 0.0;
    b.friction = rough ? 0.7 : 0.0;
    Landing landing(a, b, 1e-5);
    landing.differentiate("friction");
    BOOST_TEST(landing.by.norm() == 0.0);
    BOOST_TEST(landing.report.num_parameter_kinks == rough);
    const double h = 1e-8;
    const Eigen::VectorXd v = landing.end([](Parameters&) {}),
                          more = landing.end([&](Parameters& p) { p.material[0].friction = h; });
    BOOST_TEST(((more - v).norm() / h > 1e3) == rough);
  }
}

/// A tangential spring without stiffness and damping carries no friction.
BOOST_AUTO_TEST_CASE(friction_that_nothing_carries_changes_nothing) {
  for (const double ratio : {0.0, 0.5}) {
    Material a;
    a.friction = 0.01;
    a.stiffness = 1e4;
    a.damping = 10.0;
    a.tangential_stiffness_ratio = a.tangential_damping_ratio = ratio;
    Landing landing(a, a, 1e-3);
    landing.settings.contact.tangential_compliance = true;
    landing.differentiate("friction");
    const auto moved = [&](double h) {
      return landing.end([&](Parameters& p) { p.material[0].friction += h; });
    };
    const Eigen::VectorXd difference = (moved(1e-6) - moved(-1e-6)) / 2e-6;
    BOOST_TEST((landing.by.col(0) - difference).norm() < 1e-7);
    BOOST_TEST((difference.norm() > 1e-3) == (ratio > 0.0));
  }
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace stiction::test
