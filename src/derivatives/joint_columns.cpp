#include "contact/constraint_row.hpp"
#include "derivatives/row_side.hpp"
#include "model/joint.hpp"

#include <algorithm>
#include <cmath>

namespace stiction {
namespace {

void append(int dof, double change, MovingRows& out) {
  RowColumn& c = out.columns.emplace_back();
  c = {};
  c.dof = dof;
  c.velocity[0] = change;
}

/// A limit's gap, or the row's that brings it back: 1 below, -1 above.
double limit_change(const DerivativeInput& in, const ConstraintRow& row, MovingRows& out) {
  const Tree& tree = in.scene.trees()[in.scene.tree_of_dof(row.index)];
  const int b = tree.joint_of_dof[row.index - tree.v_offset];
  const double q =
      joint_position(tree.joint[b], in.before.q.data() + tree.q_offset + tree.q_index[b]);
  const double lower = in.parameters.lower[row.index], upper = in.parameters.upper[row.index];
  const bool at_lower = row.source == RowSource::kLowerLimit ||
                        (row.source == RowSource::kLimitRecovery && q < lower);
  const double limit = at_lower ? lower : upper, sign = at_lower ? 1.0 : -1.0;
  if (locks(row)) {  // the same correction on both sides: no kink
    out.num_capped += row.kind == ReferenceKind::kCapped;
    return row.kind == ReferenceKind::kRecovery ? sign * in.settings.baumgarte / in.dt : 0.0;
  }
  const double size = std::max({1.0, std::abs(q), std::abs(limit)});
  return sign * gap_slope(in, row.kind, sign * (q - limit), size, out);
}

}  // namespace

void append_joint_columns(const DerivativeInput& in, int set, MovingRows& out) {
  const ConstraintRow& row = in.record.rows.rows[set];
  MovingRow moving{1, false, false, {static_cast<int>(out.columns.size())}, {1.0, 1.0}};
  if (row.source == RowSource::kGear) {
    const Gear& gear = in.scene.gears()[row.index];
    const bool free = row.kind == ReferenceKind::kRecovery;
    const double gain = free ? in.settings.closure_gain / in.dt : 0.0;
    out.num_capped += !free;
    append(gear.dof, gain, out);
    append(gear.driver, -gain * in.parameters.gear_ratio[row.index], out);
  } else if (row.source != RowSource::kDryFriction) {
    append(row.index, limit_change(in, row, out), out);
  }
  moving.start[1] = static_cast<int>(out.columns.size());
  out.rows.push_back(moving);
}

}  // namespace stiction
