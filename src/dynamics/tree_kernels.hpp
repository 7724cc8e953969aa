#pragma once

#include "stiction/model/control.hpp"

#include "dynamics/mean_bias.hpp"

#include <vector>

// The kernels of one tree for a world alone, compiled for the registers of each processor
// (math/clones.hpp).

namespace stiction {

/// visit(body of the tree, wrench) of the wrenches on `num_bodies` bodies from `body_offset` on.
template <class Visit>
inline void each_wrench(const std::vector<ExternalWrench>& wrenches,
                        int body_offset,
                        int num_bodies,
                        Visit&& visit) {
  for (const ExternalWrench& w : wrenches) {
    const int b = w.body - body_offset;
    if (b >= 0 && b < num_bodies) visit(b, w);
  }
}

/// Adds those on the bodies of a tree, the first of them `body_offset`.
inline void add_tree_wrenches(const std::vector<ExternalWrench>& wrenches,
                              int body_offset,
                              const TreeView& tree,
                              TreeData<double>& data) {
  each_wrench(wrenches, body_offset, tree.num_bodies, [&](int b, const ExternalWrench& w) {
    add_external_wrench(b, w.force, w.moment, data);
  });
}

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

/// centre_bias() with the wrenches on the tree's bodies, the first of them `body_offset`; whether
/// it converged.
bool find_mean_bias(const TreeView& tree,
                    const TreeParameters<double>& parameters,
                    double dt,
                    int passes,
                    const std::vector<ExternalWrench>& wrenches,
                    int body_offset,
                    const MeanBias<double>& x,
                    TreeData<double>& data);

/// mass_matrix().
void find_mass_matrix(const TreeView& tree, TreeData<double>& data);

/// factorise(), then solve_transposed() of w.
void factorise_and_whiten(const TreeView& tree, TreeData<double>& data, double* w);

}  // namespace stiction
