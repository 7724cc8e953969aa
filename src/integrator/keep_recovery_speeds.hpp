#pragma once

#include "contact/constraint_row.hpp"
#include "integrator/recovery_workspace.hpp"
#include "solver/common/work_account.hpp"

namespace stiction {

/// Before the first solve: c* = 0 for islands that nothing within a hundred times the caps obeys;
/// their impulses in `solution` get those that show it. `work` has what is left to look at after
/// the solve.
void hold_locked_islands(const RowContext& context,
                         const SolverSettings& settings,
                         ContactProblem& problem,
                         WorkAccount& account,
                         RecoveryWorkspace& work,
                         ContactSolution& solution);

/// Corrections of position errors that act together, in islands that hold_locked_islands() left:
/// where `solution` moves joints or bodies of an island faster than the caps, and corrections
/// alone, from rest, would do so too, their c* are scaled to the caps and the problem is solved
/// again; what is then unsolved, without them. At most kRecoverySolves solves more. The published
/// algorithms keep their own answer, whatever it is.
inline constexpr int kRecoverySolves = 3;
void keep_recovery_speeds(const RowContext& context,
                          const SolverSettings& settings,
                          ContactProblem& problem,
                          SolverWorkspace& solver,
                          RecoveryWorkspace& work,
                          ContactSolution& solution);

}  // namespace stiction
