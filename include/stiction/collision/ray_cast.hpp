#pragma once

#include "stiction/model/scene.hpp"

#include <vector>

namespace stiction {

struct RayHit {
  double distance = kInfinity;  ///< [m] along the ray; infinite: nothing hit
  Vec3d normal{0, 0, 0};        ///< unit, of the surface that was hit, towards the ray's side
  int geometry = -1;
};

/// Where a ray enters one shape, shape frame: origin [m], unit direction. Surfaces are seen from
/// outside only: a ray that begins inside a shape does not see it. Returns false beyond
/// `max_distance`; sets distance and normal of `hit`.
bool ray_cast(const Shape& shape,
              const Vec3d& origin,
              const Vec3d& direction,
              double max_distance,
              RayHit& hit);

/// First hit of each ray with the scene's geometries. `poses`: world placements of the geometries,
/// see geometry_poses(); of `parameters` the sizes are read. Directions need not be unit, distances
/// are in metres all the same. Bodies listed in `ignored` are not seen (-1: world geometry). Ties
/// go to the lower geometry. Throws std::invalid_argument for unequal numbers, a direction of zero,
/// numbers that are not finite (poses too), max_distance < 0.
std::vector<RayHit> ray_cast(const Scene& scene,
                             const Parameters& parameters,
                             const std::vector<Transform>& poses,
                             const std::vector<Vec3d>& origins,
                             const std::vector<Vec3d>& directions,
                             double max_distance = kInfinity,
                             const std::vector<int>& ignored = {});

}  // namespace stiction
