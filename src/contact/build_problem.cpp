#include "contact/build_problem.hpp"

#include "contact/constraint_row.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <string>

namespace stiction {

const char* to_string(RowSource source) {
  constexpr const char* kNames[] = {
      "contact", "lower_limit", "upper_limit", "limit_recovery", "dry_friction", "closure", "gear"};
  return kNames[static_cast<int>(source)];
}

const char* to_string(ReferenceKind kind) {
  constexpr const char* kNames[] = {"none",
                                    "speculative",
                                    "recovery",
                                    "capped",
                                    "drift",
                                    "restitution",
                                    "spring",
                                    "curvature",
                                    "immovable"};
  return kNames[static_cast<int>(kind)];
}

/// Room for the rows of a side, zero.
static double* add_chain(
    const RowContext& context, int t, int body, int last_dof, ConstraintRow& row) {
  std::vector<double>& J = context.out.jacobian;
  const int length = context.scene.trees()[t].depth[last_dof] + 1,
            start = static_cast<int>(J.size());
  row.sides[row.num_sides++] = {t, body, last_dof, length, start};
  J.resize(start + row.set.dim * length);
  return J.data() + start;
}

double* add_side(const RowContext& context, int body, ConstraintRow& row) {
  if (body < 0) return nullptr;
  const int t = context.scene.tree_of_body(body);
  const Tree& tree = context.scene.trees()[t];
  const int local = body - tree.body_offset;
  return add_chain(context, t, local, tree.last_dof[local], row);
}

void add_dof_side(const RowContext& context, int dof, double coefficient, ConstraintRow& row) {
  const int t = context.scene.tree_of_dof(dof);
  const Tree& tree = context.scene.trees()[t];
  const int last = dof - tree.v_offset;
  add_chain(context, t, tree.joint_of_dof[last], last, row);
  context.out.jacobian.back() = coefficient;
}

double point_floor(const RowContext& context, const ConstraintRow& row, const Vec3d& p) {
  double length = largest_of(p), speed = 0.0;
  for (int s = 0; s < row.num_sides; ++s) {
    const TreeData<double>& data = context.dynamics.trees[row.sides[s].tree];
    const double arm = largest_of(p - data.X_WR.p);
    length = std::max(length, arm);
    speed = std::max(speed, size_of_velocity(data.V[row.sides[s].body], arm));
  }
  return rounding_of(length, context.dt, speed);
}

/// Marks islands, where there are several trees, whose contacts move, at the start of the step, at
/// little of what free forces add to that within it, both as root mean squares. g: J v and what is
/// added.
static void find_resting_islands(const ConstraintRows& rows, ContactProblem& problem) {
  constexpr double kLittle = 0.3;
  problem.resting.assign(problem.sets.size(), false);
  if (!problem.space.known()) return;
  for (int k = 0; k < problem.num_islands(); ++k) {
    const int first = problem.island_start[k], last = problem.island_start[k + 1];
    double moves = 0.0, added = 0.0;
    for (int i = first; i < last; ++i) {
      const ConstraintRow& row = rows.rows[i];
      const double* g = problem.g.data() + problem.sets[i].offset;
      for (int r = 0; r < row.set.dim; ++r) {
        const double unit = row.set.velocity_unit(r), v = row.velocity[r];
        moves += v * v * unit * unit;
        added += (g[r] - v) * (g[r] - v) * unit * unit;
      }
    }
    std::fill(problem.resting.begin() + first,
              problem.resting.begin() + last,
              moves <= kLittle * kLittle * added);
  }
}

static double mobility(const ContactProblem& problem, int first, int last) {
  Mobility<double> out;
  for (int i = first; i < last; ++i) {
    const ConstraintSet& set = problem.sets[i];
    for (int r = 0; r < set.dim; ++r) {
      const double unit = set.velocity_unit(r);
      const double moves = problem.diagonal_entry(i, r) * unit * unit;
      set.is_cone() ? out.add_contact(moves) : out.add_other(moves);
    }
  }
  return out.value();
}

/// g, R and the compliance on the diagonal of G.
static void fill_vectors(const RowContext& context,
                         const ContactSet& contacts,
                         ContactProblem& problem) {
  ConstraintRows& rows = context.out;
  double* free_velocity = problem.g.data();  // J v + Z^T D^-1 w
  for (const ConstraintRow& row : rows.rows)
    free_velocity = std::copy(row.velocity, row.velocity + row.set.dim, free_velocity);
  add_row_velocity(context.scene,
                   context.dynamics,
                   rows,
                   context.dynamics.free_motion.data(),
                   context.scratch,
                   problem.g);
  set_arms(context, problem);
  problem.velocity_scale = norm(context.parameters.gravity) * context.dt;
  find_resting_islands(rows, problem);
  limit_recovery(context, problem);
  double immovable = 0.0;
  for (int i = 0, island = 0; i < problem.num_sets(); ++i) {
    if (i == problem.island_start[island]) {
      immovable = kImmovable * mobility(problem, i, problem.island_start[++island]);
    }
    ConstraintRow& row = rows.rows[i];
    const int offset = problem.sets[i].offset;
    double* g = problem.g.data() + offset;
    double free = 0.0;
    for (int r = 0; r < row.set.dim; ++r)
      free = std::max(free, std::abs(g[r]) * row.set.velocity_unit(r));
    problem.velocity_floor[i] = floor_of(row) + rounding_of(0.0, context.dt, free);
    const int normal = row.set.dim - 1;
    if (row.source == RowSource::kContact)
      apply_restitution(context, contacts[row.index], g[normal], row);
    // Where no dof moves along a normal (a turntable on its floor) the joints carry the load and
    // no impulse could do what the gap asks for.
    if (row.source == RowSource::kContact && problem.diagonal_entry(i, normal) <= immovable) {
      row.kind = ReferenceKind::kImmovable;
      row.reference[normal] = g[normal];
    }
    for (int r = 0; r < row.set.dim; ++r) {
      g[r] -= row.reference[r];
      problem.compliance[offset + r] = row.compliance[r];
      if (row.compliance[r] != 0.0)
        problem.set_diagonal_entry(i, r, problem.diagonal_entry(i, r) + row.compliance[r]);
    }
  }
}

void build_problem(const RowContext& context,
                   const ContactSet& contacts,
                   ContactProblem& problem,
                   std::vector<double>& impulse) {
  ConstraintRows& rows = context.out;
  rows.clear();
  append_contact_rows(context, contacts);
  append_joint_rows(context);
  append_closure_rows(context);
  assemble_rows(
      context.scene, context.dynamics, rows, context.scratch, problem, &context.parameters);
  fill_vectors(context, contacts, problem);
  load_impulses(context, contacts, problem, impulse);
}

}  // namespace stiction
