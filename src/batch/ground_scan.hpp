#pragma once

#include "stiction/batch/observer.hpp"
#include "stiction/geometry/bvh.hpp"

namespace stiction {

/// Heights under a frame of the ground of one world after another.
class GroundScan {
 public:
  /// Throws std::invalid_argument naming the setting that is out of range.
  GroundScan(const Scene& scene, const HeightScanSettings& settings);

  int size() const { return static_cast<int>(settings_.points.size() / 2); }
  const BodyFrame& frame() const { return settings_.frame; }
  /// To out [size()]: how far the ground lies under the frame's origin. `own`: the world's
  /// parameters where they are not the scene's.
  void heights(const Parameters* own, const Transform& X_WF, double* out) const;

 private:
  struct Ground {
    std::vector<Shape> shapes;
    std::vector<Transform> poses;
    std::vector<int> unbounded, bounded;
    Bvh tree;  ///< of the bounded ones

    Ground(const Scene& scene, const Parameters& p, const std::vector<int>& geometries);
    /// Length of the ray straight down; infinite: it meets nothing.
    double ray(const Vec3d& origin) const;
  };

  const Scene* scene_;
  HeightScanSettings settings_;
  Ground shared_;
};

}  // namespace stiction
