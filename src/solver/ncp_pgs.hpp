#pragma once

#include "stiction/solver/solver.hpp"

namespace stiction {
void solve_ncp_pgs(const ContactProblem& problem,
                   const SolverSettings& settings,
                   SolverWorkspace& work,
                   ContactSolution& solution);
}  // namespace stiction
