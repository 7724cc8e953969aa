#pragma once

#include "stiction/model/state.hpp"

#include "dynamics/forest.hpp"

namespace stiction {

/// v <- v + dv, then q <- q (+) dt v.
void semi_implicit_euler(const Scene& scene,
                         const Parameters& parameters,
                         double dt,
                         const DynamicsWorkspace& work,
                         const std::vector<double>& dv,
                         State& state);

}  // namespace stiction
