#pragma once

#include "simplex.hpp"

namespace stiction::detail {

inline constexpr int kEpaMaxVertices = 132;                   ///< 4 + 128 iterations
inline constexpr int kEpaMaxFaces = 2 * kEpaMaxVertices - 4;  ///< Euler

struct EpaResult {
  bool converged = false;  ///< depth is within the tolerance of the minimum
  Vec3d normal{0, 0, 1};   ///< unit, frame A, from A to B
  double depth = 0.0;      ///< overlap along `normal`, an upper bound of the penetration depth [m]
  Vec3d witness_a{0, 0, 0}, witness_b{0, 0, 0};  ///< frame A
  int iterations = 0;
  SupportPoint face[3];
};

/// Penetration depth of D about the origin, started from a simplex that holds it or touches it.
EpaResult epa(SupportDifference& D, const Simplex& start, const DistanceSettings& settings);

}  // namespace stiction::detail
