#include "stiction/simulator/inverse_contact_dynamics.hpp"

#include "contact/constraint_row.hpp"
#include "dynamics/integrate.hpp"
#include "math/number_text.hpp"
#include "simulator/explain_motion.hpp"
#include "simulator/inverse_maps.hpp"
#include "simulator/inverse_step.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <string>

// M^ (v+ - v_free) = dt tau + J^T lambda, in the axes of the start: v+ gives the left side, the
// modes of the rows and, with them, lambda; tau is what is left.

namespace stiction {

namespace {

using Eigen::MatrixXd;
using Eigen::VectorXd;

/// v+ of the end of a step, in the axes of its start: turn_root_velocity() backwards.
VectorXd in_axes_of_start(const Scene& scene,
                          const Parameters& parameters,
                          const DynamicsWorkspace& work,
                          double dt,
                          const VectorXd& q,
                          VectorXd v) {
  for (std::size_t t = 0; t < scene.trees().size(); ++t) {
    const Tree& tree = scene.trees()[t];
    if (!tree.free_root) continue;
    const TreeView& view = work.views[t];
    const Vec3d c = root_point(view, tree_parameters(tree, static_cast<int>(t), parameters));
    double root[7], speed[6];
    std::copy_n(q.data() + tree.q_offset, 7, root);
    std::copy_n(v.data() + tree.v_offset, 6, speed);
    const Mat3d before = root_rotation(view, root);
    FreeFlyerJoint::integrate_about(c, root, speed, dt);
    turn_root_velocity(view, root_rotation(view, root), before, c, v.data() + tree.v_offset);
  }
  return v;
}

std::string entry(const char* name, std::size_t k, const std::string& value) {
  return std::string(name) + "[" + std::to_string(k) + "] = " + value;
}

/// What a caller may have got wrong.
void check_motion(const Scene& scene,
                  const VectorXd& v_next,
                  const std::vector<int>* actuated,
                  double tolerance) {
  if (v_next.size() != scene.nv())
    throw std::invalid_argument("v_next has " + std::to_string(v_next.size()) +
                                " entries: must have " + std::to_string(scene.nv()));
  for (Eigen::Index k = 0; k < v_next.size(); ++k) {
    if (!(std::abs(v_next[k]) <= kLargest))
      throw std::invalid_argument(entry("v_next", k, number_text(v_next[k])) +
                                  ": must be finite and at most 1e100 in size");
  }
  for (std::size_t k = 0; actuated != nullptr && k < actuated->size(); ++k) {
    const int dof = (*actuated)[k];
    if (dof < 0 || dof >= scene.nv())
      throw std::invalid_argument(entry("actuated", k, std::to_string(dof)) +
                                  ": must be the number of a dof, from 0 to " +
                                  std::to_string(scene.nv() - 1));
  }
  if (!(tolerance > 0.0 && std::isfinite(tolerance)))
    throw std::invalid_argument("tolerance = " + number_text(tolerance) +
                                ": must be > 0 and finite [m/s]");
}

[[noreturn]] void refuse_overflow(const VectorXd& v_next) {
  Eigen::Index largest = 0;
  v_next.cwiseAbs().maxCoeff(&largest);
  throw std::invalid_argument(entry("v_next", largest, number_text(v_next[largest])) +
                              ": torques and impulses overflow; take smaller velocities");
}

std::vector<double> impulses(const Scene& scene,
                             const StepRecord& record,
                             const InverseContactDynamics& motion,
                             const std::vector<int>& loose,
                             const VectorXd& momentum) {
  const ContactProblem& problem = record.problem;
  if (problem.num_rows() == 0) return {};
  if (all_compliant(problem)) {
    ContactProblem law;
    return solution_of_compliance(problem, motion.velocity, law).impulse;
  }
  VectorXd needed(loose.size());
  for (std::size_t k = 0; k < loose.size(); ++k) needed[k] = momentum[loose[k]];
  return explain_motion(problem,
                        motion.velocity,
                        motion.modes,
                        needed,
                        forces_on(scene, record, loose),
                        inverse_mass(scene, record.dynamics, loose));
}

}  // namespace

InverseContactDynamics Simulator::inverse_contact_dynamics(const State& state,
                                                           const Control& control,
                                                           const VectorXd& v_next,
                                                           const std::vector<int>* actuated,
                                                           double tolerance) {
  rigid_step();
  check_sizes(state, control);
  check_motion(scene_, v_next, actuated, tolerance);
  const std::vector<int> loose = loose_dofs(scene_, actuated);
  complete();  // of the last step, before its parameters are forgotten
  look_at_parameters();
  if (!inverse_) inverse_ = std::make_unique<InverseStep>(scene_, settings_);
  inverse_->start = inverse_->before = state;
  const StepInput input{scene_, parameters_, settings_, control, inverse_->before};
  inverse_->step.prepare(input, inverse_->start);
  const StepRecord& record = inverse_->step.record();
  const DynamicsWorkspace& work = record.dynamics;
  for (int k = 0; k < scene_.nv(); ++k) {
    if (work.saturated[k])
      throw std::invalid_argument("control: the servo of dof " + std::to_string(k) +
                                  " is at its effort limit: give torques instead");
  }
  VectorXd end = v_next;
  inverse_->step.take_back_kicks(input, end.data());
  const VectorXd dv =
      in_axes_of_start(scene_, parameters_, work, settings_.dt, state.q, end) - state.v;
  VectorXd free = dv;
  inverse_->step.centre_free_trees(input, 1, free.data());
  free = Eigen::Map<const VectorXd>(work.free_motion.data(), scene_.nv());
  solve_scaled_lower(scene_, work, free.data());
  const VectorXd change = dv - free;
  if (!change.allFinite()) refuse_overflow(v_next);
  InverseContactDynamics out;
  out.velocity = record.problem.g;
  add_row_motion(scene_, work, record.rows, change.data(), out.velocity);
  out.modes = modes_of_motion(record.problem.sets, out.velocity, tolerance);
  const VectorXd momentum = mass_times(scene_, work, change);
  inverse_->dv = dv;
  inverse_->momentum = momentum;
  out.impulse = impulses(scene_, record, out, loose, momentum);
  out.violation = approach(record.problem, out.velocity, out.impulse);
  std::vector<double> carried(scene_.nv(), 0.0);
  add_row_forces(scene_, work, record.rows, out.impulse, carried);
  out.torque = (momentum - Eigen::Map<const VectorXd>(carried.data(), scene_.nv())) / settings_.dt;
  out.residual = VectorXd::Zero(scene_.nv());
  for (const int dof : loose) std::swap(out.torque[dof], out.residual[dof]);
  const Eigen::Map<const VectorXd> impulse(out.impulse.data(),
                                           static_cast<Eigen::Index>(out.impulse.size()));
  if (!(out.torque + out.residual).allFinite() || !impulse.allFinite()) refuse_overflow(v_next);
  return out;
}

}  // namespace stiction
