#pragma once

#include "collision/convex/gjk.hpp"

namespace stiction::detail {

/// Distance of D from the origin by Nesterov smoothing of the minimum-norm duality (Qin and An,
/// "Smoothing algorithms for computing the projection onto a Minkowski sum of convex sets", 2019).
/// Its simplex holds one point that belongs to no vertices. `target`: stop as soon as the point is
/// within 1e-4 m of it (GJK++ Table III).
GjkResult nesmino(const SupportDifference& D,
                  const Vec3d& x0,
                  const DistanceSettings& settings,
                  double stop_above,
                  const Vec3d* target = nullptr);

}  // namespace stiction::detail
