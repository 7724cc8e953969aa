#pragma once

#include "integrator/compliant_substep.hpp"

// What a part of a step of exponential() pays for its matrices, from the account of the step; false
// and work.exponential.unpaid: that does not last.

namespace stiction::compliance {

/// J M^-1 J^T of all points, where rows of the same tree couple, and the evaluations at both ends.
bool pays_matrices(const Scene& scene, CompliantWorkspace& work);
/// A dense matrix of each island. After assemble().
bool pays_islands(CompliantWorkspace& work);

}  // namespace stiction::compliance
