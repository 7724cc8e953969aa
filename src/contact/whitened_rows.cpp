#include "contact/constraint_row.hpp"
#include "contact/one_tree_rows.hpp"
#include "dynamics/constraint_rows.hpp"

#include <algorithm>
#include <cmath>
#include <type_traits>

// J of the rows, kept by the chain of each side, and Z = L^-T J^T, by chain too or dense by dof
// (one_tree_rows.hpp). Which of the two it is no caller sees.

namespace stiction {
namespace {

/// visit(side, r, start, n) for the blocks of n = 3 rows, or the single row, of all sides.
template <class Visit>
void each_block(const ConstraintRow& row, Visit&& visit) {
  for (int s = 0; s < row.num_sides; ++s) {
    const RowSide& side = row.sides[s];
    if (row.set.dim == 1) visit(side, 0, side.start, std::integral_constant<int, 1>{});
    for (int r = 0; r + 3 <= row.set.dim; r += 3)
      visit(side, r, side.start + r * side.length, std::integral_constant<int, 3>{});
  }
}

/// J^T -> Z = L^-T J^T in place, and D^-1 Z.
void whiten(const DynamicsWorkspace& dynamics, const ConstraintRow& row, WhitenedRows& out) {
  each_block(row, [&](const RowSide& side, int, int start, auto n) {
    const TreeView& view = dynamics.views[side.tree];
    const TreeData<double>& data = dynamics.trees[side.tree];
    double* z = out.z.data() + start;
    whiten_rows<n>(view, data, side.last_dof, z);
    scale_rows<n>(view, data, side.last_dof, z, out.scaled.data() + start);
  });
}

/// out += rows x over the sides, x indexed by scene dof: J v, or (D^-1 Z)^T w.
void multiply(const Scene& scene,
              const DynamicsWorkspace& dynamics,
              const ConstraintRow& row,
              const std::vector<double>& rows,
              const double* x,
              double* out) {
  each_block(row, [&](const RowSide& side, int r, int start, auto n) {
    const double* tree_x = x + scene.trees()[side.tree].v_offset;
    rows_times<n>(dynamics.views[side.tree], side.last_dof, rows.data() + start, tree_x, out + r);
  });
}

/// out += entries lambda over the sides: J^T lambda, or Z lambda.
void multiply_transpose(const Scene& scene,
                        const DynamicsWorkspace& dynamics,
                        const ConstraintRows& rows,
                        const std::vector<double>& entries,
                        const double* lambda,
                        double* out) {
  for (const ConstraintRow& row : rows.rows) {
    each_block(row, [&](const RowSide& side, int r, int start, auto n) {
      const double* z = entries.data() + start;
      double* tree_out = out + scene.trees()[side.tree].v_offset;
      add_impulse<n>(dynamics.views[side.tree], side.last_dof, z, lambda + r, tree_out);
    });
    lambda += row.set.dim;
  }
}

}  // namespace

void accumulate_velocity(const RowContext& context, ConstraintRow& row) {
  const double* v = context.state.v.data();
  multiply(context.scene, context.dynamics, row, context.out.jacobian, v, row.velocity);
}

void add_row_motion(const Scene& scene,
                    const DynamicsWorkspace& dynamics,
                    const ConstraintRows& rows,
                    const double* x,
                    std::vector<double>& out) {
  double* c = out.data();
  for (const ConstraintRow& row : rows.rows) {
    multiply(scene, dynamics, row, rows.jacobian, x, c);
    c += row.set.dim;
  }
}

void add_row_forces(const Scene& scene,
                    const DynamicsWorkspace& dynamics,
                    const ConstraintRows& rows,
                    const std::vector<double>& x,
                    std::vector<double>& out) {
  multiply_transpose(scene, dynamics, rows, rows.jacobian, x.data(), out.data());
}

void assemble_rows(const Scene& scene,
                   const DynamicsWorkspace& dynamics,
                   ConstraintRows& rows,
                   ContactProblem& problem) {
  number_sets(scene, rows, problem);
  WhitenedRows& out = rows.whitened;
  // Trees asleep have rows elsewhere: the awake one takes the way that it would take beside them.
  const int tree = out.one_tree.tree = dynamics.num_asleep > 0 ? -1 : common_tree(rows);
  if (tree >= 0) {
    whiten_one_tree(dynamics, tree, scene.trees()[tree].nv, problem, rows);
    assemble_one_tree(dynamics, rows, problem);
  } else {
    out.z = rows.jacobian;
    out.scaled.resize(out.z.size());
    for (const ConstraintRow& row : rows.rows) whiten(dynamics, row, out);
    assemble_delassus(scene, rows, problem);
  }
}

void add_row_velocity(const Scene& scene,
                      const DynamicsWorkspace& dynamics,
                      ConstraintRows& rows,
                      const double* w,
                      std::vector<double>& out) {
  if (const int tree = rows.whitened.one_tree.tree; tree >= 0)
    return add_free_velocity(w + scene.trees()[tree].v_offset, rows.whitened.one_tree, out);
  double* c = out.data();
  for (const ConstraintRow& row : rows.rows) {
    multiply(scene, dynamics, row, rows.whitened.scaled, w, c);
    c += row.set.dim;
  }
}

void velocity_change(const Scene& scene,
                     const DynamicsWorkspace& dynamics,
                     ConstraintRows& rows,
                     const double* w,
                     const std::vector<double>& impulse,
                     double* out) {
  const int nv = scene.nv();
  if (w != nullptr) {
    std::copy(w, w + nv, out);
  } else {
    std::fill(out, out + nv, 0.0);
  }
  if (const int tree = rows.whitened.one_tree.tree; tree >= 0) {
    add_impulses(impulse, rows.whitened.one_tree, out + scene.trees()[tree].v_offset);
  } else {
    multiply_transpose(scene, dynamics, rows, rows.whitened.z, impulse.data(), out);
  }
  solve_scaled_lower(scene, dynamics, out);
}

void row_motion(const RowContext& context,
                const ConstraintRow& row,
                int offset,
                int first,
                int dim,
                const double* lambda,
                int tree,
                double* u) {
  const int nv = context.scene.trees()[tree].nv;
  std::fill(u, u + nv, 0.0);
  const WhitenedRows& rows = context.out.whitened;
  if (const OneTreeRows& Y = rows.one_tree; Y.tree >= 0) {
    for (int k = 0; k < nv; ++k) {
      const double* y = Y.y.data() + static_cast<std::size_t>(k) * Y.width + offset + first;
      for (int r = 0; r < dim; ++r) u[k] += Y.root[k] * y[r] * lambda[r];
    }
    return;
  }
  const TreeView& view = context.dynamics.views[tree];
  const int block = row.set.dim == 1 ? 1 : 3;  // rows interleaved
  for (int s = 0; s < row.num_sides; ++s) {
    const RowSide& side = row.sides[s];
    if (side.tree != tree) continue;
    const int* chain = view.chain + view.row[side.last_dof];
    for (int r = 0; r < dim; ++r) {
      const int at = first + r;
      const double* z =
          rows.scaled.data() + side.start + (at / block) * block * side.length + at % block;
      for (int m = 0; m < side.length; ++m) u[chain[m]] += z[block * m] * lambda[r];
    }
  }
}

/// The dofs of both chains, each once: chains are ascending.
static void append_touched(const ConstraintRow& row,
                           const DynamicsWorkspace& dynamics,
                           std::vector<int>& out) {
  const std::size_t first = out.size();
  for (int s = 0; s < row.num_sides; ++s) {
    const TreeView& view = dynamics.views[row.sides[s].tree];
    const int* chain = view.chain + view.row[row.sides[s].last_dof];
    const std::size_t middle = out.size();
    out.insert(out.end(), chain, chain + row.sides[s].length);
    std::inplace_merge(out.begin() + first, out.begin() + middle, out.end());
  }
  out.erase(std::unique(out.begin() + first, out.end()), out.end());
}

void append_whitened_entries(const Scene& scene,
                             const DynamicsWorkspace& dynamics,
                             const ConstraintRows& rows,
                             int set,
                             int offset,
                             std::vector<int>& dofs,
                             std::vector<double>& values) {
  const ConstraintRow& row = rows.rows[set];
  const int dim = row.set.dim;
  if (const OneTreeRows& Y = rows.whitened.one_tree; Y.tree >= 0) {
    const std::size_t first = dofs.size();
    append_touched(row, dynamics, dofs);
    for (std::size_t k = first; k < dofs.size(); ++k) {
      const double* y = Y.y.data() + static_cast<std::size_t>(dofs[k]) * Y.width + offset;
      values.insert(values.end(), y, y + dim);
      dofs[k] += scene.trees()[Y.tree].v_offset;
    }
    return;
  }
  for (int s = 0; s < row.num_sides; ++s) {
    const RowSide& side = row.sides[s];
    const TreeView& view = dynamics.views[side.tree];
    const int* chain = view.chain + view.row[side.last_dof];
    const int block = dim == 1 ? 1 : 3;
    for (int m = 0; m < side.length; ++m) {
      const double root = std::sqrt(dynamics.trees[side.tree].D_inverse[chain[m]]);
      dofs.push_back(scene.trees()[side.tree].v_offset + chain[m]);
      for (int r = 0; r < dim; ++r) {
        const int at = side.start + (r / block) * block * side.length + block * m + r % block;
        values.push_back(root * rows.whitened.z[at]);
      }
    }
  }
}

void keep_trees(const Scene& scene,
                const DynamicsWorkspace& dynamics,
                const ConstraintRows& rows,
                ContactProblem::Trees& trees) {
  trees.sides.clear();
  if (rows.whitened.one_tree.tree >= 0) return;
  trees.side_start.assign(1, 0);
  trees.dofs.clear();
  for (const ConstraintRow& row : rows.rows) {
    for (int s = 0; s < row.num_sides; ++s) {
      const RowSide& side = row.sides[s];
      const TreeView& view = dynamics.views[side.tree];
      const int* chain = view.chain + view.row[side.last_dof];
      trees.sides.push_back(
          {side.tree, side.length, static_cast<int>(trees.dofs.size()), side.start});
      trees.dofs.insert(trees.dofs.end(), chain, chain + side.length);
    }
    trees.side_start.push_back(static_cast<int>(trees.sides.size()));
  }
  trees.z = rows.whitened.z;
  trees.tree_start.clear();
  trees.inertia.clear();
  for (std::size_t t = 0; t < scene.trees().size(); ++t) {
    trees.tree_start.push_back(static_cast<int>(trees.inertia.size()));
    for (int k = 0; k < scene.trees()[t].nv; ++k)
      trees.inertia.push_back(1.0 / dynamics.trees[t].D_inverse[k]);
  }
  trees.tree_start.push_back(static_cast<int>(trees.inertia.size()));
}

}  // namespace stiction
