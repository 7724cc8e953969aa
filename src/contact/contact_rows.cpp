#include "stiction/dynamics/constraint_rows.hpp"

#include "constraint_row.hpp"

#include <algorithm>
#include <cmath>

namespace stiction {
namespace {

double restitution_threshold(const RowContext& context) {
  const double given = context.settings.restitution_threshold;
  return given >= 0.0 ? given : std::max(0.01, 2.0 * norm(context.parameters.gravity) * context.dt);
}

/// Implicit spring-damper of one point: f = -k (phi + dt c) - d c, lambda = dt f. The damper acts
/// only in a closed gap.
void compliant_reference(const RowContext& context, const Contact& contact, ConstraintRow& row) {
  const double dt = context.dt;
  const double share = context.settings.per_point_stiffness ? 1.0 : 1.0 / contact.pair_points;
  const double k = contact.material.stiffness * share;
  const double d = contact.gap > 0.0 ? 0.0 : contact.material.damping * share;
  row.compliance[2] = 1.0 / (dt * (k * dt + d));
  row.reference[2] = -k * contact.gap / (k * dt + d);
}

void contact_side(
    const RowContext& context, const Contact& contact, int body, double sign, ConstraintRow& row) {
  double* z = add_side(context, body, row);
  if (z == nullptr) return;
  const RowSide& side = row.sides[row.num_sides - 1];
  const TreeData<double>& data = context.dynamics.trees[side.tree];
  point_rows(context.dynamics.views[side.tree],
             data,
             side.last_dof,
             transpose_times(data.X_WR.R, contact.position - data.X_WR.p),
             transpose_times(data.X_WR.R, contact.frame),
             sign,
             z);
}

}  // namespace

double position_reference(const RowContext& context, double gap) {
  if (gap > 0.0) return -gap / context.dt;
  return std::min(-context.settings.baumgarte * gap / context.dt, context.settings.recovery_speed);
}

void append_contact_rows(const RowContext& context, const ContactSet& contacts) {
  for (std::size_t i = 0; i < contacts.size(); ++i) {
    const Contact& contact = contacts[i];
    ConstraintRow& row = context.out.rows.emplace_back();
    row.source = RowSource::kContact;
    row.index = static_cast<int>(i);
    row.set = ConstraintSet::cone(contact.material.friction);
    std::fill(row.velocity, row.velocity + 3, 0.0);
    std::fill(row.reference, row.reference + 3, 0.0);
    std::fill(row.compliance, row.compliance + 3, 0.0);
    contact_side(context, contact, contact.body_a, -1.0, row);
    contact_side(context, contact, contact.body_b, 1.0, row);
    accumulate_velocity(context, row);
    if (std::isfinite(contact.material.stiffness)) {
      compliant_reference(context, contact, row);
    } else {
      row.reference[2] = position_reference(context, contact.gap);
    }
  }
}

void apply_restitution(const RowContext& context,
                       const Contact& contact,
                       double free_normal,
                       ConstraintRow& row) {
  if (contact.material.restitution <= 0.0 || std::isfinite(contact.material.stiffness)) return;
  const double approach = -row.velocity[2];
  const bool impact =
      contact.gap + context.dt * free_normal < 0.0 && approach > restitution_threshold(context);
  if (impact)
    row.reference[2] = std::max(row.reference[2], contact.material.restitution * approach);
}

}  // namespace stiction
