#pragma once

#include "stiction/model/robot.hpp"
#include "stiction/model/tree_view.hpp"

#include <string>
#include <vector>

namespace stiction {

/// Flat topology of one kinematic tree and its place in the scene's arrays. Never changes.
struct Tree {
  int body_offset = 0, q_offset = 0, v_offset = 0;
  int num_bodies = 0, nq = 0, nv = 0;
  bool free_root = false;
  std::vector<int> parent, q_index, v_index, depth, row, chain;
  std::vector<JointType> joint;
  std::vector<std::int8_t> axis_code;
  std::vector<int> joint_of_dof;   ///< [nv] the body whose joint it belongs to
  std::vector<int> last_dof;       ///< [num_bodies] last dof of the body's chain
  std::vector<int> common_length;  ///< [num_bodies^2] dofs shared by the chains of two bodies

  /// From bodies[first, last), one tree, numbered depth first; throws naming the body otherwise.
  static Tree build(const std::vector<BodyDescription>& bodies, int first, int last);
  TreeView view() const;
  /// What every index into it relies on: sizes, parents and chains in order, rows end to end.
  bool consistent() const;
  int common(int body_a, int body_b) const { return common_length[body_a * num_bodies + body_b]; }
};

}  // namespace stiction
