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
  return geometry_pose(in.scene, in.parameters, in.record.dynamics, geometry);
}

namespace {

ContactDerivatives derivatives_of(const DerivativeInput& in, const Contact& c) {
  return contact_derivatives(c,
                             in.scene.shape(in.parameters, c.geometry_a),
                             geometry_pose(in, c.geometry_a),
                             in.scene.shape(in.parameters, c.geometry_b),
                             geometry_pose(in, c.geometry_b));
}

Motion<double> relative(const SurfaceMotion& a, const SurfaceMotion& b) {
  return {b.all.velocity - a.all.velocity, b.all.turning - a.all.turning};
}

void add(const Motion<double>& x, double by, Motion<double>& out) {
  out.linear += x.linear * by;
  out.angular += x.angular * by;
}

void find_surfaces(MovingContact& p) {
  const Parameters& parameters = p.in.parameters;
  const int g[2] = {p.contact.geometry_a, p.contact.geometry_b};
  for (int k = 0; k < 2; ++k) {
    if (!surface_moves(parameters, g[k])) continue;
    p.surfaces.any = true;
    p.surfaces.of[k] =
        surface_motion(parameters, g[k], geometry_pose(p.in, g[k]), p.contact.position);
  }
  const Motion<double> own = relative(p.surfaces.of[0], p.surfaces.of[1]);
  add(own, 1.0, p.at_end);
  add(own, 1.0, p.at_start);
}

/// What belts add along the normal to velocities that have them as a whole.
double belt_along_normal(const MovingContact& p,
                         const PointChange& moved,
                         const RowMotion& motion) {
  const SurfaceMotion &a = p.surfaces.of[0], &b = p.surfaces.of[1];
  const Vec3d change = motion.belt + cross(b.belt_turning - a.belt_turning, moved.position);
  return dot(p.normal(), change) + dot(cross(moved.turn, p.normal()), b.belt - a.belt);
}

/// The slope of a shift at which a kink is rounding.
constexpr double kNoSlope = 1e-3;

Motion<double> start_velocity(const MovingContact& p, const Contact& c) {
  const Motion<double> V = p.start.relative();
  return {V.linear + cross(V.angular, c.position - p.contact.position), V.angular};
}

/// Adds what moves a point of the pair, c as it was found, and turns its normal.
void add_approach(const MovingContact& p,
                  const Contact& c,
                  const ContactDerivatives& d,
                  ApproachChange& out) {
  const Vec3d n = c.frame.c2, arm = c.position - p.contact.position,
              v = start_velocity(p, c).linear, by_place = cross(n, p.start.relative().angular);
  const Vec3d u = transpose_times(d.normal_u, v) + transpose_times(d.position_u, by_place);
  const double dt = -p.in.dt;
  out.u += u * dt;
  out.w +=
      (transpose_times(d.normal_w, v) + transpose_times(d.position_w, by_place) + cross(arm, u)) *
      dt;
  out.both_u += by_place * dt;
  out.both_w += (cross(n, v) + cross(arm, by_place)) * dt;
  out.linear += n * dt;
  out.angular += cross(arm, n) * dt;
}

void scale(ApproachChange& x, double by) {
  for (Vec3d* v : {&x.u, &x.w, &x.both_u, &x.both_w, &x.linear, &x.angular}) *v = *v * by;
}

/// Where several points have the least gap it has a kink, and counts with their mean: what
/// differences to both sides give of a foot that is as long before its middle as behind it. So does
/// the fastest approach.
void follow_touch(MovingContact& p, MovingRows& out) {
  MovingTouch& touch = p.touch;
  double next_gap = kInfinity, next_approach = kInfinity;
  int least = 0, fastest = 0;
  visit_together(p.in.record.contacts, p.row.index, [&](const Contact& other) {
    const double above = other.gap - touch.least_gap,
                 behind = touch.approach - approach_of(p, other);
    const bool is_least = above <= kTouching,
               is_fastest = touch.by_approach != 0.0 && behind <= kTouching;
    if (!is_least) next_gap = std::min(next_gap, above);
    if (!is_fastest) next_approach = std::min(next_approach, behind);
    if (!is_least && !is_fastest) return;
    const bool own = &other == &p.contact;
    const Contact c = own ? p.found : found_contact(p, other);
    const ContactDerivatives d = own ? p.d : derivatives_of(p.in, c);
    if (is_least) {
      touch.gap_u += d.gap_u;
      touch.gap_w += d.gap_w + cross(c.position - p.contact.position, d.gap_u);
      if (least++ > 0) next_gap = 0.0;
    }
    if (is_fastest) {
      add_approach(p, c, d, touch.of_approach);
      if (fastest++ > 0) next_approach = 0.0;
    }
  });
  touch.gap_u = touch.gap_u * (1.0 / least);
  touch.gap_w = touch.gap_w * (1.0 / least);
  if (fastest > 0) scale(touch.of_approach, 1.0 / fastest);
  if (next_gap < kInfinity && std::abs(touch.by_gap) > kNoSlope) out.has_kink_at(next_gap, 1.0);
  if (next_approach < kInfinity && std::abs(touch.by_approach) > kNoSlope)
    out.has_kink_at(next_approach, 1.0);
}

void find_touch(const DerivativeInput& in, int i, MovingContact& p, MovingRows& out) {
  MovingTouch& touch = p.touch;
  const TouchShift shift = touch_shift(in.scene, p.contact);
  touch.least_gap = p.contact.gap;
  visit_together(in.record.contacts, i, [&](const Contact& c) {
    touch.least_gap = std::min(touch.least_gap, c.gap);
  });
  if (shift.share != 0.0 && touch.least_gap >= 0.0) {
    touch.approach = -kInfinity;
    visit_together(in.record.contacts, i, [&](const Contact& c) {
      touch.approach = std::max(touch.approach, approach_of(p, c));
    });
    touch.reach = touch_reach(touch.least_gap, touch.approach);
    touch.by_gap = shift.share * touch_slope_by_gap(touch.least_gap, touch.approach);
    touch.by_approach = shift.share * touch_slope_by_approach(touch.least_gap, touch.approach);
  }
  if (touch.least_gap >= 0.0) touch.shift = shift_at_touch(shift, touch.reach);
  p.found = found_contact(p, p.contact);
  p.d = derivatives_of(in, p.found);
  if (p.contact.witness.swept) {
    touch.by_gap = -shift_to_plane(in.scene, p.contact.geometry_a, p.contact.geometry_b);
    touch.gap_u = p.d.gap_u;
    touch.gap_w = p.d.gap_w + cross(p.found.position - p.contact.position, p.d.gap_u);
  } else if (touch.by_gap != 0.0 || touch.by_approach != 0.0) {
    follow_touch(p, out);
  }
}

/// Of contacts that curve drift_reference() has the slope of an open gap, then none.
void set_gap_slope(MovingContact& p, MovingRows& out) {
  const double gap = p.contact.gap, share = p.in.settings.baumgarte;
  const double drift = kDriftOfContact * std::abs(p.row.curvature.z), least = drift * p.in.dt;
  const bool closed = p.row.kind == ReferenceKind::kRecovery && share < 1.0 && drift > 0.0;
  const double shallow = least_drift(speed_caps(p.in.settings)) * p.in.dt;
  if (!closed || gap * share < -least || -gap <= shallow) {
    p.slope.by_gap = gap_slope(p.in, p.row.kind, gap, 1.0, out);
    return;
  }
  out.has_kink_at(gap + least, 1.0);
  if (share > 0.0) out.has_kink_at(gap + least / share, 1.0);
  if (gap > -least)
    p.slope.by_gap = 1.0 / p.in.dt;
  else
    p.slope.by_curvature = std::copysign(kDriftOfContact, p.row.curvature.z);
}

/// -dc*_N/dgap, or e; counts what is not smooth.
void set_reference(MovingContact& p, MovingRows& out) {
  const DerivativeInput& in = p.in;
  if (p.row.kind == ReferenceKind::kRestitution) {
    p.restitution = -p.row.reference[p.normal_row()] / p.row.velocity[p.normal_row()];
    out.num_scaled_impacts += p.restitution < p.contact.material.restitution * (1.0 - 1e-12);
  } else if (p.row.kind == ReferenceKind::kSpring) {
    p.slope.by_gap =
        compliance_of(p.contact, in.settings).stiffness * in.dt * p.row.compliance[p.normal_row()];
    if (p.contact.material.damping > 0.0) out.has_kink_at(p.contact.gap, 1.0);
  } else {
    set_gap_slope(p, out);
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

Contact found_contact(const MovingContact& p, const Contact& contact) {
  const bool own = &contact == &p.contact;
  Contact c = contact;
  const double shift =
      own ? p.touch.shift : shift_at_touch(touch_shift(p.in.scene, c), p.touch.reach);
  c.position += c.frame.c2 * -shift;
  return c;
}

double approach_of(const MovingContact& p, const Contact& c) {
  return -p.in.dt * dot(c.frame.c2, start_velocity(p, c).linear);
}

double approach_change(const MovingContact& p, const Contact& c, const ContactChange& found) {
  const Motion<double> V = start_velocity(p, c);
  return -p.in.dt *
         (dot(found.normal, V.linear) + dot(cross(c.frame.c2, V.angular), found.position));
}

PointChange point_change(const MovingContact& p, const ContactChange& found, double shift) {
  const Vec3d n = p.normal(), moved = found.normal * p.touch.shift + n * shift;
  PointChange out{found.position + moved, cross(n, found.normal), found.gap};
  if (shift != 0.0) add_maps(p.maps_by.shift, shift, out.maps);
  return out;
}

/// Change of the shift with the velocities of the start.
static double shift_by_start(const MovingTouch& touch, const Motion<double>& V) {
  if (touch.by_approach == 0.0) return 0.0;
  return touch.by_approach *
         (dot(touch.of_approach.linear, V.linear) + dot(touch.of_approach.angular, V.angular));
}

PointChange point_change(const MovingContact& p, const Motion<double>& start) {
  return point_change(p, {{0, 0, 0}, {0, 0, 0}, 0.0}, shift_by_start(p.touch, start));
}

PointChange point_change(const MovingContact& p,
                         bool on_a,
                         const Vec3d& u,
                         const Vec3d& w,
                         const Motion<double>& start) {
  const MovingTouch& touch = p.touch;
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
  const ApproachChange& by = touch.of_approach;
  double approach = sign * (dot(by.u, u) + dot(by.w, w));
  if (on_a) approach += dot(by.both_u, u) + dot(by.both_w, w);
  const double shift = touch.by_gap * sign * (dot(touch.gap_u, u) + dot(touch.gap_w, w)) +
                       touch.by_approach * approach + shift_by_start(touch, start);
  PointChange out = point_change(p, found, shift);
  if (p.curves && !p.curving.feature.on_face)
    add_maps_change(p, du, dw, on_a ? w : Vec3d{0, 0, 0}, out.maps);
  return out;
}

void add_surface_change(const SurfaceMotion& change, bool on_a, RowMotion& motion) {
  const double sign = on_a ? -1.0 : 1.0;
  const Motion<double> moved{change.all.velocity, change.all.turning};
  add(moved, sign, motion.end);
  add(moved, sign, motion.start);
  motion.belt += change.belt * sign;
  MaterialMotion<double>& material = on_a ? motion.a : motion.b;
  material.velocity += change.all.velocity;
  material.turning += change.all.turning;
  material.acceleration += change.all.acceleration;
}

RowChange row_change(const MovingContact& p, const PointChange& moved, const RowMotion& motion) {
  const auto seen = [&](const Vec3d& own, const Motion<double>& relative) {
    return transpose_times(
        p.contact.frame,
        own + cross(relative.angular, moved.position) - cross(moved.turn, relative.linear));
  };
  Vec3d c = seen(motion.end.linear, p.at_end);
  c.z += p.slope.by_gap * moved.gap;
  if (p.restitution != 0.0) c.z += p.restitution * seen(motion.start.linear, p.at_start).z;
  if (p.surfaces.any || squared_norm(motion.belt) > 0.0)
    c.z -= (1.0 + p.restitution) * belt_along_normal(p, moved, motion);
  const Vec3d asked = transpose_times(
      p.contact.frame, cross(motion.anchor_turn, p.spring) - cross(moved.turn, p.spring));
  c.x -= asked.x;
  c.y -= asked.y;
  if (p.curves) {
    const Vec3d change = curvature_change(p, moved, motion);
    c += change;
    c.z -= p.slope.by_curvature * change.z;
  }
  const Vec3d turning =
      transpose_times(p.contact.frame, motion.end.angular - cross(moved.turn, p.at_end.angular));
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
                  {},
                  {}};
  p.at_end = p.end.relative();
  p.at_start = p.start.relative();
  find_surfaces(p);
  find_touch(in, row.index, p, rows);
  const double* l = in.record.solution.impulse.data() + in.record.problem.sets[set].offset;
  p.impulse = contact.frame * force_of(row.set, l);
  p.couple = contact.frame * couple_of(row.set, l);
  set_reference(p, rows);
  find_curvature(in, p);
  return p;
}

}  // namespace stiction
