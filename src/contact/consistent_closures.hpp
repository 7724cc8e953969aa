#pragma once

#include "contact/closed_loops.hpp"

namespace stiction {

/// c* of bilateral rows that repeat others becomes what those ask: errors that no motion can close,
/// and closures that contradict each other, are left as they are. `problem` is built.
void make_references_consistent(ConstraintRows& rows,
                                ContactProblem& problem,
                                ClosedLoopWorkspace& work);

}  // namespace stiction
