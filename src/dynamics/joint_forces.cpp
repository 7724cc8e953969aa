#include "dynamics/joint_forces.hpp"

#include "dynamics/servo.hpp"
#include "model/joint.hpp"

namespace stiction {
namespace {

double entry(const Eigen::VectorXd& x, int i) { return x.size() == 0 ? 0.0 : x[i]; }

double wanted_force(
    const Drive<double>& drive, const Control& control, int dof, double position_error, double v) {
  return wanted_force(
      drive, entry(control.torque, dof), position_error, entry(control.velocity_target, dof), v);
}

/// How far a servo is from its target; 0 of dofs that have none.
double position_error(
    const Parameters& p, const Control& control, JointType joint, int dof, const double* q) {
  if (joint_nv(joint) != 1 || p.kp[dof] == 0.0) return 0.0;
  return joint_position_error(joint, q, entry(control.position_target, dof));
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
      const Drive<double> drive = drive_of<double>(p, dof);
      const double wanted = wanted_force(drive, control, dof, error, v[dof]);
      const double side = saturation == Saturation::kOfStart
                              ? side_of_limit(wanted, drive.effort_limit)
                              : work.saturated[dof];
      work.saturated[dof] = static_cast<std::int8_t>(side);
      auto made = ImplicitForce<double>::of(drive, wanted, side, v[dof], dt);
      if (n == 1 && p.spring_stiffness[dof] != 0.0)
        made.add_spring(
            p.spring_stiffness[dof], spring_error(p, tree.joint[b], dof, joint_q), v[dof], dt);
      work.force[dof] = made.force;
      work.implicit_diagonal[dof] = made.diagonal;
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
      const Drive<double> drive = drive_of<double>(p, dof);
      if (joint_nv(tree.joint[b]) != 1 || !has_servo(drive)) continue;
      std::int8_t& side = work.saturated[dof];
      const double v = state.v[dof] + dv[dof];
      const double* q = state.q.data() + tree.q_offset + tree.q_index[b];
      const double error = position_error(p, control, tree.joint[b], dof, q) - dt * v;
      const double wanted = wanted_force(drive, control, dof, error, v);
      const auto now =
          static_cast<std::int8_t>(side_at_end<double>(side, wanted, drive.effort_limit));
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
