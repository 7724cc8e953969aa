#include "stiction/contact/compliant_law.hpp"

#include "contact/constraint_row.hpp"
#include "contact/contact_memory.hpp"
#include "derivatives/row_side.hpp"

#include <cmath>

namespace stiction {
namespace {

/// A contact in the step, and how it moves.
struct Point {
  const DerivativeInput& in;
  const Contact& contact;
  const ConstraintRow& row;
  ContactDerivatives d;
  MovingSides end, start;  ///< with the velocities at the end and the start of the step
  Motion<double> at_end, at_start;
  Vec3d impulse;       ///< world [N s]
  double slope = 0.0;  ///< -dc*_N / dgap
  double restitution = 0.0;
  Vec3d spring{0, 0, 0};  ///< c* of the tangential spring as a vector of the body that carries it
  int carrier = -1;       ///< its side
};

Vec3d normal(const Contact& contact) { return contact.frame.c2; }

ContactDerivatives derivatives_of(const DerivativeInput& in, const Contact& c) {
  const auto placement = [&](int geometry, int body) {
    return body_placement(in.scene, in.record.dynamics, body) *
           in.parameters.geometry_placement[geometry];
  };
  return contact_derivatives(c,
                             in.scene.shape(in.parameters, c.geometry_a),
                             placement(c.geometry_a, c.body_a),
                             in.scene.shape(in.parameters, c.geometry_b),
                             placement(c.geometry_b, c.body_b));
}

/// -dc*_N/dgap, or e; counts what is not smooth.
void set_reference(Point& p, MovingRows& out) {
  const DerivativeInput& in = p.in;
  if (p.row.kind == ReferenceKind::kRestitution) {
    p.restitution = -p.row.reference[2] / p.row.velocity[2];
    out.num_scaled_impacts += p.restitution < p.contact.material.restitution * (1.0 - 1e-12);
  } else if (p.row.kind == ReferenceKind::kSpring) {
    const double share = in.settings.per_point_stiffness ? 1.0 : 1.0 / p.contact.pair_points;
    p.slope = point_compliance(p.contact.material, share).stiffness * in.dt * p.row.compliance[2];
    out.num_gap_kinks += std::abs(p.contact.gap) <= kTouching && p.contact.material.damping > 0.0;
  } else {
    p.slope = gap_slope(in, p.row.kind, p.contact.gap, 1.0, out);
  }
  if (p.row.compliance[0] == 0.0) return;
  const ContactMemory* kept = find_memory(in.before.contacts, p.contact);
  if (kept == nullptr) return;
  const PointCompliance point = point_compliance(
      p.contact.material, in.settings.per_point_stiffness ? 1.0 : 1.0 / p.contact.pair_points);
  const double share = point.tangential_stiffness * in.dt * p.row.compliance[0];
  p.spring = anchor_rotation(in.scene, in.record.dynamics, p.contact) * kept->extension * share;
  const int body = b_carries_anchor(in.scene, p.contact) ? p.contact.body_b : p.contact.body_a;
  for (int s = 0; s < p.end.count; ++s) {
    if (p.end.at[s].body() == body) p.carrier = s;
  }
}

/// d(R^T (v_B - v_A)) of the point with a dof of one side.
Vec3d relative_change(const Point& p,
                      const MovingSides& at,
                      const Motion<double>& relative,
                      int side,
                      int dof,
                      const Vec3d& dp,
                      const Vec3d& turn) {
  const Vec3d change = at.at[side].change(dof).linear * at.sign[side] +
                       cross(relative.angular, dp) - cross(turn, relative.linear);
  return transpose_times(p.contact.frame, change);
}

RowColumn column(const Point& p, int side, int dof) {
  const Vec3d n = normal(p.contact);
  const double sign = p.end.sign[side];
  RowColumn c = p.end.at[side].column(dof);
  const Vec3d u = c.u * sign, w = c.w * sign;
  Vec3d dn = p.d.normal_u * u + p.d.normal_w * w, dp = p.d.position_u * u + p.d.position_w * w;
  if (sign < 0.0) {
    dn += cross(c.w, n);
    dp += c.u;
  }
  const Vec3d turn = cross(n, dn);  // of the frame, without spin: it changes no force
  c.force = cross(turn, p.impulse);
  c.moment[0] = c.moment[1] = cross(dp, p.impulse);
  const Vec3d change = relative_change(p, p.end, p.at_end, side, dof, dp, turn);
  for (int r = 0; r < 3; ++r) c.velocity[r] = change[r];
  c.velocity[2] += p.slope * (dot(p.d.gap_u, u) + dot(p.d.gap_w, w));
  if (p.restitution != 0.0) {
    c.velocity[2] += p.restitution * relative_change(p, p.start, p.at_start, side, dof, dp, turn).z;
    c.rate[2] = p.restitution * dot(n, u);
  }
  if (p.carrier >= 0) {
    const Vec3d own = side == p.carrier ? cross(c.w, p.spring) : Vec3d{0, 0, 0};
    const Vec3d asked = transpose_times(p.contact.frame, own - cross(turn, p.spring));
    c.velocity[0] -= asked.x;
    c.velocity[1] -= asked.y;
  }
  return c;
}

}  // namespace

void append_contact_columns(const DerivativeInput& in, int set, MovingRows& out) {
  const ConstraintRow& row = in.record.rows.rows[set];
  const Contact& contact = in.record.contacts[row.index];
  const Vec3d& x = contact.position;
  // Velocities at the start by scene body: those of the trees are one array after another.
  Point p{in,
          contact,
          row,
          derivatives_of(in, contact),
          {in, row, contact.body_a, x, x, out.end.data()},
          {in, row, contact.body_a, x, x, out.begin.data()},
          {},
          {},
          {}};
  p.at_end = p.end.relative();
  p.at_start = p.start.relative();
  const double* l = in.record.solution.impulse.data() + in.record.problem.sets[set].offset;
  p.impulse = contact.frame * Vec3d{l[0], l[1], l[2]};
  set_reference(p, out);
  out.num_swept += contact.witness.swept;
  out.num_inexact += !p.d.exact;
  MovingRow& moving = out.rows.emplace_back();
  moving = {p.end.count, true, {}, {p.end.sign[0], p.end.sign[1]}};
  for (int s = 0; s < p.end.count; ++s) {
    moving.start[s] = static_cast<int>(out.columns.size());
    p.end.at[s].hold(p.impulse * p.end.sign[s], {0, 0, 0}, out.held);
    for (int m = 0; m < p.end.at[s].length(); ++m)
      out.columns.push_back(column(p, s, p.end.at[s].dof(m)));
  }
  moving.start[p.end.count] = static_cast<int>(out.columns.size());
}

}  // namespace stiction
