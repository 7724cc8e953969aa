#pragma once

#include "dynamics/forest.hpp"

namespace stiction {

struct MechanicalEnergy {
  double kinetic = 0.0;    ///< [J]
  double potential = 0.0;  ///< of gravity, zero at the world origin [J]
};

/// Of all bodies, after forward_kinematics alone.
MechanicalEnergy mechanical_energy(const Scene& scene,
                                   const Parameters& parameters,
                                   const DynamicsWorkspace& dynamics);

}  // namespace stiction
