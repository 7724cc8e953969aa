#pragma once

#include "stiction/model/scene.hpp"

#include "collision/pairs/pair.hpp"

#include <stdexcept>
#include <string>
#include <vector>

namespace stiction::detail {

/// Throws std::invalid_argument for another number of poses than geometries, and for one that is
/// not finite: its box would overlap none, so that the geometry would be passed over in silence.
inline void check_poses(const char* call, const Scene& scene, const std::vector<Transform>& poses) {
  if (poses.size() != scene.geometries().size()) {
    throw std::invalid_argument(
        std::string(call) + ": poses.size() = " + std::to_string(poses.size()) +
        ": must be the number of geometries, " + std::to_string(scene.geometries().size()));
  }
  for (std::size_t g = 0; g < poses.size(); ++g) {
    if (is_finite(poses[g])) continue;
    throw std::invalid_argument(std::string(call) + ": poses[" + std::to_string(g) +
                                "] has a number that is not finite");
  }
}

}  // namespace stiction::detail
