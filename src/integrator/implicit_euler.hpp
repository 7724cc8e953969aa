#pragma once

#include "integrator/compliant_substep.hpp"

namespace stiction {

/// M(q+) (nu - v) / h + b(q+, v+) = tau(q+, v+) + J(q+)^T f(q+, v+), q+ = q (+) h nu: full Newton
/// on nu with exact derivatives, island by island. See src/integrator/README.md.
void implicit_euler(const CompliantInput& input, State& state, CompliantWorkspace& work);

}  // namespace stiction
