#pragma once

#include "stiction/batch/observer.hpp"

#include "dynamics/forest.hpp"

namespace stiction {

/// Frames of one world at a time.
class FrameMotion {
 public:
  explicit FrameMotion(const Scene& scene) : scene_(&scene) { work_.resize(scene); }

  /// At (q, v), under the placements of `p`, which must stay as long as it is asked.
  void set(const Parameters& p, const double* q, const double* v);

  const DynamicsWorkspace& dynamics() const { return work_; }
  Vec3d centre_of_mass(int tree) const;  ///< of all its bodies, world [m]
  Transform pose(const BodyFrame& frame) const;
  Vec3d velocity(const BodyFrame& frame) const;  ///< of its origin [m/s], world axes
  Vec3d turn(const BodyFrame& frame) const;      ///< [rad/s], world axes
  /// Acceleration of the frame's origin less gravity in the frame's axes [m/s^2], with the
  /// accelerations [nv] as LastSteps has them: what an accelerometer there reads.
  Vec3d specific_force(const BodyFrame& frame,
                       const double* acceleration,
                       const Vec3d& gravity) const;

 private:
  const Scene* scene_;
  const Parameters* parameters_ = nullptr;
  DynamicsWorkspace work_;
};

}  // namespace stiction
