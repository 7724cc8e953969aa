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

/// Of all bodies, rotors and springs of joints, where the dynamics know the bodies' at (q, v).
MechanicalEnergy whole_energy(const Scene& scene,
                              const Parameters& parameters,
                              const DynamicsWorkspace& dynamics,
                              const double* q,
                              const double* v);

}  // namespace stiction
