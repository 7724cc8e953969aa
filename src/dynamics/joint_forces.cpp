#include "dynamics/joint_forces.hpp"

#include "dynamics/effort_excess.hpp"
#include "model/joint.hpp"

#include <cmath>

namespace stiction {
namespace {

double entry(const Eigen::VectorXd& x, int i) { return x.size() == 0 ? 0.0 : x[i]; }

/// What torque and servo of a dof ask for.
double wanted_force(
    const Parameters& p, const Control& control, int dof, double position_error, double v) {
  const double torque = entry(control.torque, dof), kp = p.kp[dof], kd = p.kd[dof];
  if (kp == 0.0 && kd == 0.0) return torque;
  const double servo = kp * position_error + kd * (entry(control.velocity_target, dof) - v);
  return torque + servo;
}

/// How far a servo is from its target; 0 of dofs that have none.
double position_error(
    const Parameters& p, const Control& control, JointType joint, int dof, const double* q) {
  if (joint_nv(joint) != 1 || p.kp[dof] == 0.0) return 0.0;
  return joint_position_error(joint, q, entry(control.position_target, dof));
}

/// Explicit force and implicit diagonal of one dof without its spring; where the actuator's limit
/// acts it is a constant and the gains leave M^.
void dof_force(const Parameters& p,
               const Control& control,
               int dof,
               double position_error,
               double v,
               double dt,
               Saturation saturation,
               DynamicsWorkspace& work) {
  const double d = p.damping[dof], limit = p.effort_limit[dof];
  double kp = p.kp[dof], kd = p.kd[dof];
  double force = wanted_force(p, control, dof, position_error, v);
  if (saturation == Saturation::kOfStart) work.saturated[dof] = (force > limit) - (force < -limit);
  if (work.saturated[dof]) {
    force = std::copysign(limit, static_cast<double>(work.saturated[dof]));
    kp = kd = 0.0;
  } else if (kp != 0.0) {
    force -= kp * dt * v;
  }
  work.force[dof] = force - d * v;
  work.implicit_diagonal[dof] = p.armature[dof] + dt * (d + kd) + dt * dt * kp;
}

/// A spring of stiffness k pulls with k (rest - q - dt v+), whatever the actuator does.
void add_spring(
    const Parameters& p, int dof, double error, double v, double dt, DynamicsWorkspace& work) {
  const double k = p.spring_stiffness[dof];
  work.force[dof] += k * (error - dt * v);
  work.implicit_diagonal[dof] += dt * dt * k;
}

/// The side of its limit that a servo is on when it asks for `wanted` at the end of a step that it
/// spent on the side `now`. Who is at a limit stays there to the end of the step unless it asks for
/// more than the limit the other way by then, and would be thrown back in the next step: who merely
/// leaves its limit acts freely from the next step on, stably, and the error is of first order.
std::int8_t side_at_end(std::int8_t now, double wanted, double limit) {
  if (now != 0) return limit > 0.0 && now * wanted < -limit ? std::int8_t{0} : now;
  const double most = (1.0 + kEffortExcess) * limit;
  return static_cast<std::int8_t>((wanted > most) - (wanted < -most));
}

}  // namespace

void tree_forces(const Tree& tree,
                 const Parameters& p,
                 const double* q,
                 const double* v,
                 const Control& control,
                 double dt,
                 Saturation saturation,
                 DynamicsWorkspace& work) {
  for (int b = 0; b < tree.num_bodies; ++b) {
    const int first = tree.v_index[b], n = joint_nv(tree.joint[b]);
    const double* joint_q = q + tree.q_offset + tree.q_index[b];
    for (int k = 0; k < n; ++k) {
      const int dof = tree.v_offset + first + k;
      const double error = position_error(p, control, tree.joint[b], dof, joint_q);
      dof_force(p, control, dof, error, v[dof], dt, saturation, work);
      if (n == 1 && p.spring_stiffness[dof] != 0.0)
        add_spring(p, dof, spring_error(p, tree.joint[b], dof, joint_q), v[dof], dt, work);
    }
  }
}

bool saturate_at_end(const Scene& scene,
                     const Parameters& p,
                     const State& state,
                     const double* dv,
                     const Control& control,
                     double dt,
                     DynamicsWorkspace& work) {
  bool changed = false;
  for (std::size_t t = 0; t < scene.trees().size(); ++t) {
    const Tree& tree = scene.trees()[t];
    for (int b = 0; b < tree.num_bodies && !work.asleep[t]; ++b) {
      const int dof = tree.v_offset + tree.v_index[b];
      if (joint_nv(tree.joint[b]) != 1 || (p.kp[dof] == 0.0 && p.kd[dof] == 0.0)) continue;
      std::int8_t& side = work.saturated[dof];
      const double v = state.v[dof] + dv[dof];
      const double* q = state.q.data() + tree.q_offset + tree.q_index[b];
      const double error = position_error(p, control, tree.joint[b], dof, q) - dt * v;
      const std::int8_t now =
          side_at_end(side, wanted_force(p, control, dof, error, v), p.effort_limit[dof]);
      changed |= now != side;
      side = now;
    }
  }
  return changed;
}

double spring_error(const Parameters& p, JointType joint, int dof, const double* q) {
  return joint_position_error(joint, q, p.spring_rest[dof]);
}

double spring_energy(const Scene& scene, const Parameters& p, const double* q) {
  double sum = 0.0;
  for (int k = 0; k < scene.nv(); ++k) {
    if (p.spring_stiffness[k] == 0.0) continue;
    const Tree& tree = scene.trees()[scene.tree_of_dof(k)];
    const int b = tree.joint_of_dof[k - tree.v_offset];
    const double error = spring_error(p, tree.joint[b], k, q + tree.q_offset + tree.q_index[b]);
    sum += 0.5 * p.spring_stiffness[k] * error * error;
  }
  return sum;
}

double rotor_energy(const Parameters& p, const double* v) {
  double sum = 0.0;
  for (std::size_t k = 0; k < p.armature.size(); ++k) sum += 0.5 * p.armature[k] * v[k] * v[k];
  return sum;
}

void joint_forces(const Scene& scene,
                  const Parameters& parameters,
                  const double* q,
                  const double* v,
                  const Control& control,
                  double s,
                  DynamicsWorkspace& work) {
  for (const Tree& tree : scene.trees())
    tree_forces(tree, parameters, q, v, control, s, Saturation::kOfStart, work);
}

}  // namespace stiction
