#pragma once

#include "contact/constraint_row.hpp"
#include "integrator/recovery_workspace.hpp"

namespace stiction {

/// Corrections of position errors that act together: where `solution` moves joints or bodies of an
/// island faster than the caps, and corrections alone, from rest, would do so too, their c* are
/// scaled to the caps and the problem is solved again, from `warm_start` on where nothing of them is
/// kept. At most kRecoverySolves solves more. The published algorithms keep their own answer,
/// whatever it is.
inline constexpr int kRecoverySolves = 2;

/// Before the first solve: c* = 0 for islands that stand still in spite of their errors, in all
/// steps but every 32nd.
void hold_stuck_islands(const RowContext& context,
                        const SolverSettings& settings,
                        ContactProblem& problem,
                        RecoveryWorkspace& work);

void keep_recovery_speeds(const RowContext& context,
                          const SolverSettings& settings,
                          const std::vector<double>& warm_start,
                          ContactProblem& problem,
                          SolverWorkspace& solver,
                          RecoveryWorkspace& work,
                          ContactSolution& solution);

}  // namespace stiction
