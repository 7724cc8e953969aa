#pragma once

#include "integrator/compliant_substep.hpp"

namespace stiction::compliance {

/// What is left of a step, input.h, whose work or time has run out: as semi-implicit-euler takes
/// it, compliant contacts as springs and dampers by implicit Euler at the geometry of its start, in
/// one contact problem with the rigid rows. Its work is bounded, and where that ends too the safe
/// answer gains no energy. The outcome is not converged.
void end_by_impulses(const CompliantInput& input, State& state, CompliantWorkspace& work);

}  // namespace stiction::compliance
