#pragma once

#include "stiction/solver/solver.hpp"

// The algorithms behind the registry, one file each. They start from solution.impulse, leave the
// result there, and set iterations, status, and what else of ContactSolution they know; scratch
// comes from the workspace. solve() checks, certifies and corrects the status.

namespace stiction {

using Solver = void(const ContactProblem& problem,
                    const SolverSettings& settings,
                    SolverWorkspace& work,
                    ContactSolution& solution);

Solver solve_ncp_admm;
Solver solve_ncp_pgs;
Solver solve_raisim;

}  // namespace stiction
