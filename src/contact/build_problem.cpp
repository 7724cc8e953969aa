#include "stiction/contact/build_problem.hpp"

#include "contact/one_tree_rows.hpp"
#include "dynamics/constraint_rows.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <string>

namespace stiction {
namespace {

/// Blocks of 3 rows, or the single row, of a side.
template <class Visit>
void each_block(const ConstraintRow& row, const RowSide& side, Visit&& visit) {
  for (int r = 0; r < row.set.dim; r += 3) visit(r, side.z + r * side.length);
}

/// J^T -> Z = L^-T J^T, and D^-1 Z.
void whiten(const DynamicsWorkspace& dynamics, const ConstraintRow& row, ConstraintRows& rows) {
  for (int s = 0; s < row.num_sides; ++s) {
    const RowSide& side = row.sides[s];
    each_block(row, side, [&](int, int start) {
      const TreeView& view = dynamics.views[side.tree];
      const TreeData<double>& data = dynamics.trees[side.tree];
      double* z = rows.z.data() + start;
      if (row.set.dim == 1) {
        whiten_rows<1>(view, data, side.last_dof, z);
        scale_rows<1>(view, data, side.last_dof, z, rows.scaled.data() + start);
      } else {
        whiten_rows<3>(view, data, side.last_dof, z);
        scale_rows<3>(view, data, side.last_dof, z, rows.scaled.data() + start);
      }
    });
  }
}

/// out += rows x over the sides, x indexed by scene dof: J v, or (D^-1 Z)^T w.
void multiply(const Scene& scene,
              const DynamicsWorkspace& dynamics,
              const ConstraintRow& row,
              const double* rows,
              const double* x,
              double* out) {
  for (int s = 0; s < row.num_sides; ++s) {
    const RowSide& side = row.sides[s];
    const double* tree_x = x + scene.trees()[side.tree].v_offset;
    each_block(row, side, [&](int r, int start) {
      const TreeView& view = dynamics.views[side.tree];
      if (row.set.dim == 1) {
        rows_times<1>(view, side.last_dof, rows + start, tree_x, out + r);
      } else {
        rows_times<3>(view, side.last_dof, rows + start, tree_x, out + r);
      }
    });
  }
}

}  // namespace

double* add_side(const RowContext& context, int body, ConstraintRow& row) {
  if (body < 0) return nullptr;
  const int t = context.scene.tree_of_body(body);
  const Tree& tree = context.scene.trees()[t];
  const int local = body - tree.body_offset, last = tree.last_dof[local],
            length = tree.depth[last] + 1;
  const int start = static_cast<int>(context.out.z.size());
  row.sides[row.num_sides++] = {t, local, last, length, start};
  context.out.z.resize(start + row.set.dim * length);
  return context.out.z.data() + start;
}

void add_dof_side(const RowContext& context, int dof, double coefficient, ConstraintRow& row) {
  const int t = context.scene.tree_of_dof(dof);
  const Tree& tree = context.scene.trees()[t];
  const int last = dof - tree.v_offset, length = tree.depth[last] + 1;
  const int start = static_cast<int>(context.out.z.size());
  row.sides[row.num_sides++] = {t, tree.joint_of_dof[last], last, length, start};
  context.out.z.resize(start + length, 0.0);
  std::fill(context.out.z.begin() + start, context.out.z.end(), 0.0);
  context.out.z.back() = coefficient;
}

static double largest(const Vec3d& x) {
  return std::max(std::max(std::abs(x.x), std::abs(x.y)), std::abs(x.z));
}

double point_floor(const RowContext& context, const ConstraintRow& row, const Vec3d& p) {
  double length = largest(p), speed = 0.0;
  for (int s = 0; s < row.num_sides; ++s) {
    const TreeData<double>& data = context.dynamics.trees[row.sides[s].tree];
    const Motion<double>& V = data.V[row.sides[s].body];
    const double arm = largest(p - data.X_WR.p);
    length = std::max(length, arm);
    speed = std::max(speed, largest(V.linear) + largest(V.angular) * arm);
  }
  return rounding_of(length, context.dt, speed);
}

void accumulate_velocity(const RowContext& context, ConstraintRow& row) {
  multiply(context.scene,
           context.dynamics,
           row,
           context.out.z.data(),
           context.state.v.data(),
           row.velocity);
}

/// g, R and the compliance on the diagonal of G.
static void fill_vectors(const RowContext& context,
                         const ContactSet& contacts,
                         ContactProblem& problem) {
  ConstraintRows& rows = context.out;
  const double* w = context.dynamics.whitened.data();
  const int tree = rows.one_tree.tree;
  for (std::size_t i = 0; i < rows.rows.size(); ++i) {
    const ConstraintRow& row = rows.rows[i];  // J v_free = J v + Z^T D^-1 w
    double* g = problem.g.data() + problem.sets[i].offset;
    std::copy(row.velocity, row.velocity + row.set.dim, g);
    if (tree < 0) multiply(context.scene, context.dynamics, row, rows.scaled.data(), w, g);
  }
  if (tree >= 0) add_free_velocity(rows, w + context.scene.trees()[tree].v_offset, problem.g);
  limit_recovery(context, problem);
  const double immovable = 1e-13 * problem.largest_diagonal(0, problem.num_sets());
  for (std::size_t i = 0; i < rows.rows.size(); ++i) {
    ConstraintRow& row = rows.rows[i];
    const int offset = problem.sets[i].offset, step = ContactProblem::stride(row.set.dim) + 1;
    double* g = problem.g.data() + offset;
    double free = std::abs(g[0]);
    for (int r = 1; r < row.set.dim; ++r) free = std::max(free, std::abs(g[r]));
    problem.velocity_floor[i] = row.velocity_floor + rounding_of(0.0, context.dt, free);
    if (row.source == RowSource::kContact)
      apply_restitution(context, contacts[row.index], g[2], row);
    // Where no dof moves along a normal (a turntable on its floor) the joints carry the load and
    // no impulse could do what the gap asks for.
    const int normal = row.set.dim - 1;
    if (row.source == RowSource::kContact &&
        problem.values[problem.diagonal_start[i] + step * normal] <= immovable) {
      row.kind = ReferenceKind::kImmovable;
      row.reference[normal] = g[normal];
    }
    for (int r = 0; r < row.set.dim; ++r) {
      g[r] -= row.reference[r];
      problem.compliance[offset + r] = row.compliance[r];
      problem.values[problem.diagonal_start[i] + step * r] += row.compliance[r];
    }
  }
}

void assemble_rows(const Scene& scene,
                   const DynamicsWorkspace& dynamics,
                   ConstraintRows& rows,
                   ContactProblem& problem) {
  number_sets(scene, rows, problem);
  // Trees asleep have rows elsewhere: the awake one takes the way that it would take beside them.
  const int tree = rows.one_tree.tree = dynamics.num_asleep > 0 ? -1 : common_tree(rows);
  if (tree >= 0) {
    whiten_one_tree(dynamics, tree, scene.trees()[tree].nv, problem, rows);
    assemble_one_tree(dynamics, rows, problem);
  } else {
    rows.scaled.resize(rows.z.size());
    for (const ConstraintRow& row : rows.rows) whiten(dynamics, row, rows);
    assemble_delassus(scene, rows, problem);
  }
}

void add_row_velocity(const Scene& scene,
                      const DynamicsWorkspace& dynamics,
                      ConstraintRows& rows,
                      const ContactProblem& problem,
                      const double* w,
                      std::vector<double>& out) {
  if (const int tree = rows.one_tree.tree; tree >= 0)
    return add_free_velocity(rows, w + scene.trees()[tree].v_offset, out);
  for (std::size_t i = 0; i < rows.rows.size(); ++i) {
    multiply(
        scene, dynamics, rows.rows[i], rows.scaled.data(), w, out.data() + problem.sets[i].offset);
  }
}

void add_row_motion(const Scene& scene,
                    const DynamicsWorkspace& dynamics,
                    const ConstraintRows& rows,
                    const double* x,
                    std::vector<double>& out) {
  int offset = 0;
  for (const ConstraintRow& row : rows.rows) {
    multiply(scene, dynamics, row, rows.z.data(), x, out.data() + offset);
    offset += row.set.dim;
  }
}

void build_problem(const Scene& scene,
                   const Parameters& parameters,
                   const State& state,
                   const ContactSet& contacts,
                   const ContactSettings& settings,
                   double dt,
                   const DynamicsWorkspace& dynamics,
                   ConstraintRows& rows,
                   ContactProblem& problem,
                   std::vector<double>& impulse) {
  rows.rows.clear();
  rows.z.clear();
  const RowContext context{scene, parameters, state, settings, dt, dynamics, rows};
  append_contact_rows(context, contacts);
  append_joint_rows(context);
  append_closure_rows(context);
  assemble_rows(scene, dynamics, rows, problem);
  problem.trees.sides.clear();
  if (rows.one_tree.tree < 0) keep_trees(scene, dynamics, rows, problem.trees);
  fill_vectors(context, contacts, problem);
  load_impulses(scene, state, contacts, dynamics, rows, problem, impulse);
}

void add_impulses(ConstraintRows& rows,
                  const Scene& scene,
                  const DynamicsWorkspace& dynamics,
                  const std::vector<double>& impulse,
                  std::vector<double>& out) {
  if (const int tree = rows.one_tree.tree; tree >= 0)
    return add_impulses(rows, impulse, out.data() + scene.trees()[tree].v_offset);
  add_row_forces(scene, dynamics, rows, impulse, out);
}

void apply_impulses(ConstraintRows& rows,
                    const Scene& scene,
                    const std::vector<double>& impulse,
                    DynamicsWorkspace& dynamics) {
  add_impulses(rows, scene, dynamics, impulse, dynamics.whitened);
}

void add_row_forces(const Scene& scene,
                    const DynamicsWorkspace& dynamics,
                    const ConstraintRows& rows,
                    const std::vector<double>& impulse,
                    std::vector<double>& out) {
  int offset = 0;
  for (const ConstraintRow& row : rows.rows) {
    for (int s = 0; s < row.num_sides; ++s) {
      const RowSide& side = row.sides[s];
      double* w = out.data() + scene.trees()[side.tree].v_offset;
      each_block(row, side, [&](int r, int start) {
        const TreeView& view = dynamics.views[side.tree];
        if (row.set.dim == 1) {
          add_impulse<1>(view, side.last_dof, rows.z.data() + start, impulse.data() + offset, w);
        } else {
          add_impulse<3>(
              view, side.last_dof, rows.z.data() + start, impulse.data() + offset + r, w);
        }
      });
    }
    offset += row.set.dim;
  }
}

}  // namespace stiction
