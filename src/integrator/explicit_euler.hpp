#pragma once

#include "integrator/compliant_substep.hpp"

namespace stiction {

/// v+ = v + h a, q+ = q (+) (h v + h^2/2 a), a at the start with the contact forces there: the
/// variant of the exponential integrator's paper, eq. (34). Springs and dampers of joints by Crank
/// and Nicolson: they set no limit to h, contacts do.
void explicit_euler(const CompliantInput& input, State& state, CompliantWorkspace& work);

/// v+ = v + h a, q+ = q (+) h v+. Joints as in the rigid step, implicit over h.
void symplectic_euler(const CompliantInput& input, State& state, CompliantWorkspace& work);

}  // namespace stiction
