#include "simulator/inverse_maps.hpp"

#include "contact/constraint_row.hpp"
#include "dynamics/column_solves.hpp"
#include "dynamics/mass_matrix.hpp"

namespace stiction {

using Eigen::MatrixXd;
using Eigen::VectorXd;

std::vector<int> loose_dofs(const Scene& scene, const std::vector<int>* actuated) {
  std::vector<std::uint8_t> driven(scene.nv(), 0);
  for (const Tree& tree : scene.trees()) {
    for (int k = 0; k < tree.nv; ++k) {
      const JointType joint = tree.joint[tree.joint_of_dof[k]];
      driven[tree.v_offset + k] =
          joint != JointType::kFreeFlyer && joint != JointType::kSpherical && actuated == nullptr;
    }
  }
  if (actuated != nullptr) {
    for (const int dof : *actuated) driven[dof] = 1;
  }
  std::vector<int> out;
  for (int dof = 0; dof < scene.nv(); ++dof) {
    if (!driven[dof]) out.push_back(dof);
  }
  return out;
}

VectorXd mass_times(const Scene& scene, const DynamicsWorkspace& work, const VectorXd& x) {
  VectorXd out = VectorXd::Zero(scene.nv());
  for (std::size_t t = 0; t < scene.trees().size(); ++t) {
    const int first = scene.trees()[t].v_offset;
    add_mass_times(work.views[t], work.trees[t], x.data() + first, out.data() + first);
  }
  return out;
}

void solve_mass(const Scene& scene, const DynamicsWorkspace& work, double* x) {
  for (std::size_t t = 0; t < scene.trees().size(); ++t)
    solve_transposed(work.views[t], work.trees[t], x + scene.trees()[t].v_offset);
  solve_scaled_lower(scene, work, x);
}

MatrixXd inverse_mass(const Scene& scene,
                      const DynamicsWorkspace& work,
                      const std::vector<int>& dofs) {
  const auto n = static_cast<Eigen::Index>(dofs.size());
  MatrixXd out(n, n);
  VectorXd x(scene.nv());
  for (Eigen::Index k = 0; k < n; ++k) {
    x.setZero();
    x[dofs[k]] = 1.0;
    solve_mass(scene, work, x.data());
    for (Eigen::Index i = 0; i < n; ++i) out(i, k) = x[dofs[i]];
  }
  return out;
}

MatrixXd forces_on(const Scene& scene, const StepRecord& record, const std::vector<int>& dofs) {
  const int rows = record.problem.num_rows();
  MatrixXd out(dofs.size(), rows);
  std::vector<double> unit(rows, 0.0), force;
  for (int r = 0; r < rows; ++r) {
    unit[r] = 1.0;
    force.assign(scene.nv(), 0.0);
    add_row_forces(scene, record.dynamics, record.rows, unit, force);
    unit[r] = 0.0;
    for (std::size_t k = 0; k < dofs.size(); ++k) out(k, r) = force[dofs[k]];
  }
  return out;
}

}  // namespace stiction
