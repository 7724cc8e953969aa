#include "contact/constraint_row.hpp"
#include "contact/loose_rows.hpp"
#include "contact/rows_by_dof.hpp"
#include "dynamics/constraint_rows.hpp"
#include "dynamics/mass_matrix.hpp"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <type_traits>

// J of the rows, kept by the chain of each side, and Z = L^-T J^T, by chain too or dense by dof
// (rows_by_dof.hpp). Which of the two it is no caller sees but the compliant integrators.

namespace stiction {
namespace {

/// visit(std::integral_constant<int, n>) of the rows of a block.
template <class Visit>
void with_rows(int n, Visit&& visit) {
  if (n == 1) return visit(std::integral_constant<int, 1>{});
  with_dim(n, visit);
}

/// visit(side, r, start, n) for the blocks of n rows from row r on, of all sides.
template <class Visit>
void each_block(const ConstraintRow& row, Visit&& visit) {
  const int block = ContactProblem::tree_block(row.set);
  assert(row.set.dim % block == 0);
  with_rows(block, [&](auto n) {
    for (int s = 0; s < row.num_sides; ++s) {
      const RowSide& side = row.sides[s];
      for (int r = 0; r < row.set.dim; r += n) visit(side, r, side.start + r * side.length, n);
    }
  });
}

/// Z = L^-T J^T, and D^-1 Z.
void whiten(const DynamicsWorkspace& dynamics,
            const ConstraintRow& row,
            const std::vector<double>& jacobian,
            WhitenedRows& out) {
  each_block(row, [&](const RowSide& side, int, int start, auto n) {
    const TreeView& view = dynamics.views[side.tree];
    const TreeData<double>& data = dynamics.trees[side.tree];
    double* z = out.z(start);
    std::copy_n(jacobian.data() + start, n * side.length, z);
    whiten_rows<n>(view, data, side.last_dof, z);
    scale_rows<n>(view, data, side.last_dof, z, out.scaled(start));
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

/// out += entries lambda over the sides of a row: J^T lambda, or Z lambda.
void multiply_transpose(const Scene& scene,
                        const DynamicsWorkspace& dynamics,
                        const ConstraintRow& row,
                        const std::vector<double>& entries,
                        const double* lambda,
                        double* out) {
  each_block(row, [&](const RowSide& side, int r, int start, auto n) {
    const double* z = entries.data() + start;
    double* tree_out = out + scene.trees()[side.tree].v_offset;
    add_impulse<n>(dynamics.views[side.tree], side.last_dof, z, lambda + r, tree_out);
  });
}

/// out += L^-T J^T lambda: of a loose row J^T lambda first, whitened once for each body.
void add_whitened_impulses(const Scene& scene,
                           const DynamicsWorkspace& dynamics,
                           const ConstraintRows& rows,
                           const double* lambda,
                           std::vector<double>& force,
                           double* out) {
  force.assign(scene.nv(), 0.0);
  for (const ConstraintRow& row : rows.rows) {
    multiply_transpose(scene,
                       dynamics,
                       row,
                       row.loose ? rows.jacobian : rows.whitened.z(),
                       lambda,
                       row.loose ? force.data() : out);
    lambda += row.set.dim;
  }
  for (std::size_t t = 0; t < rows.loose_bodies.size(); ++t) {
    if (!rows.loose_bodies[t].free) continue;
    double* f = force.data() + scene.trees()[t].v_offset;
    solve_transposed(dynamics.views[t], dynamics.trees[t], f);
    for (int k = 0; k < scene.trees()[t].nv; ++k) out[scene.trees()[t].v_offset + k] += f[k];
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
  const double* force = x.data();
  for (const ConstraintRow& row : rows.rows) {
    multiply_transpose(scene, dynamics, row, rows.jacobian, force, out.data());
    force += row.set.dim;
  }
}

void assemble_rows(const Scene& scene,
                   const DynamicsWorkspace& dynamics,
                   ConstraintRows& rows,
                   RowScratch& scratch,
                   ContactProblem& problem,
                   const Parameters* parameters) {
  number_sets(scene, rows, scratch, problem);
  WhitenedRows& out = rows.whitened;
  problem.space.sides.clear();
  // Trees asleep have rows elsewhere: the awake one takes the way that it would take beside them.
  const int tree = dynamics.num_asleep > 0 ? -1 : common_tree(rows);
  if (tree >= 0) {
    whiten_rows_by_dof(dynamics, scene.trees()[tree].nv, problem, rows, out.begin_by_dof(tree));
    assemble_rows_by_dof(dynamics, rows, scratch, problem);
    problem.copy_diagonal();
    if (worth_tree_space(problem.num_rows(), scene.trees()[tree].nv))
      fill_space_by_dof(scene, dynamics, rows, scratch, problem);
    return;
  }
  if (parameters != nullptr) find_loose_islands(scene, *parameters, dynamics, problem, rows);
  out.begin_trees(rows.jacobian.size());
  for (const ConstraintRow& row : rows.rows) {
    if (!row.loose) whiten(dynamics, row, rows.jacobian, out);
  }
  assemble_delassus(scene, rows, scratch, problem);
  problem.copy_diagonal();
  if (parameters != nullptr) fill_space(scene, dynamics, rows, problem);
}

namespace {

/// out [nv] <- L^-1 D^-1 w of the trees that carry loose rows.
void find_free_change(const Scene& scene,
                      const DynamicsWorkspace& dynamics,
                      const ConstraintRows& rows,
                      const double* w,
                      std::vector<double>& out) {
  out.resize(scene.nv());
  for (std::size_t t = 0; t < scene.trees().size(); ++t) {
    if (t >= rows.loose_bodies.size() || !rows.loose_bodies[t].free) continue;
    const int first = scene.trees()[t].v_offset;
    std::copy_n(w + first, scene.trees()[t].nv, out.begin() + first);
    solve_scaled_lower(dynamics.views[t], dynamics.trees[t], out.data() + first);
  }
}

}  // namespace

void add_row_velocity(const Scene& scene,
                      const DynamicsWorkspace& dynamics,
                      const ConstraintRows& rows,
                      const double* w,
                      RowScratch& scratch,
                      std::vector<double>& out) {
  if (const RowsByDof* Y = rows.whitened.by_dof())
    return add_free_velocity(w + scene.trees()[Y->tree].v_offset, *Y, scratch, out);
  find_free_change(scene, dynamics, rows, w, scratch.by_dof);
  double* c = out.data();
  for (const ConstraintRow& row : rows.rows) {
    if (row.loose)
      multiply(scene, dynamics, row, rows.jacobian, scratch.by_dof.data(), c);
    else
      multiply(scene, dynamics, row, rows.whitened.scaled(), w, c);
    c += row.set.dim;
  }
}

void velocity_change(const Scene& scene,
                     const DynamicsWorkspace& dynamics,
                     const ConstraintRows& rows,
                     const double* w,
                     const std::vector<double>& impulse,
                     RowScratch& scratch,
                     double* out) {
  const int nv = scene.nv();
  if (w != nullptr) {
    std::copy(w, w + nv, out);
  } else {
    std::fill(out, out + nv, 0.0);
  }
  const RowsByDof* Y = rows.whitened.by_dof();
  if (Y == nullptr) {
    add_whitened_impulses(scene, dynamics, rows, impulse.data(), scratch.by_dof, out);
    return solve_scaled_lower(scene, dynamics, out);
  }
  for (std::size_t t = 0; t < scene.trees().size(); ++t) {
    const TreeData<double>& data = dynamics.trees[t];
    double* own = out + scene.trees()[t].v_offset;
    for (int k = 0; k < scene.trees()[t].nv; ++k) own[k] *= data.D_inverse[k];
    if (static_cast<int>(t) == Y->tree) add_impulses(impulse, rows.rows, *Y, scratch, own);
    solve_lower(dynamics.views[t], data, own);
  }
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
  if (const RowsByDof* Y = rows.by_dof()) {
    for (int k = 0; k < nv; ++k) {
      const double* y = Y->y.data() + static_cast<std::size_t>(k) * Y->width + offset + first;
      for (int r = 0; r < dim; ++r) u[k] += Y->root[k] * y[r] * lambda[r];
    }
    return;
  }
  const TreeView& view = context.dynamics.views[tree];
  const int block = ContactProblem::tree_block(row.set);
  const std::vector<double>& entries = row.loose ? context.out.jacobian : rows.scaled();
  for (int s = 0; s < row.num_sides; ++s) {
    const RowSide& side = row.sides[s];
    if (side.tree != tree) continue;
    const int* chain = view.chain + view.row[side.last_dof];
    for (int r = 0; r < dim; ++r) {
      const int at = first + r;
      const double* z =
          entries.data() + side.start + (at / block) * block * side.length + at % block;
      for (int m = 0; m < side.length; ++m) u[chain[m]] += z[block * m] * lambda[r];
    }
  }
  if (!row.loose) return;
  const TreeData<double>& data = context.dynamics.trees[tree];
  solve_transposed(view, data, u);
  for (int k = 0; k < nv; ++k) u[k] *= data.D_inverse[k];
}

/// The dofs of both chains, each once, ascending. (std::inplace_merge would allocate.)
static void append_touched(const ConstraintRow& row,
                           const DynamicsWorkspace& dynamics,
                           std::vector<int>& out) {
  const std::size_t first = out.size();
  for (int s = 0; s < row.num_sides; ++s) {
    const TreeView& view = dynamics.views[row.sides[s].tree];
    const int* chain = view.chain + view.row[row.sides[s].last_dof];
    out.insert(out.end(), chain, chain + row.sides[s].length);
  }
  std::sort(out.begin() + first, out.end());
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
  if (const RowsByDof* Y = rows.whitened.by_dof()) {
    const std::size_t first = dofs.size();
    append_touched(row, dynamics, dofs);
    for (std::size_t k = first; k < dofs.size(); ++k) {
      const double* y = Y->y.data() + static_cast<std::size_t>(dofs[k]) * Y->width + offset;
      values.insert(values.end(), y, y + dim);
      dofs[k] += scene.trees()[Y->tree].v_offset;
    }
    return;
  }
  for (int s = 0; s < row.num_sides; ++s) {
    const RowSide& side = row.sides[s];
    const TreeView& view = dynamics.views[side.tree];
    const int* chain = view.chain + view.row[side.last_dof];
    const int block = ContactProblem::tree_block(row.set);
    double own[kMaxSetDim * kRootDofs];
    if (row.loose) {
      std::copy_n(rows.jacobian.data() + side.start, dim * side.length, own);
      with_rows(dim, [&](auto n) {
        whiten_rows<n>(view, dynamics.trees[side.tree], side.last_dof, own);
      });
    }
    const double* z = row.loose ? own : rows.whitened.z().data() + side.start;
    for (int m = 0; m < side.length; ++m) {
      const double root = std::sqrt(dynamics.trees[side.tree].D_inverse[chain[m]]);
      dofs.push_back(scene.trees()[side.tree].v_offset + chain[m]);
      for (int r = 0; r < dim; ++r)
        values.push_back(root * z[(r / block) * block * side.length + block * m + r % block]);
    }
  }
}

void fill_space(const Scene& scene,
                const DynamicsWorkspace& dynamics,
                const ConstraintRows& rows,
                ContactProblem& problem) {
  ContactSpace& space = problem.space;
  space.side_start.assign(1, 0);
  space.dofs.clear();
  space.z.clear();
  space.inverse.assign(ContactSpace::Side::kLooseRow * scene.trees().size(), 0.0);
  space.motion.resize(space.inverse.size());
  for (const ConstraintRow& row : rows.rows) {
    if (row.loose) {
      append_loose_side(row, rows, space);
    } else {
      for (int s = 0; s < row.num_sides; ++s) {
        const RowSide& side = row.sides[s];
        const TreeView& view = dynamics.views[side.tree];
        const int* chain = view.chain + view.row[side.last_dof];
        space.sides.push_back({side.tree,
                               side.length,
                               static_cast<int>(space.dofs.size()),
                               static_cast<int>(space.z.size())});
        space.dofs.insert(space.dofs.end(), chain, chain + side.length);
        const double* z = rows.whitened.z().data() + side.start;
        space.z.insert(space.z.end(), z, z + row.set.dim * side.length);
      }
    }
    space.side_start.push_back(static_cast<int>(space.sides.size()));
  }
  space.tree_start.clear();
  space.inertia.clear();
  for (std::size_t t = 0; t < scene.trees().size(); ++t) {
    space.tree_start.push_back(static_cast<int>(space.inertia.size()));
    const LooseBody& body = rows.loose_bodies[t];
    const bool loose = space.inverse[ContactSpace::Side::kLooseRow * t] > 0.0;
    for (int k = 0; k < scene.trees()[t].nv; ++k)
      space.inertia.push_back(loose ? body.inertia[k] : 1.0 / dynamics.trees[t].D_inverse[k]);
  }
  space.tree_start.push_back(static_cast<int>(space.inertia.size()));
  fill_loose_blocks(rows, problem);
}

}  // namespace stiction
