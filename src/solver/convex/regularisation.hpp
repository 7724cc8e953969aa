#pragma once

#include "solver/common/island.hpp"

namespace stiction {

/// What ccp-newton adds to diag(G) on an island, by rule or as given [rows of the problem], never
/// zero: rows that nothing can move take 1e-12 of the mean diagonal. The rule of the contact norm
/// is stated for contacts; here rows that push (normals, limits) take R_N, rows that hold
/// (friction, dry friction, bilateral) R_T, each row that is no contact's with its own diagonal for
/// the norm.
void find_regularisation(const Island& island, const SolverSettings& settings, double* added);

}  // namespace stiction
