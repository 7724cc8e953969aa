#include "contact/constraint_row.hpp"
#include "dynamics/constraint_rows.hpp"
#include "model/joint.hpp"

#include <algorithm>
#include <cmath>

namespace stiction {

namespace {

ConstraintRow& append_scalar(const RowContext& context,
                             RowSource source,
                             int index,
                             ConstraintSet set) {
  ConstraintRow& row = context.out.rows.emplace_back();
  row.source = source;
  row.index = index;
  row.set = set;
  return row;
}

/// The limit only holds, and what asks for its c* is a row of its own: see recovery.cpp.
void split_recovery(
    const RowContext& context, int dof, double sign, double cap, ConstraintRow& row) {
  const ConstraintRow limit = row;
  row.reference[0] = -kYields * cap;
  row.kind = ReferenceKind::kNone;
  ConstraintRow& push =
      append_scalar(context, RowSource::kLimitRecovery, dof, ConstraintSet::box(0.0, 0.0));
  add_dof_side(context, dof, sign, push);
  push.velocity[0] = limit.velocity[0];
  push.velocity_floor = limit.velocity_floor;
  push.reference[0] = limit.reference[0];
  push.kind = limit.kind;
}

/// sign: 1 below, -1 above; the gap is positive inside. Same reference velocity as a contact's
/// normal row.
void append_limit(const RowContext& context,
                  RowSource source,
                  int dof,
                  double q,
                  double limit,
                  double sign,
                  double cap) {
  const double gap = limit_gap(sign, q, limit), dt = context.dt;
  if (gap > limit_reach(context.settings.limit_margin, context.state.v[dof], dt)) return;
  ConstraintRow& row = append_scalar(context, source, dof, ConstraintSet::non_negative());
  add_dof_side(context, dof, sign, row);
  accumulate_velocity(context, row);
  const double size = std::max(std::abs(q), std::abs(limit));
  row.velocity_floor = coordinate_floor(size, dt, std::abs(row.velocity[0]));
  set_gap_reference(context, gap, cap, 0, row);
  if (row.reference[0] > kFarOut * cap) split_recovery(context, dof, sign, cap, row);
}

/// One row for both limits of a joint that they lock: two would press against each other. False
/// where it is so far out that its recovery is a row of its own.
bool append_lock(const RowContext& context, int dof, double q, double cap) {
  const double limit = context.parameters.lower[dof], size = std::max(std::abs(q), std::abs(limit));
  if (limit != context.parameters.upper[dof]) return false;
  const bool above = q > limit;
  const double gap = limit_gap(above ? -1.0 : 1.0, q, limit);
  if (gap_reference(context.settings.baumgarte, cap, gap, context.dt) > kFarOut * cap) return false;
  const auto source = above ? RowSource::kUpperLimit : RowSource::kLowerLimit;
  ConstraintRow& row =
      append_scalar(context, source, dof, ConstraintSet::box(-kInfinity, kInfinity));
  add_dof_side(context, dof, above ? -1.0 : 1.0, row);
  accumulate_velocity(context, row);
  row.velocity_floor = coordinate_floor(size, context.dt, std::abs(row.velocity[0]));
  set_gap_reference(context, gap, cap, 0, row);
  return true;
}

double position(const Tree& tree, int b, const double* q) {
  return joint_position(tree.joint[b], q + tree.q_offset + tree.q_index[b]);
}

void append_tree(const RowContext& context, const Tree& tree, const TreeData<double>& data) {
  const Parameters& p = context.parameters;
  for (int b = 0; b < tree.num_bodies; ++b) {
    const int first = tree.v_offset + tree.v_index[b];
    const JointFacts& joint = joint_facts(tree.joint[b]);
    if (joint.free) continue;
    const double speed = size_of_velocity(data.V[b], largest_of(data.X_RB[b].p));
    if (joint.limited) {
      const double q = position(tree, b, context.state.q.data());
      const double cap = limit_cap(context.settings, tree.joint[b]);
      if (append_lock(context, first, q, cap)) continue;  // nor has it friction
      if (std::isfinite(p.lower[first]))
        append_limit(context, RowSource::kLowerLimit, first, q, p.lower[first], 1.0, cap);
      if (std::isfinite(p.upper[first]))
        append_limit(context, RowSource::kUpperLimit, first, q, p.upper[first], -1.0, cap);
    }
    for (int k = 0; k < joint.nv; ++k) {
      const double f = p.dry_friction[first + k];
      if (f == 0.0) continue;
      ConstraintRow& row = append_scalar(context,
                                         RowSource::kDryFriction,
                                         first + k,
                                         ConstraintSet::box(-context.dt * f, context.dt * f));
      add_dof_side(context, first + k, 1.0, row);
      accumulate_velocity(context, row);
      row.velocity_floor = joint_floor(speed, norm(p.gravity) * context.dt);
    }
  }
}

void append_gear(const RowContext& context, int index) {
  const Gear& gear = context.scene.gears()[index];
  ConstraintRow& row = append_scalar(context, RowSource::kGear, index, ConstraintSet::free(1));
  add_dof_side(context, gear.dof, 1.0, row);
  add_dof_side(context, gear.driver, -context.parameters.gear_ratio[index], row);
  accumulate_velocity(context, row);
  double size = 0.0;
  const double error =
      gear_error(context.scene, context.parameters, index, context.state.q.data(), &size);
  row.velocity_floor = coordinate_floor(size, context.dt, std::abs(row.velocity[0]));
  row.kind = ReferenceKind::kRecovery;
  row.reference[0] = -context.settings.closure_gain * error / context.dt;
}

}  // namespace

double gear_error(
    const Scene& scene, const Parameters& p, int index, const double* q, double* size) {
  const Gear& gear = scene.gears()[index];
  const double ratio = p.gear_ratio[index];
  double x[2] = {0.0, 0.0};
  bool turns = false;  // a continuous joint knows its angle up to full turns
  const int dofs[2] = {gear.dof, gear.driver};
  for (int k = 0; k < 2; ++k) {
    const Tree& tree = scene.trees()[scene.tree_of_dof(dofs[k])];
    const int b = tree.joint_of_dof[dofs[k] - tree.v_offset];
    x[k] = position(tree, b, q);
    turns = turns || joint_facts(tree.joint[b]).wraps;
  }
  constexpr double kTurn = 6.283185307179586477;
  double error = x[0] - ratio * x[1] - p.gear_offset[index];
  if (size != nullptr) *size = std::max(std::abs(x[0]), std::abs(ratio * x[1]));
  if (turns) error -= kTurn * std::nearbyint(error / kTurn);
  return error;
}

void append_joint_rows(const RowContext& context) {
  const std::vector<Tree>& trees = context.scene.trees();
  for (std::size_t t = 0; t < trees.size(); ++t) {
    if (!context.dynamics.asleep[t]) append_tree(context, trees[t], context.dynamics.trees[t]);
  }
  append_gear_rows(context);
}

void append_gear_rows(const RowContext& context) {
  for (std::size_t g = 0; g < context.scene.gears().size(); ++g) {
    if (!context.dynamics.asleep[context.scene.tree_of_dof(context.scene.gears()[g].dof)])
      append_gear(context, static_cast<int>(g));
  }
}

}  // namespace stiction
