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
