#include "derivatives/moving_contact.hpp"

namespace stiction {
namespace {

RowColumn column(const MovingContact& p, int side, int dof) {
  const double sign = p.end.sign[side];
  RowColumn c = p.end.at[side].column(dof);
  const Motion<double> moving = p.end.at[side].change(dof);
  const bool by_start = p.restitution != 0.0 || p.touch.by_approach != 0.0 || p.curves;
  RowMotion motion{moving * sign};
  if (by_start) motion.start = p.start.at[side].change(dof) * sign;
  if (side == p.anchor_side) motion.anchor_turn = c.w;
  if (p.curves) (sign < 0.0 ? motion.a : motion.b) = p.start.at[side].material_change(dof);
  const PointChange moved = point_change(p, sign < 0.0, c.u, c.w, motion.start);
  if (p.surfaces.any)
    add_surface_change(change_with_shape(p.surfaces.of[sign > 0.0], c.u, c.w), sign < 0.0, motion);
  const RowChange change = row_change(p, moved, motion);
  set_velocity(p, change, c.velocity);
  c.force = change.force;
  c.moment[0] = c.moment[1] = change.moment;
  if (!by_start) return c;
  RowMotion faster;
  faster.start = {c.u * sign, c.w * sign};
  if (p.curves) (sign < 0.0 ? faster.a : faster.b) = p.start.at[side].material_rate(dof);
  const RowChange rate = row_change(p, point_change(p, faster.start), faster);
  set_velocity(p, rate, c.rate);
  c.moment_rate = rate.moment;
  return c;
}

bool moves(const SurfaceMotion& x) {
  return squared_norm(x.all.velocity) + squared_norm(x.all.turning) > 0.0;
}

}  // namespace

void append_contact_columns(const DerivativeInput& in, int set, MovingRows& out) {
  const MovingContact p = moving_contact(in, set, out);
  out.num_swept += p.contact.witness.swept && !p.d.exact;
  const bool turning_belt = p.curves && ((p.contact.body_a >= 0 && moves(p.surfaces.of[0])) ||
                                         (p.contact.body_b >= 0 && moves(p.surfaces.of[1])));
  constexpr double kNoSliding = 1e-12;  // [m/s]
  const bool slides_with_another =
      p.curves && !p.row.alone && norm(p.row.slides) > kNoSliding && norm(p.impulse) > 0.0;
  out.num_inexact += !p.d.exact || turning_belt || slides_with_another;
  out.to_bounce[set] = speed_to_bounce(in, set);
  out.num_at_threshold += out.to_bounce[set] <= kAtThreshold * bounce_threshold(in);
  MovingRow& moving = out.rows.emplace_back();
  moving = {p.end.count, true, p.touch.by_approach != 0.0, {}, {p.end.sign[0], p.end.sign[1]}};
  for (int s = 0; s < p.end.count; ++s) {
    moving.start[s] = static_cast<int>(out.columns.size());
    p.end.at[s].add_impulse(
        p.impulse * p.end.sign[s], p.couple * p.end.sign[s], out.constraint_impulse);
    for (int m = 0; m < p.end.at[s].length(); ++m)
      out.columns.push_back(column(p, s, p.end.at[s].dof(m)));
  }
  moving.start[p.end.count] = static_cast<int>(out.columns.size());
}

}  // namespace stiction
