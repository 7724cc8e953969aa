#pragma once

#include "stiction/geometry/shape.hpp"

namespace stiction {

/// Warm start of a convex query: vertex indices (or quantised directions) of the last simplex.
/// A value: in and out, part of the State, never hidden inside the library.
struct DistanceCache {
  int count = 0;             ///< 0: cold
  Vec3d direction{0, 0, 0};  ///< last separating direction, frame A
  int index_a[4] = {0, 0, 0, 0};
  int index_b[4] = {0, 0, 0, 0};
  int reference = -1;  ///< reference face of the last manifold (box against box), -1: none
};

enum class DistanceStatus : std::uint8_t {
  kSeparated,      ///< distance > 0, bounds closed to the tolerance
  kPenetrating,    ///< distance < 0, depth certified by EPA to the tolerance
  kTouching,       ///< |distance| below rounding of the pair's size; normal from the features
  kMaxIterations,  ///< best bounds so far; distance is the upper bound
};
const char* to_string(DistanceStatus status);

struct DistanceSettings {
  double tolerance =
      1e-10;  ///< [m] > 0, bounds (upper - lower) distance; relative floor 1e-14 of the size
  int max_iterations = 128;  ///< >= 1, of GJK and of EPA each
};

struct DistanceResult {
  double distance;             ///< signed [m], negative = penetration depth
  Vec3d witness_a, witness_b;  ///< world [m]; witness_b - witness_a = distance * normal
  Vec3d normal;                ///< unit, world, from A to B
  int iterations = 0;
  DistanceStatus status = DistanceStatus::kMaxIterations;
};

/// Signed distance of two shapes. Half-space against half-space is refused (std::invalid_argument).
DistanceResult distance(const Shape& a,
                        const Transform& X_WA,
                        const Shape& b,
                        const Transform& X_WB,
                        const DistanceSettings& settings = {},
                        DistanceCache* cache = nullptr);

/// True if the shapes overlap or touch.
bool collide(const Shape& a, const Transform& X_WA, const Shape& b, const Transform& X_WB);

}  // namespace stiction
