#include "dynamics/joint_arms.hpp"

#include "model/joint.hpp"

#include <algorithm>
#include <cmath>

namespace stiction {
namespace {

/// Mass with its first and second moment about the origin of the base.
struct Moments {
  double mass = 0.0;
  Vec3d first{0, 0, 0};
  double second = 0.0;  ///< sum of m |x|^2

  void add(const Moments& other) {
    mass += other.mass;
    first = first + other.first;
    second += other.second;
  }
  /// Root mean square distance from a point.
  double spread(const Vec3d& p) const {
    if (!(mass > 0.0)) return 0.0;
    const double moment = second - 2.0 * dot(first, p) + mass * squared_norm(p);
    return std::sqrt(std::max(0.0, moment / mass));
  }
};

/// sum m |x|^2 of a body is m |com|^2 and half the trace of its inertia.
Moments moments_of(const Parameters& p, int body, const Transform& X) {
  const Vec3d com = X.p + X.R * p.com[body];
  const Sym3d& I = p.inertia[body];
  const double trace = I.xx + I.yy + I.zz, m = p.mass[body];
  return {m, com * m, m * squared_norm(com) + 0.5 * trace};
}

void add_tree(const Tree& tree, const Parameters& p, double* arm) {
  constexpr double kLeast = 0.01;  // a joint in the middle of all that it carries
  std::vector<Transform> X(tree.num_bodies, Transform::identity());
  std::vector<Moments> carried(tree.num_bodies);
  for (int b = 0; b < tree.num_bodies; ++b) {
    const int parent = tree.parent[b], body = tree.body_offset + b;
    if (!joint_facts(tree.joint[b]).free)
      X[b] = parent < 0 ? p.placement[body] : X[parent] * p.placement[body];
    carried[b] = moments_of(p, body, X[b]);
  }
  for (int b = tree.num_bodies - 1; b > 0; --b) carried[tree.parent[b]].add(carried[b]);
  const Moments& all = carried[0];
  const double least = all.mass > 0.0 ? kLeast * all.spread(all.first * (1.0 / all.mass)) : 0.0;
  for (int b = 0; b < tree.num_bodies; ++b) {
    const JointFacts& joint = joint_facts(tree.joint[b]);
    if (joint.free) continue;
    const double length = std::max(carried[b].spread(X[b].p), least);
    for (int k = joint.linear_dofs; k < joint.nv && length > 0.0; ++k)
      arm[tree.v_index[b] + k] = length;
  }
}

}  // namespace

std::vector<double> joint_arms(const Scene& scene) {
  std::vector<double> arms(scene.nv(), 1.0);
  for (const Tree& tree : scene.trees())
    add_tree(tree, scene.parameters, arms.data() + tree.v_offset);
  return arms;
}

}  // namespace stiction
