#include "derivatives/moving_rows.hpp"

#include "derivatives/row_side.hpp"
#include "model/joint.hpp"

#include <algorithm>
#include <cmath>

namespace stiction {

MovingSide::MovingSide(const DerivativeInput& in,
                       const RowSide& side,
                       const Vec3d& p,
                       const Motion<double>* V)
    : side_(&side), tree_(&in.scene.trees()[side.tree]), data_(&in.data(side.tree)) {
  V_ = V + tree_->body_offset;
  chain_ = tree_->chain.data() + tree_->row[side.last_dof];
  p_ = transpose_times(data_->X_WR.R, p - data_->X_WR.p);
  v_ = V_[side.body].linear + cross(V_[side.body].angular, p_);
  gravity_ = transpose_times(data_->X_WR.R, in.parameters.gravity);
  if (is_loose_body(in.record.dynamics.views[side.tree]))
    loose_com_ = in.parameters.com[tree_->body_offset];
}

Motion<double> MovingSide::motion() const {
  return {data_->X_WR.R * v_, data_->X_WR.R * V_[side_->body].angular};
}

RowColumn MovingSide::column(int j) const {
  const Motion<double>& S = data_->S[j];
  RowColumn c{};
  c.dof = tree_->v_offset + j;
  c.u = data_->X_WR.R * (S.linear + cross(S.angular, p_));
  c.w = data_->X_WR.R * S.angular;
  return c;
}

Motion<double> MovingSide::change(int j) const {
  const Motion<double>& S = data_->S[j];
  const int p = tree_->parent[tree_->joint_of_dof[j]];
  Vec3d v = v_, w = V_[side_->body].angular;
  if (p >= 0) {
    v = v - V_[p].linear - cross(V_[p].angular, p_);
    w = w - V_[p].angular;
  }
  const Vec3d u = S.linear + cross(S.angular, p_);
  return {data_->X_WR.R * (cross(S.angular, v) - cross(w, u)), data_->X_WR.R * cross(S.angular, w)};
}

MaterialMotion<double> MovingSide::at_point(const Motion<double>& dV,
                                            const Motion<double>& dA) const {
  const Mat3d& R = data_->X_WR.R;
  const Vec3d v = dV.linear + cross(dV.angular, p_);
  const Vec3d a =
      dA.linear + cross(dA.angular, p_) + cross(dV.angular, v_) + cross(V_[side_->body].angular, v);
  return {R * v, R * dV.angular, R * a};
}

// The joint turns and shifts all that it carries, V and A of its parent apart.
MaterialMotion<double> MovingSide::material_change(int j) const {
  const Motion<double>&S = data_->S[j], &V = V_[side_->body], &A = data_->A[side_->body];
  const Vec3d zero{0, 0, 0};
  const int p = tree_->parent[tree_->joint_of_dof[j]];
  const Motion<double> V_p = p >= 0 ? V_[p] : Motion<double>{zero, zero};
  const Motion<double> A_p = p >= 0 ? data_->A[p] : Motion<double>{-gravity_, zero};
  const Motion<double> own = V + V_p * -1.0, turned = motion_cross(motion_cross(S, V_p), own);
  Motion<double> dA = motion_cross(S, A + A_p * -1.0) + turned * -1.0;
  dA.linear -= cross(S.angular, cross(V.angular, cross(V.angular, loose_com_)));
  return at_point(motion_cross(S, own), dA);
}

MaterialMotion<double> MovingSide::material_rate(int j) const {
  const Motion<double>&S = data_->S[j], &V = V_[side_->body];
  const int joint = tree_->joint_of_dof[j], p = tree_->parent[joint];
  Motion<double> dA = motion_cross(S, V + V_[joint] * -1.0);
  if (p >= 0) {
    dA = dA + motion_cross(V_[p], S);
  } else if (joint_facts(tree_->joint[joint]).free) {  // A = -w x v
    const Motion<double>& root = V_[joint];
    dA.linear -= cross(S.angular, root.linear) + cross(root.angular, S.linear);
  }
  const Vec3d& c = loose_com_;
  dA.linear -= cross(S.angular, cross(V.angular, c)) + cross(V.angular, cross(S.angular, c));
  return at_point(S, dA);
}

MaterialMotion<double> MovingSide::material_shift(const Vec3d& shift) const {
  const Mat3d& R = data_->X_WR.R;
  const Vec3d dp = transpose_times(R, shift), &w = V_[side_->body].angular, v = cross(w, dp);
  return {R * v, {0, 0, 0}, R * (cross(data_->A[side_->body].angular, dp) + cross(w, v))};
}

MaterialMotion<double> MovingSide::material_by_com(const Vec3d& dc) const {
  const Vec3d& w = V_[side_->body].angular;
  return {{0, 0, 0}, {0, 0, 0}, data_->X_WR.R * -cross(w, cross(w, dc))};
}

void MovingSide::add_impulse(const Vec3d& impulse,
                             const Vec3d& couple,
                             std::vector<Force<double>>& out) const {
  const Vec3d f = transpose_times(data_->X_WR.R, impulse);
  out[body()] += {f, cross(p_, f) + transpose_times(data_->X_WR.R, couple)};
}

MovingSides::MovingSides(const DerivativeInput& in,
                         const ConstraintRow& row,
                         int body_a,
                         const Vec3d& p_A,
                         const Vec3d& p_B,
                         const Motion<double>* V)
    : count(row.num_sides) {
  for (int s = 0; s < count; ++s) {
    const bool on_a = body_a >= 0 && s == 0;
    sign[s] = on_a ? -1.0 : 1.0;
    at[s] = MovingSide(in, row.sides[s], on_a ? p_A : p_B, V);
  }
}

Motion<double> MovingSides::relative() const {
  Motion<double> out{{0, 0, 0}, {0, 0, 0}};
  for (int s = 0; s < count; ++s) out = out + at[s].motion() * sign[s];
  return out;
}

bool RowDoubts::has_kink_at(double gap, double size) {
  const bool kink = std::abs(gap) <= kTouching * size;
  num_gap_kinks += kink;
  smallest_gap = std::min(smallest_gap, std::abs(gap));
  return kink;
}

double gap_slope(
    const DerivativeInput& in, ReferenceKind kind, double gap, double size, MovingRows& out) {
  if (kind == ReferenceKind::kCapped) ++out.num_capped;
  if (kind != ReferenceKind::kSpeculative && kind != ReferenceKind::kRecovery) return 0.0;
  bool kink = false;
  if (in.settings.baumgarte != 1.0) kink = out.has_kink_at(gap, size);
  return (kink || gap <= 0.0 ? in.settings.baumgarte : 1.0) / in.dt;
}

/// Of all bodies; at the end with v+ = v + dv.
static void velocities(const DerivativeInput& in,
                       std::vector<Motion<double>>& begin,
                       std::vector<Motion<double>>& end) {
  begin.resize(in.scene.num_bodies());
  end.resize(in.scene.num_bodies());
  for (std::size_t t = 0; t < in.scene.trees().size(); ++t) {
    const Tree& tree = in.scene.trees()[t];
    const TreeData<double>& data = in.data(static_cast<int>(t));
    const double* v = in.before.v.data() + tree.v_offset;
    const double* dv = in.record.dv.data() + tree.v_offset;
    Motion<double>* V = end.data() + tree.body_offset;
    std::copy(data.V, data.V + tree.num_bodies, begin.data() + tree.body_offset);
    for (int b = 0; b < tree.num_bodies; ++b) {
      const int p = tree.parent[b], first = tree.v_index[b];
      V[b] = p < 0 ? Motion<double>{{0, 0, 0}, {0, 0, 0}} : V[p];
      for (int k = first; k < first + joint_nv(tree.joint[b]); ++k)
        V[b] = V[b] + data.S[k] * (v[k] + dv[k]);
    }
  }
}

void find_moving_rows(const DerivativeInput& in, const ActiveSet& active, MovingRows& out) {
  out.rows.clear();
  out.columns.clear();
  out.constraint_impulse.assign(in.scene.num_bodies(), {{0, 0, 0}, {0, 0, 0}});
  out.to_bounce.assign(in.record.problem.num_sets(), kInfinity);
  RowDoubts& doubts = out;
  doubts = {};
  velocities(in, out.begin, out.end);
  for (int i = 0; i < in.record.problem.num_sets(); ++i) {
    const RowDoubts before = doubts;
    switch (in.record.rows.rows[i].source) {
      case RowSource::kContact:
        append_contact_columns(in, i, out);
        break;
      case RowSource::kClosure:
        append_closure_columns(in, i, out);
        break;
      default:
        append_joint_columns(in, i, out);
    }
    if (active.start[i] < active.start[i + 1]) continue;
    doubts = before;
    out.to_bounce[i] = kInfinity;
  }
}

}  // namespace stiction
