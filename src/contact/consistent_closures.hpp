#pragma once

#include "contact/closed_loops.hpp"

namespace stiction {

/// c* of bilateral rows becomes the nearest that a motion can have: errors that none can close, and
/// closures that contradict each other, are left as they are. The impulses of the least squares
/// stay what they are. `problem` is built, and
/// factor_bilateral() done.
void make_references_consistent(ConstraintRows& rows,
                                ContactProblem& problem,
                                ClosedLoopWorkspace& work);

}  // namespace stiction
