#pragma once

#include "integrator/compliant_substep.hpp"

namespace stiction {

/// The classical Runge-Kutta method on (xi, nu, anchors): contacts are found and evaluated at each
/// stage. Everything is explicit, springs and dampers of joints too.
void rk4(const CompliantInput& input, State& state, CompliantWorkspace& work);

}  // namespace stiction
