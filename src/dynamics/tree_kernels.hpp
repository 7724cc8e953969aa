#pragma once

#include "dynamics/tree_data.hpp"

// The kernels of one tree for a world alone, compiled for the registers of each processor
// (math/clones.hpp).

namespace stiction {

/// forward_kinematics().
void place_and_move(const TreeView& tree,
                    const TreeParameters<double>& parameters,
                    const double* q,
                    const double* v,
                    TreeData<double>& data);

/// forward_velocities().
void move_placed(const TreeView& tree,
                 const TreeParameters<double>& parameters,
                 const double* v,
                 TreeData<double>& data);

/// body_inertias_and_forces().
void find_inertias_and_forces(const TreeView& tree,
                              const TreeParameters<double>& parameters,
                              TreeData<double>& data);

/// loose_body_bias().
void find_loose_bias(const TreeParameters<double>& parameters, double dt, TreeData<double>& data);

/// mass_matrix().
void find_mass_matrix(const TreeView& tree, TreeData<double>& data);

/// factorise(), then solve_transposed() of w.
void factorise_and_whiten(const TreeView& tree, TreeData<double>& data, double* w);

}  // namespace stiction
