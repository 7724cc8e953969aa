#pragma once

#include "stiction/model/robot.hpp"

namespace stiction {

/// Disables the pairs of geometries whose bodies are parent and child, the fixed base included:
/// they always touch at their joint.
inline void disable_adjacent_pairs(Robot& robot) {
  const auto parent = [&](int body) { return body < 0 ? -2 : robot.bodies[body].parent; };
  const int n = static_cast<int>(robot.geometries.size());
  for (int a = 0; a < n; ++a) {
    for (int b = a + 1; b < n; ++b) {
      const int body_a = robot.geometries[a].body, body_b = robot.geometries[b].body;
      if (body_a == body_b) continue;
      if (parent(body_a) == body_b || parent(body_b) == body_a) {
        robot.disabled_pairs.push_back({a, b});
      }
    }
  }
}

}  // namespace stiction
