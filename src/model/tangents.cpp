#include "stiction/model/tangents.hpp"

#include "model/joint.hpp"

namespace stiction {
namespace {

/// visit(joint, q offset, v offset) of all bodies.
template <class Visit>
void each_joint(const Scene& scene, Visit&& visit) {
  for (const Tree& tree : scene.trees()) {
    for (int b = 0; b < tree.num_bodies; ++b)
      visit_joint(tree.joint[b], [&](auto joint) {
        visit(joint, tree.q_offset + tree.q_index[b], tree.v_offset + tree.v_index[b]);
      });
  }
}

}  // namespace

Eigen::VectorXd integrate(const Scene& scene, const Eigen::VectorXd& q, const Eigen::VectorXd& x) {
  Eigen::VectorXd out = q;
  each_joint(scene, [&](auto joint, int at_q, int at_v) {
    joint.integrate(out.data() + at_q, x.data() + at_v, 1.0);
  });
  return out;
}

Eigen::VectorXd difference(const Scene& scene,
                           const Eigen::VectorXd& q0,
                           const Eigen::VectorXd& q1) {
  Eigen::VectorXd out(scene.nv());
  each_joint(scene, [&](auto joint, int at_q, int at_v) {
    joint.difference(q0.data() + at_q, q1.data() + at_q, out.data() + at_v);
  });
  return out;
}

}  // namespace stiction
