#include "stiction/contact/compliant_law.hpp"

#include "contact/constraint_row.hpp"
#include "contact/contact_axes.hpp"
#include "contact/contact_memory.hpp"
#include "contact/surface_motion.hpp"
#include "dynamics/constraint_rows.hpp"

#include <algorithm>
#include <cmath>

namespace stiction {

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
  const int normal = row.set.dim - 1;
  row.compliance[normal] = 1.0 / (dt * (k * dt + d));
  row.reference[normal] = -k * contact.gap / (k * dt + d);
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
    row.set.friction.mu[0] = row.set.friction.mu[1] = 0.0;
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

/// The rows of a contact: forces, the couple about the normal, those about the tangents.
Cone cone_of(const Material& m) {
  if (m.rolling_friction > 0.0)
    return Cone::rolling(m.friction, m.torsional_friction, m.rolling_friction);
  if (m.torsional_friction > 0.0) return Cone::torsional(m.friction, m.torsional_friction);
  return Cone::coulomb(m.friction);
}

/// Rows with couples: J of B's point and of its turning, seen along the same axes.
void angular_side(const RowContext& context,
                  const RowSide& side,
                  const Vec3d& p,
                  const Mat3d& axes,
                  double sign,
                  int dim,
                  double* z) {
  const TreeView& view = context.dynamics.views[side.tree];
  const TreeData<double>& data = context.dynamics.trees[side.tree];
  std::vector<double>& both = context.scratch.motion;
  both.resize(6 * side.length);
  double *point = both.data(), *turn = point + 3 * side.length;
  point_rows(view, data, side.last_dof, p, axes, sign, point);
  angular_rows(view, data, side.last_dof, axes, sign, turn);
  for (int m = 0; m < side.length; ++m, z += dim) {
    for (int k = 0; k < 3; ++k) z[point_row(dim, k)] = point[3 * m + k];
    for (int r = 2; r < dim - 1; ++r) z[r] = turn[3 * m + couple_axis(r)];
  }
}

void contact_side(
    const RowContext& context, const Contact& contact, int body, double sign, ConstraintRow& row) {
  double* z = add_side(context, body, row);
  if (z == nullptr) return;
  const RowSide& side = row.sides[row.num_sides - 1];
  const TreeData<double>& data = context.dynamics.trees[side.tree];
  const Vec3d p = transpose_times(data.X_WR.R, contact.position - data.X_WR.p);
  const Mat3d axes = transpose_times(data.X_WR.R, contact.frame);
  if (row.set.dim > 3) return angular_side(context, side, p, axes, sign, row.set.dim, z);
  point_rows(context.dynamics.views[side.tree], data, side.last_dof, p, axes, sign, z);
}

/// Whether the rows of the point are rounding.
bool side_in_pivot(const RowContext& context, const ConstraintRow& row, const RowSide& side) {
  const int body = context.scene.trees()[side.tree].body_offset + side.body, dim = row.set.dim;
  const double* J = context.out.jacobian.data() + side.start;
  if (dim > 3) {
    std::vector<double>& point = context.scratch.motion;
    point.resize(3 * side.length);
    for (int m = 0; m < side.length; ++m) {
      for (int k = 0; k < 3; ++k) point[3 * m + k] = J[dim * m + point_row(dim, k)];
    }
    J = point.data();
  }
  return is_in_pivot(context.dynamics.views[side.tree],
                     side.last_dof,
                     context.parameters.mass[body],
                     context.parameters.inertia[body],
                     J);
}

/// A point that no dof moves has rows of zeros: nothing is asked of it, build_problem() sees to
/// that.
void clear_if_in_pivot(const RowContext& context, const ConstraintRow& row) {
  for (int s = 0; s < row.num_sides; ++s) {
    if (!side_in_pivot(context, row, row.sides[s])) return;
  }
  double* J = context.out.jacobian.data();
  for (int s = 0; s < row.num_sides; ++s)
    std::fill_n(J + row.sides[s].start, row.set.dim * row.sides[s].length, 0.0);
}

}  // namespace

void set_gap_reference(
    const RowContext& context, double gap, double cap, int r, ConstraintRow& row) {
  const double wanted = gap_velocity(context.settings.baumgarte, gap, context.dt);
  row.reference[r] = gap_reference(context.settings.baumgarte, cap, gap, context.dt);
  row.kind = wanted > cap ? ReferenceKind::kCapped : ReferenceKind::kRecovery;
  if (gap > 0.0) row.kind = ReferenceKind::kSpeculative;
}

/// The set of contact i and its J.
static ConstraintRow& append_point(const RowContext& context, const ContactSet& contacts, int i) {
  const Contact& contact = contacts[i];
  ConstraintRow& row = context.out.rows.emplace_back();
  row.source = RowSource::kContact;
  row.index = i;
  row.set = ConstraintSet::cone(cone_of(contact.material));
  contact_side(context, contact, contact.body_a, -1.0, row);
  contact_side(context, contact, contact.body_b, 1.0, row);
  clear_if_in_pivot(context, row);
  return row;
}

void append_point_rows(const RowContext& context, const ContactSet& contacts) {
  for (std::size_t i = 0; i < contacts.size(); ++i)
    append_point(context, contacts, static_cast<int>(i));
}

/// Adds what the parameters give the two surfaces to J v.
static void add_surface_velocity(const RowContext& context,
                                 const Contact& contact,
                                 ConstraintRow& row) {
  const auto motion = [&](int g) {
    const Transform X_WG = geometry_pose(context.scene, context.parameters, context.dynamics, g);
    return surface_motion(context.parameters, g, X_WG, contact.position);
  };
  const RelativeSurface s =
      relative_surface(motion(contact.geometry_a), motion(contact.geometry_b), contact.frame);
  const int dim = row.set.dim;
  for (int k = 0; k < 3; ++k) row.velocity[point_row(dim, k)] += s.velocity[k];
  for (int r = 2; r < dim - 1; ++r) row.velocity[r] += s.turning[couple_axis(r)];
}

void append_contact_rows(const RowContext& context, const ContactSet& contacts) {
  const bool surfaces_move = any_surface_moves(context.parameters);
  for (std::size_t i = 0; i < contacts.size(); ++i) {
    const Contact& contact = contacts[i];
    ConstraintRow& row = append_point(context, contacts, static_cast<int>(i));
    accumulate_velocity(context, row);
    if (surfaces_move) add_surface_velocity(context, contact, row);
    row.velocity_floor = point_floor(context, row, contact.position);
    if (std::isfinite(contact.material.stiffness)) {
      const PointCompliance point = compliance_of(contact, context.settings);
      normal_spring(contact, point, context.dt, row);
      if (context.settings.tangential_compliance) tangential_spring(context, contact, point, row);
    } else {
      set_gap_reference(
          context, contact.gap, context.settings.recovery_speed, row.set.dim - 1, row);
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
  if (row.compliance[0] == 0.0 || k == 0.0 || !(lambda[row.set.dim - 1] > 0.0)) return {0, 0, 0};
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
  const int normal = row.set.dim - 1;
  const double e = contact.material.restitution, approach = -row.velocity[normal];
  const double least =
      restitution_threshold(context.settings, context.parameters.gravity, context.dt);
  if (!rebounds({contact.gap, free_normal, approach, least}, e, row.reference[normal], context.dt))
    return;
  row.gap_reference = row.reference[normal];
  row.gap_kind = row.kind;
  row.kind = ReferenceKind::kRestitution;
  row.reference[normal] = e * approach;
}

}  // namespace stiction
