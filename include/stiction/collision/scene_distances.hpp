#pragma once

#include "stiction/collision/distance.hpp"
#include "stiction/model/state.hpp"

#include <vector>

namespace stiction {

/// World placements of all geometries at a configuration q (nq numbers) under `parameters`.
std::vector<Transform> geometry_poses(const Scene& scene,
                                      const Parameters& parameters,
                                      const Eigen::VectorXd& q);

/// Two geometries, a < b, and how far they are from each other.
struct PairDistance {
  int geometry_a, geometry_b;
  DistanceResult result;
};

/// Signed distances of all pairs that may collide (Scene::pair_enabled, so not two world
/// geometries) and are at most `max_distance` [m] apart, sorted by (a, b). Found through the broad
/// phase; of `parameters` the sizes are read. Throws std::invalid_argument for another number of
/// poses than geometries, a pose that is not finite, max_distance < 0 or NaN.
std::vector<PairDistance> scene_distances(const Scene& scene,
                                          const Parameters& parameters,
                                          const std::vector<Transform>& poses,
                                          double max_distance);

}  // namespace stiction
