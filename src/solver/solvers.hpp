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

Solver solve_ccp_admm;
Solver solve_ccp_admm_published;
Solver solve_ccp_newton;
Solver solve_ccp_pgs;
Solver solve_lcp_lemke;
Solver solve_lcp_pgs;
Solver solve_lcp_qp;
Solver solve_lcp_staggered;
Solver solve_ncp_admm;
Solver solve_ncp_admm_published;
Solver solve_ncp_newton;
Solver solve_ncp_pgs;
Solver solve_ncp_pgs_published;
Solver solve_ncp_staggered;
Solver solve_raisim;
Solver solve_raisim_published;

/// The certificate of the final impulse and what it makes of the status.
void certify(const ContactProblem& problem,
             const SolverSettings& settings,
             SolverWorkspace& work,
             ContactSolution& solution);

}  // namespace stiction
