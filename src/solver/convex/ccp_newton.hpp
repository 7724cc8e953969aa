#pragma once

#include "solver/common/island.hpp"
#include "solver/common/work_account.hpp"

namespace stiction {

struct CcpNewtonWork {
  Buffer<double> vectors, matrix;
  Buffer<int> start, end;  ///< by set and by row of the reduced system
};

/// ccp-newton on one island, from lambda, where the best impulses found are left. added [rows]: R.
IslandOutcome ccp_newton_on_island(const Island& island,
                                   const SolverSettings& settings,
                                   double* added,
                                   CcpNewtonWork& work,
                                   WorkAccount& account,
                                   double* lambda,
                                   double* velocity);

}  // namespace stiction
