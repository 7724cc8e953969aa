#include "derivatives/moving_contact.hpp"

#include "collision/scene/seams.hpp"
#include "collision/scene/touch_rule.hpp"
#include "contact/constraint_row.hpp"
#include "contact/contact_axes.hpp"
#include "contact/contact_memory.hpp"

#include <algorithm>
#include <cmath>

namespace stiction {

Transform geometry_pose(const DerivativeInput& in, int geometry) {
  return body_placement(in.scene, in.record.dynamics, in.scene.geometries()[geometry].body) *
         in.parameters.geometry_placement[geometry];
}

namespace {

ContactDerivatives derivatives_of(const DerivativeInput& in, const Contact& c) {
  return contact_derivatives(c,
                             in.scene.shape(in.parameters, c.geometry_a),
                             geometry_pose(in, c.geometry_a),
                             in.scene.shape(in.parameters, c.geometry_b),
                             geometry_pose(in, c.geometry_b));
}

/// A touch_slope() of which a kink is rounding.
constexpr double kNoSlope = 1e-3;

/// Where several points have the least gap it has a kink, and counts with their mean: what
/// differences to both sides give of a foot that is as long before its middle as behind it.
void find_touch(const DerivativeInput& in, int i, MovingContact& p, MovingRows& out) {
  const ContactSet& contacts = in.record.contacts;
  MovingTouch& touch = p.touch;
  p.found = found_contact(in, i, touch.shift);
  p.d = derivatives_of(in, p.found);
  if (p.contact.witness.swept) {
    touch.share = -shift_to_plane(in.scene, p.contact.geometry_a, p.contact.geometry_b);
    touch.gap_u = p.d.gap_u;
    touch.gap_w = p.d.gap_w + cross(p.found.position - p.contact.position, p.d.gap_u);
    return;
  }
  const PairContacts pair = contacts_of_pair(contacts, i);
  const double slope = touch_slope(pair.least_gap, in.margin);
  touch.share = touch_shift(in.scene, p.contact).share * slope;
  if (touch.share == 0.0) return;
  double next = kInfinity;
  int count = 0;
  for (int k = pair.first; k < pair.last; ++k) {
    const double above = contacts[k].gap - pair.least_gap;
    if (above > kTouching) {
      next = std::min(next, above);
      continue;
    }
    double shift;
    const Contact c = k == i ? p.found : found_contact(in, k, shift);
    const ContactDerivatives d = k == i ? p.d : derivatives_of(in, c);
    touch.gap_u += d.gap_u;
    touch.gap_w += d.gap_w + cross(c.position - p.contact.position, d.gap_u);
    if (count++ > 0) next = 0.0;
  }
  touch.gap_u = touch.gap_u * (1.0 / count);
  touch.gap_w = touch.gap_w * (1.0 / count);
  if (next < kInfinity && slope > kNoSlope) out.has_kink_at(next, 1.0);
}

/// -dc*_N/dgap, or e; counts what is not smooth.
void set_reference(MovingContact& p, MovingRows& out) {
  const DerivativeInput& in = p.in;
  if (p.row.kind == ReferenceKind::kRestitution) {
    p.restitution = -p.row.reference[p.normal_row()] / p.row.velocity[p.normal_row()];
    out.num_scaled_impacts += p.restitution < p.contact.material.restitution * (1.0 - 1e-12);
  } else if (p.row.kind == ReferenceKind::kSpring) {
    p.slope =
        compliance_of(p.contact, in.settings).stiffness * in.dt * p.row.compliance[p.normal_row()];
    if (p.contact.material.damping > 0.0) out.has_kink_at(p.contact.gap, 1.0);
  } else {
    p.slope = gap_slope(in, p.row.kind, p.contact.gap, 1.0, out);
  }
  if (p.row.compliance[0] == 0.0) return;
  const int body = b_carries_anchor(in.scene, p.contact) ? p.contact.body_b : p.contact.body_a;
  for (int s = 0; s < p.end.count; ++s) {
    if (p.end.at[s].body() == body) p.anchor_side = s;
  }
  const ContactMemory* kept = find_memory(in.before.contacts, p.contact);
  if (kept == nullptr) return;
  const double share =
      compliance_of(p.contact, in.settings).tangential_stiffness * in.dt * p.row.compliance[0];
  p.spring = anchor_rotation(in.scene, in.record.dynamics, p.contact) * kept->extension * share;
}

}  // namespace

Contact found_contact(const DerivativeInput& in, int i, double& shift) {
  const ContactSet& contacts = in.record.contacts;
  Contact c = contacts[i];
  shift =
      shift_at_touch(touch_shift(in.scene, c), contacts_of_pair(contacts, i).least_gap, in.margin);
  c.position += c.frame.c2 * -shift;
  return c;
}

PointChange point_change(const MovingContact& p, const ContactChange& found, double touch_gap) {
  const Vec3d n = p.normal();
  const Vec3d moved = found.normal * p.touch.shift + n * (p.touch.share * touch_gap);
  return {found.position + moved, cross(n, found.normal), found.gap};
}

PointChange point_change(const MovingContact& p, bool on_a, const Vec3d& u, const Vec3d& w) {
  const Vec3d n = p.normal(), there = u + cross(w, p.found.position - p.contact.position);
  const double sign = on_a ? -1.0 : 1.0;
  const Vec3d du = there * sign, dw = w * sign;
  ContactChange found{p.d.normal_u * du + p.d.normal_w * dw,
                      p.d.position_u * du + p.d.position_w * dw,
                      dot(p.d.gap_u, du) + dot(p.d.gap_w, dw)};
  if (on_a) {
    found.normal += cross(w, n);
    found.position += there;
  }
  return point_change(p, found, sign * (dot(p.touch.gap_u, u) + dot(p.touch.gap_w, w)));
}

RowChange row_change(const MovingContact& p, const PointChange& moved, const RowMotion& motion) {
  const auto seen = [&](const Vec3d& own, const Motion<double>& relative) {
    return transpose_times(
        p.contact.frame,
        own + cross(relative.angular, moved.position) - cross(moved.turn, relative.linear));
  };
  Vec3d c = seen(motion.end, p.at_end);
  c.z += p.slope * moved.gap;
  if (p.restitution != 0.0) c.z += p.restitution * seen(motion.start, p.at_start).z;
  const Vec3d asked = transpose_times(
      p.contact.frame, cross(motion.anchor_turn, p.spring) - cross(moved.turn, p.spring));
  c.x -= asked.x;
  c.y -= asked.y;
  const Vec3d turning =
      transpose_times(p.contact.frame, motion.turning - cross(moved.turn, p.at_end.angular));
  return {c,
          turning,
          cross(moved.turn, p.impulse),
          cross(moved.position, p.impulse) + cross(moved.turn, p.couple)};
}

void set_velocity(const MovingContact& p, const RowChange& change, double* velocity) {
  const int dim = p.row.set.dim;
  for (int k = 0; k < 3; ++k) velocity[point_row(dim, k)] = change.velocity[k];
  for (int r = 2; r < dim - 1; ++r) velocity[r] = change.turning[couple_axis(r)];
}

double bounce_threshold(const DerivativeInput& in) {
  return restitution_threshold(in.settings, in.parameters.gravity, in.dt);
}

// As apply_restitution() decides.
double speed_to_bounce(const DerivativeInput& in, int set) {
  const ConstraintRow& row = in.record.rows.rows[set];
  const Contact& contact = in.record.contacts[row.index];
  const ContactProblem& problem = in.record.problem;
  const int normal = row.set.dim - 1;
  const double e = contact.material.restitution, least = bounce_threshold(in);
  if (!(e > 0.0) || std::isfinite(contact.material.stiffness)) return kInfinity;
  const bool bounces = row.kind == ReferenceKind::kRestitution;
  if (!(e * least > (bounces ? row.gap_reference : row.reference[normal]))) return kInfinity;
  const double free = problem.g[problem.sets[set].offset + normal] + row.reference[normal],
               closing = -(contact.gap / in.dt + free), past = -row.velocity[normal] - least;
  if (bounces) return std::min(past, closing);
  return closing > 0.0 && past <= 0.0 ? -past : kInfinity;
}

MovingContact moving_contact(const DerivativeInput& in, int set, MovingRows& rows) {
  const ConstraintRow& row = in.record.rows.rows[set];
  const Contact& contact = in.record.contacts[row.index];
  const Vec3d& x = contact.position;
  MovingContact p{in,
                  contact,
                  row,
                  {},
                  {},
                  {},
                  {in, row, contact.body_a, x, x, rows.end.data()},
                  {in, row, contact.body_a, x, x, rows.begin.data()},
                  {},
                  {},
                  {},
                  {}};
  find_touch(in, row.index, p, rows);
  p.at_end = p.end.relative();
  p.at_start = p.start.relative();
  const double* l = in.record.solution.impulse.data() + in.record.problem.sets[set].offset;
  p.impulse = contact.frame * force_of(row.set, l);
  p.couple = contact.frame * couple_of(row.set, l);
  set_reference(p, rows);
  return p;
}

}  // namespace stiction
