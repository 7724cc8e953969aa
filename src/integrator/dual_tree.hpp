#pragma once

#include "stiction/model/parameters.hpp"
#include "stiction/model/tree.hpp"

#include "dynamics/tree_data.hpp"
#include "math/dual.hpp"
#include "model/joint.hpp"

#include <vector>

// The kernels of a tree run on dual numbers: everything at the end of a step with its derivatives.

namespace stiction {

inline constexpr int kDirections = 8;
using Direction = Dual<kDirections>;

/// What the end of a step is differentiated by: its velocity nu, the q it starts from (a tangent,
/// axes of the bodies), the v it starts from.
enum class Seed : std::uint8_t { kEndVelocity, kStart, kStartVelocity };

/// One tree at the end of the step, differentiated in up to kDirections of its own dofs.
struct DualTree {
  TreeParameters<Direction> parameters{};
  TreeData<Direction> data{};
  std::vector<Direction> q, v, a;
  std::vector<Motion<Direction>> joint_acceleration;

  void resize(const Tree& tree);
  void take(const Tree& tree, const TreeParameters<double>& p);

  /// q+, v+ and a of the tree for nu, `seed` in the dofs [first, first + kDirections), then its
  /// kinematics and inertial forces at a.
  void move(const TreeView& view,
            double h,
            const double* q0,
            const double* v0,
            const double* nu,
            int first,
            Seed seed = Seed::kEndVelocity);

 private:
  std::vector<RigidTransform<Direction>> placement_;
  std::vector<Direction> memory_, mass_;  // memory_ backs `data`
  std::vector<Direction> shift_;          // of the start
  std::vector<Vec3<Direction>> axis_, com_;
  std::vector<Sym3<Direction>> central_;
};

// Constants as duals.
template <class T, class U>
inline Vec3<T> lift(const Vec3<U>& v) {
  return {T(v.x), T(v.y), T(v.z)};
}
inline Mat3<Direction> lift(const Mat3d& m) {
  return {lift<Direction>(m.c0), lift<Direction>(m.c1), lift<Direction>(m.c2)};
}
inline RigidTransform<Direction> lift(const Transform& X) {
  return {lift(X.R), lift<Direction>(X.p)};
}
inline Sym3<Direction> lift(const Sym3d& s) { return {s.xx, s.xy, s.yy, s.xz, s.yz, s.zz}; }

/// A += the accelerations that the joints' a add: body forces at A are then those of M a + b.
template <class Real>
void add_joint_acceleration(const TreeView& tree,
                            const Real* a,
                            std::vector<Motion<Real>>& added,
                            TreeData<Real>& data) {
  added.resize(tree.num_bodies);
  const Real o(0.0);
  for (int b = 0; b < tree.num_bodies; ++b) {
    const int p = tree.parent[b], j = tree.v_index[b];
    Motion<Real> sum = p < 0 ? Motion<Real>{{o, o, o}, {o, o, o}} : added[p];
    for (int k = 0; k < joint_nv(tree.joint[b]); ++k) sum = sum + data.S[j + k] * a[j + k];
    added[b] = sum;
    data.A[b] = data.A[b] + sum;
  }
}

}  // namespace stiction
