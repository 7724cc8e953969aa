#pragma once

#include "stiction/dynamics/forest.hpp"
#include "stiction/model/state.hpp"

namespace stiction {

/// Moves q onto the point closures, welds and gears: Gauss-Newton in the metric of the mass matrix,
/// dq = -M^-1 J^T (J M^-1 J^T)^+ Phi, until |Phi| <= 1e-12 or four rounds. Velocities stay.
void project_closures(const Scene& scene,
                      const Parameters& parameters,
                      DynamicsWorkspace& work,
                      State& state);

}  // namespace stiction
