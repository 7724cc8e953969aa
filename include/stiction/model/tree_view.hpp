#pragma once

#include <cstdint>

namespace stiction {

enum class JointType : std::uint8_t {
  kFreeFlyer,   ///< nq 7 (x y z, quaternion x y z w), nv 6 (linear, angular; body frame); root only
  kSpherical,   ///< nq 4 (quaternion x y z w), nv 3 (angular, body frame)
  kRevolute,    ///< nq 1 [rad], nv 1
  kContinuous,  ///< nq 2 (cos, sin), nv 1
  kPrismatic,   ///< nq 1 [m], nv 1
};
constexpr int joint_nq(JointType t) {
  return t == JointType::kFreeFlyer    ? 7
         : t == JointType::kSpherical  ? 4
         : t == JointType::kContinuous ? 2
                                       : 1;
}
constexpr int joint_nv(JointType t) {
  return t == JointType::kFreeFlyer ? 6 : t == JointType::kSpherical ? 3 : 1;
}

/// Topology of one kinematic tree as plain arrays, all indices local to the tree. Bodies are
/// numbered depth first (parent < child), dofs likewise. The root frame is the first body for a
/// free-flyer, otherwise the fixed base. Packed rows: dof j owns depth[j] + 1 entries at row[j],
/// one per dof of its chain (ancestors, then itself); the row of an ancestor is a prefix in the
/// same order.
struct TreeView {
  int num_bodies, nq, nv;
  int packed_size;               ///< sum of the row lengths
  bool free_root;                ///< the first body is a free-flyer
  const int* parent;             ///< [num_bodies] -1: the root frame
  const JointType* joint;        ///< [num_bodies]
  const std::int8_t* axis_code;  ///< [num_bodies] 0 1 2: joint axis is +x +y +z; 3: general
  const int* q_index;            ///< [num_bodies]
  const int* v_index;            ///< [num_bodies]
  const int* depth;              ///< [nv] number of strict ancestors
  const int* row;                ///< [nv] start of the packed row
  const int* chain;              ///< [packed_size] dofs of the chain of each row
};

}  // namespace stiction
