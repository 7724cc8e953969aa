#pragma once

#include "integrator/step_record.hpp"

namespace stiction {

/// Joints that dry friction stops end the step with speed zero, not with what the solver's tolerance
/// leaves: is_stopped(). Changes record.dv; v [nv] is the velocity at the start of the step.
void stop_joints(const double* v, StepRecord& record);

}  // namespace stiction
