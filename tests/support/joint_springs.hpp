#pragma once

#include "support/random_world.hpp"

namespace stiction::test {

/// Springs of some joints of every third world, from a stream of their own: other worlds stay what
/// they are.
inline void add_joint_springs(int world, World& w) {
  if (world % 3 != 0) return;
  Rng rng(1000 + world);
  const Eigen::VectorXd& q = w.state.q;
  const std::vector<double> x = w.scene.dof_positions({q.data(), q.data() + q.size()});
  for (int k = 0; k < w.scene.nv(); ++k) {
    if (!w.scene.takes_servo(k) || rng.uniform(0.0, 1.0) < 0.5) continue;
    w.scene.parameters.spring_stiffness[k] = rng.uniform(1.0, 50.0);
    w.scene.parameters.spring_rest[k] = x[k] + rng.uniform(-1.0, 1.0);
  }
}

}  // namespace stiction::test
