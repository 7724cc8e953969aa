#pragma once

#include "solver/common/island.hpp"

namespace stiction {

/// ccp-newton on one island, from lambda, where the best impulses found are left. added [rows]: R.
IslandOutcome ccp_newton_on_island(const Island& island,
                                   const SolverSettings& settings,
                                   double* added,
                                   SolverWorkspace& work,
                                   double* lambda,
                                   double* velocity);

}  // namespace stiction
