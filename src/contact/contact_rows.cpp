#include "stiction/contact/compliant_law.hpp"

#include "contact/constraint_row.hpp"
#include "contact/contact_memory.hpp"
#include "dynamics/constraint_rows.hpp"

#include <algorithm>
#include <cmath>

namespace stiction {

double restitution_threshold(const ContactSettings& settings, const Vec3d& gravity, double dt) {
  const double given = settings.restitution_threshold;
  return given >= 0.0 ? given : std::max(0.01, 2.0 * norm(gravity) * dt);
}

PointCompliance compliance_of(const Contact& contact, const ContactSettings& settings) {
  return point_compliance(contact.material,
                          settings.per_point_stiffness ? 1.0 : 1.0 / contact.pair_points);
}

namespace {

/// Implicit spring-damper of one point: f = -k (phi + dt c) - d c, lambda = dt f. The damper acts
/// only in a closed gap.
void normal_spring(const Contact& contact,
                   const PointCompliance& point,
                   double dt,
                   ConstraintRow& row) {
  const double k = point.stiffness, d = contact.gap > 0.0 ? 0.0 : point.damping;
  row.kind = ReferenceKind::kSpring;
  row.compliance[2] = 1.0 / (dt * (k * dt + d));
  row.reference[2] = -k * contact.gap / (k * dt + d);
}

/// The same in the tangent plane, in series with friction: of the velocity v the anchor slips at c
/// (in K's sense: c = 0 in sticking, against lambda in sliding) and the spring takes v - c,
///   e' = e - dt (v - c),   lambda = dt (k e' - d (v - c)),
/// so that c = v - k e / (k dt + d) + lambda / (dt (k dt + d)).
void tangential_spring(const RowContext& context,
                       const Contact& contact,
                       const PointCompliance& point,
                       ConstraintRow& row) {
  const double k = point.tangential_stiffness, total = k * context.dt + point.tangential_damping;
  if (total == 0.0) {  // nothing carries friction to the surface
    row.set.friction = Cone::coulomb(0.0);
    return;
  }
  row.compliance[0] = row.compliance[1] = 1.0 / (context.dt * total);
  const ContactMemory* kept = find_memory(context.state.contacts, contact);
  if (kept == nullptr) return;
  const Vec3d world = anchor_rotation(context.scene, context.dynamics, contact) * kept->extension;
  const Vec3d e = transpose_times(contact.frame, world);
  row.reference[0] = k * e.x / total;
  row.reference[1] = k * e.y / total;
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

/// A point that no dof moves has rows of zeros: nothing is asked of it, build_problem() sees to
/// that.
void clear_if_in_pivot(const RowContext& context, const ConstraintRow& row) {
  double* J = context.out.jacobian.data();
  for (int s = 0; s < row.num_sides; ++s) {
    const RowSide& side = row.sides[s];
    const int body = context.scene.trees()[side.tree].body_offset + side.body;
    if (!is_in_pivot(context.dynamics.views[side.tree],
                     side.last_dof,
                     context.parameters.mass[body],
                     context.parameters.inertia[body],
                     J + side.start))
      return;
  }
  for (int s = 0; s < row.num_sides; ++s)
    std::fill_n(J + row.sides[s].start, 3 * row.sides[s].length, 0.0);
}

}  // namespace

void set_gap_reference(
    const RowContext& context, double gap, double cap, int r, ConstraintRow& row) {
  if (gap > 0.0) {
    row.kind = ReferenceKind::kSpeculative;
    row.reference[r] = -gap / context.dt;
    return;
  }
  const double wanted = -context.settings.baumgarte * gap / context.dt;
  row.kind = wanted > cap ? ReferenceKind::kCapped : ReferenceKind::kRecovery;
  row.reference[r] = std::min(wanted, cap);
}

void append_contact_rows(const RowContext& context, const ContactSet& contacts) {
  for (std::size_t i = 0; i < contacts.size(); ++i) {
    const Contact& contact = contacts[i];
    ConstraintRow& row = context.out.rows.emplace_back();
    row.source = RowSource::kContact;
    row.index = static_cast<int>(i);
    row.set = ConstraintSet::cone(contact.material.friction);
    contact_side(context, contact, contact.body_a, -1.0, row);
    contact_side(context, contact, contact.body_b, 1.0, row);
    clear_if_in_pivot(context, row);
    accumulate_velocity(context, row);
    row.velocity_floor = point_floor(context, row, contact.position);
    if (std::isfinite(contact.material.stiffness)) {
      const PointCompliance point = compliance_of(contact, context.settings);
      normal_spring(contact, point, context.dt, row);
      if (context.settings.tangential_compliance) tangential_spring(context, contact, point, row);
    } else {
      set_gap_reference(context, contact.gap, context.settings.recovery_speed, 2, row);
    }
  }
}

// e' = (d e + lambda) / (k dt + d), see tangential_spring(); in the row's numbers, where
// c* = k e / (k dt + d) and R = 1 / (dt (k dt + d)). The same in sticking and in sliding: there
// lambda = mu lambda_N carries over, and e' = lambda / (k dt) if d = 0.
Vec3d next_extension(const Contact& contact,
                     const ConstraintRow& row,
                     double dt,
                     const double* lambda) {
  const PointCompliance pair = point_compliance(contact.material, 1.0);
  const double k = pair.tangential_stiffness;
  if (row.compliance[0] == 0.0 || k == 0.0 || !(lambda[2] > 0.0)) return {0, 0, 0};
  const double relaxation = pair.tangential_damping / k;  // [s]
  Vec3d e{0, 0, 0};
  for (int r = 0; r < 2; ++r)
    e[r] = relaxation * row.reference[r] + dt * row.compliance[r] * lambda[r];
  return e;
}

double elastic_energy(const Contact& contact,
                      const ConstraintRow& row,
                      const ContactSettings& settings,
                      double dt) {
  if (!std::isfinite(contact.material.stiffness)) return 0.0;
  const PointCompliance point = compliance_of(contact, settings);
  const double depth = std::max(0.0, -contact.gap);
  const double energy = 0.5 * point.stiffness * depth * depth;
  if (row.compliance[0] == 0.0 || point.tangential_stiffness == 0.0) return energy;
  // c* / (dt R) = k e
  const double x = row.reference[0] / (dt * row.compliance[0]),
               y = row.reference[1] / (dt * row.compliance[1]);
  return energy + 0.5 * (x * x + y * y) / point.tangential_stiffness;
}

void apply_restitution(const RowContext& context,
                       const Contact& contact,
                       double free_normal,
                       ConstraintRow& row) {
  if (contact.material.restitution <= 0.0 || std::isfinite(contact.material.stiffness)) return;
  const double approach = -row.velocity[2];
  const double least =
      restitution_threshold(context.settings, context.parameters.gravity, context.dt);
  const bool impact = contact.gap + context.dt * free_normal < 0.0 && approach > least;
  const double asked = contact.material.restitution * approach;
  if (!impact || asked <= row.reference[2]) return;
  row.gap_reference = row.reference[2];
  row.gap_kind = row.kind;
  row.kind = ReferenceKind::kRestitution;
  row.reference[2] = asked;
}

}  // namespace stiction
