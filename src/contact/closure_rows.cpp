#include "contact/constraint_row.hpp"
#include "dynamics/constraint_rows.hpp"
#include "math/rotation_vector.hpp"

#include <algorithm>
#include <cmath>

namespace stiction {
namespace {

void closure_side(const RowContext& context,
                  const Closure& closure,
                  int body,
                  const Transform& X_W,
                  const Mat3d& frame,
                  double sign,
                  ConstraintRow& row) {
  double* z = add_side(context, body, row);
  if (z == nullptr) return;
  const RowSide& side = row.sides[row.num_sides - 1];
  const TreeView& view = context.dynamics.views[side.tree];
  const TreeData<double>& data = context.dynamics.trees[side.tree];
  const Mat3d axes = transpose_times(data.X_WR.R, frame);
  point_rows(
      view, data, side.last_dof, transpose_times(data.X_WR.R, X_W.p - data.X_WR.p), axes, sign, z);
  if (closure.kind == Closure::Kind::kWeld) {
    angular_rows(view, data, side.last_dof, axes, sign, z + 3 * side.length);
  }
}

}  // namespace

void closure_error(const Closure& closure,
                   const Transform& X_WA,
                   const Transform& X_WB,
                   double* error) {
  const Vec3d position = transpose_times(X_WA.R, X_WB.p - X_WA.p);
  for (int k = 0; k < 3; ++k) error[k] = position[k];
  if (closure.kind != Closure::Kind::kWeld) return;
  const Vec3d rotation = rotation_vector(transpose_times(X_WA.R, X_WB.R));
  for (int k = 0; k < 3; ++k) error[3 + k] = rotation[k];
}

/// c* = -kappa_b Phi / dt.
void append_closure_rows(const RowContext& context) {
  const Parameters& p = context.parameters;
  for (std::size_t i = 0; i < context.scene.closures().size(); ++i) {
    const Closure& closure = context.scene.closures()[i];
    if (both_rest(context.scene, context.dynamics, closure.body_a, closure.body_b)) continue;
    ConstraintRow& row = context.out.rows.emplace_back();
    row.source = RowSource::kClosure;
    row.index = static_cast<int>(i);
    row.kind = ReferenceKind::kRecovery;
    row.set = ConstraintSet::free(closure.kind == Closure::Kind::kWeld ? 6 : 3);
    const Transform X_WA =
        body_placement(context.scene, context.dynamics, closure.body_a) * p.closure_X_A[i];
    const Transform X_WB =
        body_placement(context.scene, context.dynamics, closure.body_b) * p.closure_X_B[i];
    closure_side(context, closure, closure.body_a, X_WA, X_WA.R, -1.0, row);
    closure_side(context, closure, closure.body_b, X_WB, X_WA.R, 1.0, row);
    accumulate_velocity(context, row);
    row.velocity_floor =
        std::max(point_floor(context, row, X_WA.p), point_floor(context, row, X_WB.p));
    closure_error(closure, X_WA, X_WB, row.reference);
    const double gain = -context.settings.closure_gain / context.dt;
    for (int k = 0; k < row.set.dim; ++k) row.reference[k] *= gain;
  }
}

}  // namespace stiction
