#pragma once

#include "stiction/model/scene.hpp"

#include "model/joint.hpp"

namespace stiction {

/// Visits each group of q entries that must have unit norm, quaternions and (cos, sin): its first
/// entry, their number, the name of the joint.
template <class Visit>
void each_unit_group(const Scene& scene, Visit&& visit) {
  for (const Tree& tree : scene.trees()) {
    for (int b = 0; b < tree.num_bodies; ++b) {
      const int q = tree.q_offset + tree.q_index[b];
      const std::string& name = scene.joint_names()[tree.body_offset + b];
      const JointFacts& joint = joint_facts(tree.joint[b]);
      if (joint.unit_count > 0) visit(q + joint.unit_first, joint.unit_count, name);
    }
  }
}

}  // namespace stiction
