#pragma once

#include "stiction/dynamics/forest.hpp"
#include "stiction/model/state.hpp"

namespace stiction {

/// v <- v + L^-1 D^-1 w with w = L^-T dt f + Z lambda, then q <- q (+) dt v. Consumes
/// work.whitened.
void semi_implicit_euler(const Scene& scene,
                         const Parameters& parameters,
                         double dt,
                         DynamicsWorkspace& work,
                         State& state);

}  // namespace stiction
