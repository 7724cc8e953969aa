#include "contact/recovery.hpp"

#include "contact/recovery_energy.hpp"

#include <algorithm>
#include <cmath>

// How fast a position error may be corrected.
//
// A row that corrects an error acts through M^-1 J^T: a contact 2 mm off the axis of a joint that
// is asked for 0.5 m/s turns the joint at 250 rad/s. Its energy says nothing of that: the same
// lever is an effective mass of hundreds of kilograms. So the motion itself is looked at. The row
// alone, asked for c*, gives
//
//     lambda = c* / G_rr,   u = M^-1 J_r^T lambda = L^-1 D^-1 Z_r lambda,
//
// and c* is cut until no joint rate of u and no angular velocity of a body exceeds
// recovery_angular_speed, no rate of a prismatic joint and no velocity of a centre of mass
// recovery_speed. All bodies of the row's trees count, since all of them are moved.
//
// A joint that is out of its limit by more than drift, c* > kFarOut of the cap, may be blocked: by
// contacts of what it carries, that the row alone knows nothing of. One row with c >= c* would then
// have no solution, or one in which light links beside the blocked ones spin at hundreds of rad/s.
// So there are two rows: the limit holds, c >= -kYields cap, and a box [0, kPush lambda], lambda
// the impulse that brings the row alone to its cap, asks for c*. What is blocked rests; what is
// loaded is lifted, if the load takes less than kPush times that acceleration. kPush: Allegro's
// fingers, out of their limits against the servos, need 3 at 1 ms; at 20 a folded arm between a leg
// and the base still throws a wrist joint at 200 rad/s. kYields leaves room for the recovery of
// the contacts that block, whose c* > 0 would else oppose a rigid hold: no solution again.

namespace stiction {
namespace {

constexpr double kPush = 5.0;

/// One row that acts alone: the normal of a contact, a limit, a gear.
void limit_row(
    const RowContext& context, const ContactProblem& problem, int set, int r, ConstraintRow& row) {
  const double lambda = row.reference[r] / problem.diagonal_entry(set, r);
  const Speeds speeds = speeds_of(context, row, problem.sets[set].offset, r, 1, &lambda);
  const double share = harmless_share(context.settings, speeds);
  if (share == 1.0) return;
  row.kind = ReferenceKind::kCapped;
  row.reference[r] *= share;
}

/// Cuts c* of a kLimitRecovery, and bounds its impulse.
void limit_push(const RowContext& context, ContactProblem& problem, int set, ConstraintRow& row) {
  const int offset = problem.sets[set].offset;
  const RowSide& side = row.sides[0];
  const double cap = limit_cap(context.settings, context.scene.trees()[side.tree].joint[side.body]);
  const double G = problem.diagonal_entry(set, 0), lambda = cap / G;
  const double speed =
      cap * harmless_share(context.settings, speeds_of(context, row, offset, 0, 1, &lambda));
  if (row.reference[0] > speed) row.kind = ReferenceKind::kCapped;
  row.reference[0] = std::min(row.reference[0], speed);
  row.set.upper = problem.sets[set].upper = kPush * std::max(0.0, speed - problem.g[offset]) / G;
}

}  // namespace

PlacedTree<double> placed_tree(const RowContext& context, int tree) {
  context.scratch.body_speed.resize(context.scene.num_bodies());
  return {context.dynamics.views[tree],
          context.parameters.com.data() + context.scene.trees()[tree].body_offset,
          context.dynamics.trees[tree],
          context.scratch.body_speed.data()};
}

void add_speeds(const RowContext& context, int tree, const double* u, Speeds& most) {
  add_speeds(placed_tree(context, tree), u, most);
}

Speeds speeds_of(const RowContext& context,
                 const ConstraintRow& row,
                 int offset,
                 int first,
                 int dim,
                 const double* lambda) {
  Speeds most;
  context.scratch.by_dof.resize(context.scene.nv());
  for (int s = 0; s < row.num_sides; ++s) {
    const int tree = row.sides[s].tree;
    if (s == 1 && tree == row.sides[0].tree) break;
    double* u = context.scratch.by_dof.data();
    row_motion(context, row, offset, first, dim, lambda, tree, u);
    solve_lower(context.dynamics.views[tree], context.dynamics.trees[tree], u);
    add_speeds(context, tree, u, most);
  }
  return most;
}

void limit_recovery(const RowContext& context, ContactProblem& problem) {
  ConstraintRows& rows = context.out;
  const double negligible = negligible_speed(context.settings);
  for (std::size_t i = 0; i < rows.rows.size(); ++i) {
    ConstraintRow& row = rows.rows[i];
    if (!recovers(row)) continue;
    if (row.source == RowSource::kClosure) {
      limit_closure(context, problem, static_cast<int>(i), negligible, row);
      continue;
    }
    const int r = row.set.dim - 1;
    if (row.source == RowSource::kLimitRecovery)
      limit_push(context, problem, static_cast<int>(i), row);
    else if (std::abs(row.reference[r]) > negligible)
      limit_row(context, problem, static_cast<int>(i), r, row);
  }
}

double recovery_energy(double asked, double lambda, double velocity) {
  return energy_of_recovery(asked, lambda, velocity);
}

double recovery_energy(const ConstraintRow& row, const double* lambda, const double* velocity) {
  double energy = 0.0;
  const int first = row.source == RowSource::kContact ? row.set.dim - 1 : 0;
  for (int r = first; r < row.set.dim; ++r)
    energy += recovery_energy(row.reference[r], lambda[r], velocity[r]);
  return energy;
}

double recovery_energy(const ConstraintRows& rows,
                       const std::vector<double>& impulse,
                       const std::vector<double>& velocity) {
  double energy = 0.0;
  int offset = 0;
  for (const ConstraintRow& row : rows.rows) {
    if (recovers(row))
      energy += recovery_energy(row, impulse.data() + offset, velocity.data() + offset);
    offset += row.set.dim;
  }
  return energy;
}

}  // namespace stiction
