#include "derivatives/moving_contact.hpp"

namespace stiction {
namespace {

/// d(R^T (v_B - v_A)) of the point with a dof of one side.
Vec3d relative_change(const MovingContact& p,
                      const MovingSides& at,
                      const Motion<double>& relative,
                      int side,
                      int dof,
                      const PointChange& moved) {
  const Vec3d change = at.at[side].change(dof).linear * at.sign[side] +
                       cross(relative.angular, moved.position) - cross(moved.turn, relative.linear);
  return transpose_times(p.contact.frame, change);
}

RowColumn column(const MovingContact& p, int side, int dof) {
  const double sign = p.end.sign[side];
  RowColumn c = p.end.at[side].column(dof);
  const PointChange moved = point_change(p, sign < 0.0, c.u, c.w);
  c.force = cross(moved.turn, p.impulse);
  c.moment[0] = c.moment[1] = cross(moved.position, p.impulse);
  const Vec3d change = relative_change(p, p.end, p.at_end, side, dof, moved);
  for (int r = 0; r < 3; ++r) c.velocity[r] = change[r];
  c.velocity[2] += p.slope * moved.gap;
  if (p.restitution != 0.0) {
    c.velocity[2] += p.restitution * relative_change(p, p.start, p.at_start, side, dof, moved).z;
    c.rate[2] = p.restitution * sign * dot(p.normal(), c.u);
  }
  if (p.carrier >= 0) {
    const Vec3d own = side == p.carrier ? cross(c.w, p.spring) : Vec3d{0, 0, 0};
    const Vec3d asked = transpose_times(p.contact.frame, own - cross(moved.turn, p.spring));
    c.velocity[0] -= asked.x;
    c.velocity[1] -= asked.y;
  }
  return c;
}

}  // namespace

void append_contact_columns(const DerivativeInput& in, int set, MovingRows& out) {
  const MovingContact p = moving_contact(in, set, out);
  out.num_swept += p.contact.witness.swept;
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
