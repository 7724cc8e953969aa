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
  void move(const Scene& scene,
            const Parameters& parameters,
            const Eigen::VectorXd& q,
            const Eigen::VectorXd& v) {
    forward_kinematics(scene, parameters, q.data(), v.data(), dynamics);
  }
  void body_poses(const Scene& scene, std::vector<Transform>& out) const {
    out.clear();
    for (int b = 0; b < scene.num_bodies(); ++b) out.push_back(body_placement(scene, dynamics, b));
  }
};

}  // namespace stiction
