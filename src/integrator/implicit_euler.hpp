#pragma once

#include "integrator/compliant_substep.hpp"

namespace stiction {

/// M(q+) (nu - v) / h + b(q+, v+) = tau(q+, v+) + J(q+)^T f(q+, v+), q+ = q (+) h nu: full Newton
/// on nu with exact derivatives, island by island. See src/integrator/README.md.
void implicit_euler(const CompliantInput& input, State& state, CompliantWorkspace& work);

/// The equation of one whole sub-step solved, its end left in work.nu, work.end and work.implicit;
/// of the state the warm starts of the narrow phase are taken. False if Newton has failed.
bool solve_implicit_step(const CompliantInput& input, State& state, CompliantWorkspace& work);

}  // namespace stiction
