#pragma once

#include "collision/scene/collide.hpp"
#include "simulator/lanes/lane_layout.hpp"

namespace stiction {

/// The narrow phase of one world at a time, for pairs whose points no slot knows beforehand. Shared
/// by the worlds of a thread; what it finds depends on the query alone.
class PairFinder {
 public:
  PairFinder(const Scene& scene, const SimulatorSettings& settings);

  /// The same scene, which may have moved.
  void follow(const Scene& scene) { scene_ = &scene; }
  /// Points of contact of the pair, sorted by feature, into `out`; their number, -1 if they are
  /// more than `most` or not finite.
  int find(const LanePairQuery& query, LanePairPoint* out, int most);
  /// The point of a ball on open ground, to the bit that of find(); 0 or 1, -1: not decided.
  int find_ball(const LaneBallQuery& query, LanePairPoint& out);
  void maps(const LanePairQuery& query, const LaneFeature& at, double* out);
  /// Takes a geometry for mark_covered().
  void place(int geometry, const LaneShape& shape);
  /// Marks the contacts of one world against which a seam would push.
  void mark_covered(LaneSeamPoint* points, int count);
  /// All as LaneScene wants them.
  void give_to(LaneScene& scene);

 private:
  const Scene* scene_;
  CollisionSettings settings_;
  double dt_;
  CollisionWorkspace work_;
  std::vector<SurfacePoint> ball_points_;
};

}  // namespace stiction
