#pragma once

#include "batch/frame_motion.hpp"
#include "batch/world_range.hpp"
#include "collision/scene/collide.hpp"

#include <vector>

namespace stiction {

/// What the contacts of one world's last rigid step carried, and where. A world keeps their
/// impulses alone; their places are found once more where the step began, which takes as long as
/// its collision part.
class ContactWrenches {
 public:
  ContactWrenches(const Scene& scene, const SimulatorSettings& settings)
      : scene_(scene), settings_(settings) {
    collision_.resize(scene);
  }

  /// Of the world whose state after the step is given to fill in: its impulses count, and
  /// `before` is where the step began. Points that push without being found again (a warm start
  /// led the narrow phase to other features) lie in the middle of those of their pair, and what
  /// has none at the centre of its first body.
  State& state() { return state_; }
  const std::vector<AppliedContact>& find(const Parameters& p, const FrameMotion& before);

 private:
  Vec3d place_of(const ContactMemory& contact, const Vec3d& otherwise) const;

  const Scene& scene_;
  const SimulatorSettings& settings_;
  State state_;
  CollisionWorkspace collision_;
  ContactSet found_;
  std::vector<AppliedContact> out_;
};

}  // namespace stiction
