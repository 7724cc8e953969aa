#include "dual_tree.hpp"

#include "stiction/dynamics/bias.hpp"
#include "stiction/dynamics/integrate.hpp"
#include "stiction/dynamics/kinematics.hpp"
#include "stiction/math/clones.hpp"

#include <algorithm>

namespace stiction {

void DualTree::resize(const Tree& tree) {
  const int n = tree.num_bodies;
  X_RB_.resize(n);
  placement_.resize(n);
  S_.resize(tree.nv);
  V_.resize(n);
  A_.resize(n);
  inertia_.resize(n);
  F_.resize(n);
  bias_.resize(tree.nv);
  mass_.resize(n);
  axis_.resize(n);
  com_.resize(n);
  zero_.assign(n, {0.0, 0.0, 0.0});
  central_.resize(n);
  q.resize(tree.nq);
  v.resize(tree.nv);
  a.resize(tree.nv);
  joint_acceleration.resize(n);
}

void DualTree::take(const Tree& tree, const TreeParameters<double>& p) {
  for (int b = 0; b < tree.num_bodies; ++b) {
    placement_[b] = lift(p.placement[b]);
    axis_[b] = lift<Direction>(p.axis[b]);
    mass_[b] = p.mass[b];
    com_[b] = lift<Direction>(p.com[b]);
    central_[b] = lift(p.inertia[b]);
  }
  parameters = {placement_.data(),
                axis_.data(),
                mass_.data(),
                com_.data(),
                central_.data(),
                lift(p.base),
                lift<Direction>(p.gravity)};
  data.X_RB = X_RB_.data();
  data.S = S_.data();
  data.V = V_.data();
  data.A = A_.data();
  data.inertia = inertia_.data();
  data.F = F_.data();
  data.bias = bias_.data();
}

/// Flattened: the kernels' loops over directions then take the registers of each clone. They add
/// nothing across directions, so all clones give the same bits.
STICTION_CLONES __attribute__((flatten)) void DualTree::move(const TreeView& view,
                                                             double h,
                                                             const double* q0,
                                                             const double* v0,
                                                             const double* nu,
                                                             int first) {
  std::copy(q0, q0 + view.nq, q.begin());
  for (int k = 0; k < view.nv; ++k) {
    v[k] = nu[k];
    if (k >= first && k < first + kDirections) v[k].d[k - first] = 1.0;
    a[k] = (v[k] - Direction(v0[k])) * Direction(1.0 / h);
  }
  TreeParameters<Direction> about_origin = parameters;
  about_origin.com = zero_.data();  // the reference point of step_coordinates.hpp
  integrate_configuration(view, about_origin, Direction(h), q.data(), v.data());
  forward_kinematics(view, parameters, q.data(), v.data(), data);
  if (view.free_root) {
    const Mat3<Direction> R0 = lift(rotation_from_quaternion(q0 + 3));
    const Vec3<Direction> turned_a =
        transpose_times(data.X_WR.R, R0 * Vec3<Direction>{a[0], a[1], a[2]});
    for (int k = 0; k < 3; ++k) a[k] = turned_a[k];
  }
  add_joint_acceleration(view, a.data(), joint_acceleration, data);
  body_inertias_and_forces(view, parameters, data);
}

}  // namespace stiction
