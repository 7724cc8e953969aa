#pragma once

#include "stiction/model/control.hpp"

#include <memory>
#include <vector>

namespace stiction {

/// Forces and moments of all worlds at one point of a body.
struct WrenchRows {
  int body;
  Vec3d point;  ///< in the body [m]
  std::unique_ptr<double[]>
      rows;  ///< [worlds, 6] force [N], moment about the point [N m]; world axes

  const double* of(std::ptrdiff_t world) const { return rows.get() + 6 * world; }
  /// Whether the moment about the body's origin depends on how the body is turned.
  bool off_origin() const { return point.x != 0.0 || point.y != 0.0 || point.z != 0.0; }
};
using WrenchTable = std::vector<WrenchRows>;

/// Those of a world as a Simulator takes them, into `out`. `poses(X)` fills X with the poses of the
/// bodies, and is asked only where a point is not at an origin.
template <class Poses>
void take_wrenches(const WrenchTable& table,
                   std::ptrdiff_t world,
                   Poses&& poses,
                   std::vector<Transform>& X,
                   std::vector<ExternalWrench>& out) {
  out.clear();
  X.clear();
  for (const WrenchRows& wrench : table) {
    const double* x = wrench.of(world);
    const Vec3d force{x[0], x[1], x[2]};
    Vec3d moment{x[3], x[4], x[5]};
    if (wrench.off_origin()) {
      if (X.empty()) poses(X);
      moment += cross(X[wrench.body].R * wrench.point, force);
    }
    out.push_back({wrench.body, force, moment});
  }
}

}  // namespace stiction
