#pragma once

#include "stiction/model/joint_type.hpp"

#include <cstdint>

namespace stiction {

/// Topology of one kinematic tree as plain arrays, all indices local to the tree. Bodies are
/// numbered depth first (parent < child), dofs likewise. The root frame is the first body if its
/// joint is free, otherwise the fixed base. Packed rows: dof j owns depth[j] + 1 entries at row[j],
/// one per dof of its chain (ancestors, then itself); the row of an ancestor is a prefix in the
/// same order.
struct TreeView {
  int num_bodies, nq, nv;
  int packed_size;               ///< sum of the row lengths
  bool free_root;                ///< the first joint is free, see dynamics/free_root.hpp
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
