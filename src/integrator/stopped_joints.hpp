#pragma once

#include "contact/build_problem.hpp"
#include "contact/row_rules.hpp"

namespace stiction {

/// Calls stop(dof) for joints that dry friction stops: they end the step with speed zero, not with
/// what the solver's tolerance leaves. `before` [nv] is v at the start, end(dof) that at the end,
/// `gravity_speed` [m/s] what gravity adds in the step.
template <class End, class Stop>
void each_stopped_joint(const ConstraintRows& rows,
                        const double* impulse,
                        double gravity_speed,
                        const double* before,
                        End&& end,
                        Stop&& stop) {
  for (const ConstraintRow& row : rows.rows) {
    const double l = *impulse;
    impulse += row.set.dim;
    if (row.source != RowSource::kDryFriction) continue;
    const int dof = row.index;
    const double gravity = gravity_speed / row.set.arm;
    if (is_stopped(l, row.set.upper, before[dof], end(dof), gravity)) stop(dof);
  }
}

}  // namespace stiction
