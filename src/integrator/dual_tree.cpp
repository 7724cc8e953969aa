#include "integrator/dual_tree.hpp"

#include "dynamics/bias.hpp"
#include "dynamics/integrate.hpp"
#include "dynamics/kinematics.hpp"
#include "dynamics/tree_layout.hpp"
#include "math/clones.hpp"

#include <algorithm>

namespace stiction {

void DualTree::resize(const Tree& tree) {
  const int n = tree.num_bodies;
  memory_.resize(tree_data_size<Direction>(tree.view()));
  placement_.resize(n);
  mass_.resize(n);
  axis_.resize(n);
  com_.resize(n);
  central_.resize(n);
  q.resize(tree.nq);
  v.resize(tree.nv);
  a.resize(tree.nv);
  shift_.resize(tree.nv);
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
  Arena<Direction> arena{memory_.data()};
  data = take_tree_data(tree.view(), arena);
  parameters = {placement_.data(),
                axis_.data(),
                mass_.data(),
                com_.data(),
                central_.data(),
                lift(p.base),
                lift<Direction>(p.gravity)};
}

/// Flattened: the kernels' loops over directions then take the registers of each clone. They add
/// nothing across directions, so all clones give the same bits.
STICTION_CLONES __attribute__((flatten)) void DualTree::move(const TreeView& view,
                                                             double h,
                                                             const double* q0,
                                                             const double* v0,
                                                             const double* nu,
                                                             int first,
                                                             Seed seed) {
  std::copy(q0, q0 + view.nq, q.begin());
  for (int k = 0; k < view.nv; ++k) {
    Direction start = v0[k];
    v[k] = nu[k];
    shift_[k] = 0.0;
    Direction& seeded = seed == Seed::kEndVelocity ? v[k]
                        : seed == Seed::kStart     ? shift_[k]
                                                   : start;
    if (k >= first && k < first + kDirections) seeded.d[k - first] = 1.0;
    a[k] = (v[k] - start) * Direction(1.0 / h);
  }
  Mat3<Direction> before = lift(root_rotation(view, q0));
  if (seed == Seed::kStart) {
    integrate_joints(view, 0, Direction(1.0), q.data(), shift_.data());
    before = root_rotation(view, q.data());
  }
  const Vec3<Direction> origin{0.0, 0.0, 0.0};  // the reference point of step_coordinates.hpp
  integrate_configuration(view, origin, Direction(h), q.data(), v.data());
  forward_kinematics(view, parameters, q.data(), v.data(), data);
  turn_root_velocity(view, before, data.X_WR.R, origin, a.data());
  add_joint_acceleration(view, a.data(), joint_acceleration, data);
  body_inertias_and_forces(view, parameters, data);
}

}  // namespace stiction
