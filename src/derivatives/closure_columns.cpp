#include "contact/constraint_row.hpp"
#include "derivatives/moving_closure.hpp"
#include "model/joint.hpp"

namespace stiction {
namespace {

/// Rate of the rotation vector x with the angular velocity w in the axes before it.
Vec3d rotation_vector_rate(const Vec3d& x, const Vec3d& w) {
  const double back[] = {-x.x, -x.y, -x.z}, v[] = {w.x, w.y, w.z};
  double rate[3];
  SphericalJoint::displacement_rate(back, v, rate);
  return {rate[0], rate[1], rate[2]};
}

}  // namespace

MovingClosure moving_closure(const DerivativeInput& in, int set, MovingRows& rows) {
  const ConstraintRow& row = in.record.rows.rows[set];
  const Closure& closure = in.scene.closures()[row.index];
  const auto placement = [&](int body, const Transform& X) {
    return body_placement(in.scene, in.record.dynamics, body) * X;
  };
  const Transform X_WA = placement(closure.body_a, in.parameters.closure_X_A[row.index]),
                  X_WB = placement(closure.body_b, in.parameters.closure_X_B[row.index]);
  MovingClosure c{
      X_WA, X_WB, {in, row, closure.body_a, X_WA.p, X_WB.p, rows.end.data()}, {}, {}, {}, {}};
  c.side_of_a = closure.body_a < 0 ? -1 : 0;
  c.side_of_b = closure.body_b < 0 ? -1 : c.sides.count - 1;
  c.relative = c.sides.relative();
  c.weld = closure.kind == Closure::Kind::kWeld;
  const double* l = in.record.solution.impulse.data() + in.record.problem.sets[set].offset;
  c.impulse = X_WA.R * Vec3d{l[0], l[1], l[2]};
  c.couple = c.weld ? X_WA.R * Vec3d{l[3], l[4], l[5]} : Vec3d{0, 0, 0};
  if (row.kind == ReferenceKind::kRecovery || row.kind == ReferenceKind::kDrift)
    c.gain = in.settings.closure_gain / in.dt;
  else
    ++rows.num_capped;
  if (c.weld) {
    double error[6];
    closure_error(closure, X_WA, X_WB, error);
    c.angle = {error[3], error[4], error[5]};
  }
  return c;
}

void set_closure_change(const MovingClosure& c,
                        bool on_a,
                        const Motion<double>& body,
                        RowColumn& out) {
  const int side = on_a ? c.side_of_a : c.side_of_b;
  const double sign = on_a ? -1.0 : 1.0;
  Vec3d v = body.linear * sign, w = body.angular * sign, error = out.u * sign;
  if (side >= 0) v += cross(c.sides.at[side].motion().angular, out.u) * sign;
  if (on_a) {
    v -= cross(out.w, c.relative.linear);
    w -= cross(out.w, c.relative.angular);
    error -= cross(out.w, c.X_WB.p - c.X_WA.p);
    out.force = cross(out.w, c.impulse);
    out.moment[0] = out.moment[1] = cross(out.w, c.couple);
  }
  if (side >= 0) out.moment[side] += cross(out.u, c.impulse);
  const Vec3d linear = transpose_times(c.X_WA.R, v + error * c.gain);
  for (int r = 0; r < 3; ++r) out.velocity[r] = linear[r];
  if (!c.weld) return;
  const Vec3d turned = rotation_vector_rate(c.angle, transpose_times(c.X_WA.R, out.w * sign));
  const Vec3d angular = transpose_times(c.X_WA.R, w) + turned * c.gain;
  for (int r = 0; r < 3; ++r) out.velocity[3 + r] = angular[r];
}

void append_closure_columns(const DerivativeInput& in, int set, MovingRows& out) {
  const MovingClosure c = moving_closure(in, set, out);
  MovingRow& moving = out.rows.emplace_back();
  moving = {c.sides.count, true, false, {}, {c.sides.sign[0], c.sides.sign[1]}};
  for (int s = 0; s < c.sides.count; ++s) {
    const MovingSide& side = c.sides.at[s];
    const double sign = c.sides.sign[s];
    moving.start[s] = static_cast<int>(out.columns.size());
    side.add_impulse(c.impulse * sign, c.couple * sign, out.constraint_impulse);
    for (int m = 0; m < side.length(); ++m) {
      RowColumn& column = out.columns.emplace_back(side.column(side.dof(m)));
      set_closure_change(c, sign < 0.0, side.change(side.dof(m)), column);
    }
  }
  moving.start[c.sides.count] = static_cast<int>(out.columns.size());
}

}  // namespace stiction
