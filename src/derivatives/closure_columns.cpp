#include "contact/constraint_row.hpp"
#include "derivatives/row_side.hpp"
#include "model/joint.hpp"

namespace stiction {
namespace {

/// A closure in the step. Its frame turns with A.
struct MovingClosure {
  Transform X_WA, X_WB;
  MovingSides sides;
  Motion<double> relative;  ///< v_B(p_B) - v_A(p_A), w_B - w_A
  Vec3d impulse, couple;    ///< world
  bool weld;
  double gain = 0.0;     ///< -dc*/dPhi [1/s]
  Vec3d angle{0, 0, 0};  ///< of a weld, rotation vector of its error, axes of A
};

/// Rate of the rotation vector x with the angular velocity w in the axes before it.
Vec3d rotation_vector_rate(const Vec3d& x, const Vec3d& w) {
  const double back[] = {-x.x, -x.y, -x.z}, v[] = {w.x, w.y, w.z};
  double rate[3];
  SphericalJoint::displacement_rate(back, v, rate);
  return {rate[0], rate[1], rate[2]};
}

RowColumn column(const MovingClosure& c, int side, int dof) {
  const MovingSide& at = c.sides.at[side];
  const double sign = c.sides.sign[side];
  const bool on_a = sign < 0.0;
  RowColumn out = at.column(dof);
  const Motion<double> change = at.change(dof), moves = at.motion();
  Vec3d v = (change.linear + cross(moves.angular, out.u)) * sign, w = change.angular * sign;
  Vec3d error = out.u * sign;
  if (on_a) {
    v -= cross(out.w, c.relative.linear);
    w -= cross(out.w, c.relative.angular);
    error -= cross(out.w, c.X_WB.p - c.X_WA.p);
    out.force = cross(out.w, c.impulse);
    out.moment[0] = out.moment[1] = cross(out.w, c.couple);
  }
  out.moment[side] += cross(out.u, c.impulse);
  const Vec3d linear = transpose_times(c.X_WA.R, v + error * c.gain);
  for (int r = 0; r < 3; ++r) out.velocity[r] = linear[r];
  if (!c.weld) return out;
  const Vec3d turned = rotation_vector_rate(c.angle, transpose_times(c.X_WA.R, out.w * sign));
  const Vec3d angular = transpose_times(c.X_WA.R, w) + turned * c.gain;
  for (int r = 0; r < 3; ++r) out.velocity[3 + r] = angular[r];
  return out;
}

}  // namespace

void append_closure_columns(const DerivativeInput& in, int set, MovingRows& out) {
  const ConstraintRow& row = in.record.rows.rows[set];
  const Closure& closure = in.scene.closures()[row.index];
  const auto placement = [&](int body, const Transform& X) {
    return body_placement(in.scene, in.record.dynamics, body) * X;
  };
  const Transform X_WA = placement(closure.body_a, in.parameters.closure_X_A[row.index]),
                  X_WB = placement(closure.body_b, in.parameters.closure_X_B[row.index]);
  MovingClosure c{
      X_WA, X_WB, {in, row, closure.body_a, X_WA.p, X_WB.p, out.end.data()}, {}, {}, {}, {}};
  c.relative = c.sides.relative();
  c.weld = closure.kind == Closure::Kind::kWeld;
  const double* l = in.record.solution.impulse.data() + in.record.problem.sets[set].offset;
  c.impulse = X_WA.R * Vec3d{l[0], l[1], l[2]};
  c.couple = c.weld ? X_WA.R * Vec3d{l[3], l[4], l[5]} : Vec3d{0, 0, 0};
  if (row.kind == ReferenceKind::kRecovery || row.kind == ReferenceKind::kDrift)
    c.gain = in.settings.closure_gain / in.dt;
  else
    ++out.num_capped;
  if (c.weld) {
    double error[6];
    closure_error(closure, X_WA, X_WB, error);
    c.angle = {error[3], error[4], error[5]};
  }
  MovingRow& moving = out.rows.emplace_back();
  moving = {c.sides.count, true, {}, {c.sides.sign[0], c.sides.sign[1]}};
  for (int s = 0; s < c.sides.count; ++s) {
    moving.start[s] = static_cast<int>(out.columns.size());
    const double sign = c.sides.sign[s];
    c.sides.at[s].add_impulse(c.impulse * sign, c.couple * sign, out.constraint_impulse);
    for (int m = 0; m < c.sides.at[s].length(); ++m)
      out.columns.push_back(column(c, s, c.sides.at[s].dof(m)));
  }
  moving.start[c.sides.count] = static_cast<int>(out.columns.size());
}

}  // namespace stiction
