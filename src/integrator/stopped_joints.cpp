#include "integrator/stopped_joints.hpp"

#include "contact/row_rules.hpp"

namespace stiction {

void stop_joints(const double* v, StepRecord& record) {
  const double gravity_speed = record.problem.velocity_scale;
  double* dv = record.dv.data();
  const double* l = record.solution.impulse.data();
  for (const ConstraintRow& row : record.rows.rows) {
    const double impulse = *l;
    l += row.set.dim;
    if (row.source != RowSource::kDryFriction) continue;
    const int dof = row.index;
    const double end = v[dof] + dv[dof], arm = row.set.arm;
    if (is_stopped(impulse, row.set.upper, v[dof], end, gravity_speed / arm)) dv[dof] = -v[dof];
  }
}

}  // namespace stiction
