#pragma once

#include "contact/active_set.hpp"
#include "contact/reduced_system.hpp"
#include "derivatives/moving_rows.hpp"
#include "dynamics/inverse_dynamics_products.hpp"

#include <vector>

// One step, linearised about what it did, tree by tree and island by island:
//   M^ dv = J^T dlambda + rhs,   dc = J dv + H,   dlambda = T y,   (W (G + R) T + D) y = -W (...)
// with dv the change of v+ in the axes of the start (src/derivatives/README.md). Columns and
// adjoints are made from it.

namespace stiction {

/// Trees that are joined by rows; a tree without rows is one by itself.
struct DerivativeIsland {
  int first_tree, last_tree;  ///< in Linearisation::trees
  int first_set, last_set;    ///< of the problem; equal: no rows
  int first_row, num_rows;
  int num_dofs;
  int reduced;  ///< in Linearisation::reduced; -1: no rows
  bool asleep;
};

/// Derivatives of inverse dynamics by q and v, [nv_t x nv_t] row-major from start[t] on.
struct TreeMatrices {
  bool known = false;
  std::vector<int> start;  ///< [trees]
  std::vector<double> dq, dv;
  std::vector<PivotedLu> mean;  ///< [trees] of trees whose bias is not at the start
};

/// Scratch of mean_velocity.hpp, by the dofs of a tree.
struct MeanVelocityWork {
  std::vector<double> start, next, column, no_turn, columns;
};

/// Scratch.
struct LinearisationWork {
  std::vector<double> acceleration;                        ///< [nv]
  std::vector<Force<double>> constraint_wrench, wrenches;  ///< [bodies] [N, N m]
  std::vector<double> memory;
  std::vector<double> null, moved;  ///< of a null space
  PivotedLu gram;
  MeanVelocityWork mean_velocity;
  std::vector<AdjointTerms<double>> adjoint;  ///< [bodies]
  std::vector<TangentTerms<double>> tangent;  ///< [bodies]

  const Force<double>* wrenches_on(int body) const {
    return wrenches.empty() ? nullptr : wrenches.data() + body;
  }
};

struct Linearisation {
  MovingRows moving;
  ActiveSet active;
  std::vector<DerivativeIsland> islands;
  std::vector<int> trees;           ///< of the scene, by island
  std::vector<int> island_of_tree;  ///< [trees]
  std::vector<int> local;           ///< [nv] a dof's number in its island
  std::vector<int> dofs;            ///< [nv] the scene's dofs by island
  std::vector<int> first_dof;       ///< [islands] into `dofs`
  std::vector<ReducedSystem> reduced;
  TreeMatrices inverse_dynamics;

  // Y = D^-1/2 L^-T J^T by set: entries (dof, row).
  std::vector<int> entry_start;    ///< [sets + 1]
  std::vector<int> entry_dof;      ///< local to the island
  std::vector<int> value_start;    ///< [sets]
  std::vector<double> y;           ///< dim values an entry
  std::vector<int> unknown_start;  ///< [unknowns]
  std::vector<double> y_t, y_w;    ///< Y t and Y w of each unknown, by the entries of its set

  std::vector<double> end_velocity;  ///< [nv] v+ in the axes of the start

  LinearisationWork work;
};

/// Dimension of the impulses of an island that may change without leaving the equations and that
/// move something.
int moving_nullity(Linearisation& linear, const DerivativeIsland& island);

void linearise(const DerivativeInput& in, Linearisation& out);

}  // namespace stiction
