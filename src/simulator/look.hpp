#pragma once

#include "stiction/simulator/simulator.hpp"

#include "collision/scene/collide.hpp"
#include "dynamics/forest.hpp"

namespace stiction {

/// The step's own workspaces stay as the step left them.
struct Simulator::Look {
  DynamicsWorkspace dynamics;
  CollisionWorkspace collision;
  ContactSet contacts;

  void resize(const Scene& scene) {
    dynamics.resize(scene);
    collision.resize(scene);
  }
};

}  // namespace stiction
