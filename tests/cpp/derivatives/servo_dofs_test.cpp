#include "model/joint.hpp"
#include "support/random_tree.hpp"
#include "support/recovery.hpp"
#include "support/step_differences.hpp"
#include <boost/test/unit_test.hpp>

#include <stdexcept>
#include <string>
#include <vector>

// Which dofs have servos: those of joints with one. Gains anywhere else are refused by all that
// takes them, so that none is stepped with and differentiated as if it were not there.

namespace stiction::test {
namespace {

std::string said_by(const Scene& scene, const Parameters& p) {
  try {
    scene.validate(p);
  } catch (const std::invalid_argument& e) {
    return e.what();
  }
  return "";
}

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(servo_dofs_test)

BOOST_AUTO_TEST_CASE(gains_of_joints_with_several_dofs_are_refused_by_name) {
  int refused = 0, taken = 0;
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    Rng rng(seed);
    Scene scene;
    scene.add_robot(random_robot(random_tree(rng)));
    scene.add_body("loose", Shape::sphere(0.1), 1.0, {Mat3d::identity(), {0, 0, 1}});
    for (int k = 0; k < scene.nv(); ++k) {
      const bool one = joint_nv(scene.joint_of_dof(k)) == 1;
      BOOST_TEST(scene.takes_servo(k) == one);
      for (const auto gain : {&Parameters::kp, &Parameters::kd}) {
        Parameters p = scene.parameters;
        (p.*gain)[k] = 2.0;
        const std::string said = said_by(scene, p);
        const std::string field = gain == &Parameters::kp ? "kp[" : "kd[";
        if (one) {
          BOOST_TEST(said.empty(), said);
        } else {
          BOOST_TEST(contains(said, "parameters." + field + std::to_string(k) + "]"), said);
          BOOST_TEST(contains(said, "\"" + scene.dof_names()[k] + "\""), said);
          BOOST_TEST(contains(said, "must be 0"), said);
        }
      }
      if (one) {
        scene.set_gains(k, 1.0, 1.0);
        ++taken;
      } else {
        BOOST_CHECK_THROW(scene.set_gains(k, 1.0, 1.0), std::invalid_argument);
        ++refused;
      }
    }
    // What is left is differentiated, by gains and targets too.
    Simulator simulator(scene);
    State state = simulator.initial_state();
    Control control = simulator.hold();
    control.position_target.array() += 0.1;
    const State start = state;
    simulator.step(state, control);
    const StepDerivatives d =
        simulator.step_derivatives({"kp", "kd", "position_target", "velocity_target"});
    for (int field = 0; field < 4; ++field) {
      for (int k = 0; k < scene.nv(); ++k) {
        const Eigen::VectorXd column = d.P.col(d.parameters[field].first + k);
        BOOST_TEST((scene.takes_servo(k) || column.isZero(0.0)));
      }
    }
    Eigen::MatrixXd J(2 * d.nv(), 3 * d.nv());
    J << d.A(), d.B();
    const double error = column_errors(simulator, start, control, J).worst(0, 3 * d.nv());
    BOOST_TEST(error < 1e-5, "seed " << seed << ": " << error);
  }
  BOOST_TEST(refused > 40);
  BOOST_TEST(taken > 20);
}

/// The derivative by what is not there yet is that of the first of it.
BOOST_AUTO_TEST_CASE(the_first_dry_friction_of_a_joint) {
  int moved = 0;
  for (std::uint64_t seed = 1; seed <= 10; ++seed) {
    Rng rng(seed);
    Scene scene;
    scene.add_robot(random_robot(random_tree(rng)));
    SimulatorSettings settings;
    settings.solver.tolerance = 1e-13;
    Simulator simulator(scene, settings);
    // With a row the tree has the bias of the start whatever the others have.
    simulator.parameters().dry_friction[scene.nv() - 1] = 0.01;
    State start = simulator.initial_state();
    for (double& v : start.v) v = rng.uniform(-1.0, 1.0);
    const auto end = [&] {
      State state = start;
      simulator.step(state, simulator.hold());
      return state.v;
    };
    const Eigen::VectorXd v = end();
    const StepDerivatives d = simulator.step_derivatives({"dry_friction"});
    for (int k = 0; k < scene.nv(); ++k) {
      const double h = 1e-5, before = simulator.parameters().dry_friction[k];
      if (before > 0.0) continue;
      simulator.parameters().dry_friction[k] = h;
      const Eigen::VectorXd difference = (end() - v) / h, column = d.P.col(k).tail(scene.nv());
      simulator.parameters().dry_friction[k] = 0.0;
      const double size = difference.cwiseAbs().maxCoeff();
      BOOST_TEST((column - difference).cwiseAbs().maxCoeff() <= 1e-5 * size + 1e-9,
                 "seed " << seed << " dof " << k);
      moved += size > 1e-6;
    }
  }
  BOOST_TEST(moved > 50);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace stiction::test
