#pragma once

#include "derivatives/linearisation.hpp"

namespace stiction {

/// Accelerations (v+ - v) / dt, velocities at the end, and the wrenches on the bodies: those of
/// `moving.constraint_impulse` stay in space. The matrices of the last step are forgotten.
void prepare_trees(const DerivativeInput& in, Linearisation& out);

/// `inverse_dynamics` of every tree that is awake, if it is not known yet.
void find_tree_matrices(const DerivativeInput& in, Linearisation& out);

/// p^T times those of one tree without forming them: by_q, by_v [dofs of the tree].
void tree_gradient(const DerivativeInput& in,
                   Linearisation& linear,
                   int tree,
                   const double* p,
                   double* by_q,
                   double* by_v);

/// The matrices of one tree times dq and dv, likewise, out [dofs of the tree].
void tree_tangent(const DerivativeInput& in,
                  Linearisation& linear,
                  int tree,
                  const double* dq,
                  const double* dv,
                  double* out);

/// What servo, damper and torque of a dof add to its own equation of M^ dv+ [N s per unit].
struct DofForce {
  double by_q, by_v, by_torque;
};
DofForce dof_force_derivatives(const DerivativeInput& in, int dof);

/// visit(tree, first of its dofs in the island).
template <class Visit>
void each_tree(const DerivativeInput& in,
               const Linearisation& linear,
               const DerivativeIsland& island,
               Visit&& visit) {
  int first = 0;
  for (int k = island.first_tree; k < island.last_tree; ++k) {
    visit(linear.trees[k], first);
    first += in.scene.trees()[linear.trees[k]].nv;
  }
}

/// Rows [dofs of the tree] of tangents of q and of changes of v+ in the axes of the start, to those
/// of q+ and v+ in the axes of the end; in place, columns are directions.
void end_tangents(const DerivativeInput& in,
                  const Linearisation& linear,
                  int tree,
                  int stride,
                  int width,
                  double* position,
                  double* velocity);
/// The transposed map of cotangents, in place [dofs of the tree].
void pull_back_end(const DerivativeInput& in,
                   const Linearisation& linear,
                   int tree,
                   double* position,
                   double* velocity);

}  // namespace stiction
