#include "integrator/step_record.hpp"

#include "stiction/simulator/simulator.hpp"

#include "contact/constraint_row.hpp"
#include "support/row_sample.hpp"
#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <array>
#include <cmath>

// What a step leaves behind agrees with what was asked of it and with where it ended.

using namespace stiction;
using Eigen::VectorXd;
using stiction::test::Rng;
using stiction::test::RowSample;

namespace {

/// Servos and efforts of random strength; targets near the configuration.
Control random_control(Rng& rng, Scene& scene, const State& state) {
  Parameters& p = scene.parameters;
  const std::vector<double> q =
      scene.dof_positions({state.q.data(), state.q.data() + state.q.size()});
  Control control;
  control.torque = test::random_vector(rng, scene.nv());
  control.position_target = control.velocity_target = VectorXd::Zero(scene.nv());
  for (const Tree& tree : scene.trees()) {
    for (int b = 0; b < tree.num_bodies; ++b) {
      const int dof = tree.v_offset + tree.v_index[b];
      if (joint_nv(tree.joint[b]) != 1) continue;
      if (rng.below(3) > 0) p.kp[dof] = rng.uniform(1.0, 50.0);
      if (rng.below(3) > 0) p.kd[dof] = rng.uniform(0.1, 2.0);
      if (rng.below(2)) p.effort_limit[dof] = rng.uniform(0.5, 10.0);
      control.position_target[dof] = q[dof] + rng.uniform(-0.5, 0.5);
      control.velocity_target[dof] = rng.uniform(-1.0, 1.0);
    }
  }
  return control;
}

/// Torque and servo of a dof before its effort limit; at the end of a step those that it had.
double asked(const Scene& scene, const State& state, const Control& control, int dof) {
  const std::vector<double> q =
      scene.dof_positions({state.q.data(), state.q.data() + state.q.size()});
  const Parameters& p = scene.parameters;
  return control.torque[dof] + p.kp[dof] * (control.position_target[dof] - q[dof]) +
         p.kd[dof] * (control.velocity_target[dof] - state.v[dof]);
}

/// J (v + dv) by J as the record keeps it, against c + c* - R lambda.
void check_velocities(const Scene& scene, const State& before, const StepRecord& record) {
  std::vector<double> v(record.dv), reached(record.problem.num_rows(), 0.0);
  for (int k = 0; k < scene.nv(); ++k) v[k] += before.v[k];
  add_row_motion(scene, record.dynamics, record.rows, v.data(), reached);
  double speed = 1.0;
  for (const double x : v) speed = std::max(speed, std::abs(x));
  int k = 0;
  for (const ConstraintRow& row : record.rows.rows) {
    for (int r = 0; r < row.set.dim; ++r, ++k) {
      const double told = record.solution.velocity[k] + row.reference[r] -
                          row.compliance[r] * record.solution.impulse[k];
      BOOST_TEST(std::abs(reached[k] - told) < 1e-8 * (speed + std::abs(row.reference[r])));
    }
  }
}

}  // namespace

BOOST_AUTO_TEST_SUITE(step_record_test)

BOOST_AUTO_TEST_CASE(a_record_agrees_with_its_step) {
  Rng rng(5);
  int saturated = 0, within = 0, joints = 0;
  std::array<int, 3> seen{};
  for (int trial = 0; trial < 60; ++trial) {
    const RowSample sample(rng, {.one_tree = trial % 3 == 2, .bounces = true, .open = 1e-3});
    Scene scene = sample.scene;
    const Control control = random_control(rng, scene, sample.state);
    SimulatorSettings settings;
    settings.solver.tolerance = 1e-10;
    Simulator sim(scene, settings);
    State state = sample.state;
    sim.step(state, control);
    const StepRecord& record = sim.record();
    for (int dof = 0; dof < scene.nv(); ++dof) {
      const double force = asked(scene, state, control, dof),
                   limit = scene.parameters.effort_limit[dof];
      const int side = record.dynamics.saturated[dof];
      if (joint_nv(scene.joint_of_dof(dof)) != 1) continue;
      if (side != 0 && (scene.parameters.kp[dof] != 0.0 || scene.parameters.kd[dof] != 0.0)) {
        BOOST_TEST(side * force >= -limit * (1.0 + 1e-9));
      } else if (side == 0) {
        BOOST_TEST(std::abs(force) <= 1.25 * limit * (1.0 + 1e-9));
      }
      ++(side != 0 ? saturated : within);
    }
    for (const Tree& tree : scene.trees()) {
      for (int k = tree.v_offset + (tree.free_root ? 6 : 0); k < tree.v_offset + tree.nv; ++k) {
        BOOST_TEST(state.v[k] == sample.state.v[k] + record.dv[k]);
        ++joints;
      }
    }
    check_velocities(scene, sample.state, record);
    const std::vector<ContactModes> modes = record.modes();
    BOOST_TEST_REQUIRE(modes.size() == record.rows.rows.size());
    if (sim.report().solver_status != SolveStatus::kConverged) continue;
    double impulse = 0.0, velocity = 0.0;
    for (const double l : record.solution.impulse) impulse = std::max(impulse, 1e-5 * std::abs(l));
    for (const double g : record.problem.g) velocity = std::max(velocity, 1e-5 * std::abs(g));
    for (std::size_t i = 0; i < modes.size(); ++i) {
      const ConstraintSet& set = record.problem.sets[i];
      if (!set.is_cone() || modes[i].at_switch()) continue;
      const double* l = &record.solution.impulse[set.offset];
      const double* c = &record.solution.velocity[set.offset];
      const double mu = set.friction.friction();
      const ContactMode mode = modes[i].holding;
      ++seen[static_cast<int>(mode)];
      if (mode == ContactMode::kOpen) {
        BOOST_TEST((l[2] <= impulse && c[2] > -velocity));
      } else if (mode == ContactMode::kStick) {
        BOOST_TEST((std::hypot(l[0], l[1]) < mu * l[2] && std::hypot(c[0], c[1]) <= velocity));
      } else {
        BOOST_TEST(std::abs(std::hypot(l[0], l[1]) - mu * l[2]) <= impulse);
        BOOST_TEST(l[0] * c[0] + l[1] * c[1] <= impulse * velocity);
      }
    }
  }
  BOOST_TEST(saturated > 30);
  BOOST_TEST(within > 100);
  BOOST_TEST(joints > 100);
  for (const int n : seen) BOOST_TEST(n > 20);
}

BOOST_AUTO_TEST_SUITE_END()
