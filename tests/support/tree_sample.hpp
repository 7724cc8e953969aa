#pragma once

#include "dynamics/forest.hpp"
#include "dynamics/tree_layout.hpp"
#include "integrator/dual_tree.hpp"
#include "support/random_tree.hpp"

#include <vector>

// Inverse dynamics of one tree of a scene at a random state, and on dual numbers.

namespace stiction::test {

/// A state with all that acts on a tree.
struct TreeSample {
  const Scene& scene;
  int index;
  double dt;
  Eigen::VectorXd q, v, a;  ///< of the scene, of the scene, of the tree
  std::vector<Force<double>>
      constraint_wrench;              ///< [num_bodies] root axes, about the root's origin
  std::vector<Force<double>> wrench;  ///< [num_bodies] world, about the body's origin
  DynamicsWorkspace work;

  /// Turned, sped up and pushed at random; `spin` [rad/s or m/s].
  TreeSample(Rng& rng, const Scene& scene, int index, double spin, double dt);

  const Tree& tree() const { return scene.trees()[index]; }
  const TreeView& view() const { return work.views[index]; }
  const TreeData<double>& data() const { return work.trees[index]; }
  TreeParameters<double> parameters() const {
    return tree_parameters(tree(), index, scene.parameters);
  }
};

/// M(q) a + b(q, v) - J^T constraint_wrench - wrenches at q (+) dq and v on dual numbers, of which
/// the parameters may be too.
std::vector<Direction> dual_inverse_dynamics(const TreeSample& sample,
                                             const std::vector<Direction>& dq,
                                             const std::vector<Direction>& v,
                                             DualTree& dual);

struct TauDerivatives {
  Eigen::MatrixXd dq, dv;
};
/// By dual numbers.
TauDerivatives dual_derivatives(const TreeSample& sample);

/// The largest difference, relative to the largest entry of b.
inline double relative(const Eigen::MatrixXd& a, const Eigen::MatrixXd& b) {
  return (a - b).cwiseAbs().maxCoeff() / std::max(1e-300, b.cwiseAbs().maxCoeff());
}

}  // namespace stiction::test
