#pragma once

#include "stiction/model/scene.hpp"

#include "integrator/step_record.hpp"
#include <Eigen/Core>

#include <vector>

// Mass and rows of a prepared step as matrices, for the step backwards.

namespace stiction {

/// The dofs without motors; `actuated` null: those of joints with several.
std::vector<int> loose_dofs(const Scene& scene, const std::vector<int>* actuated);

/// M^ x and M^^-1 x, in place.
Eigen::VectorXd mass_times(const Scene& scene,
                           const DynamicsWorkspace& work,
                           const Eigen::VectorXd& x);
void solve_mass(const Scene& scene, const DynamicsWorkspace& work, double* x);

/// Rows and columns of M^^-1 of some dofs.
Eigen::MatrixXd inverse_mass(const Scene& scene,
                             const DynamicsWorkspace& work,
                             const std::vector<int>& dofs);

/// J^T of some dofs [dofs x rows].
Eigen::MatrixXd forces_on(const Scene& scene,
                          const StepRecord& record,
                          const std::vector<int>& dofs);

}  // namespace stiction
