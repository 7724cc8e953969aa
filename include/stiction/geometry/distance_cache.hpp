#pragma once

#include "stiction/math/spatial.hpp"

#include <cstdint>

namespace stiction {

/// The last polytope of a penetrating query: which vertices of A and B span it and its triangles.
/// Its points move with the bodies, so it is still a shell of points of A - B in the next step, and
/// if it still holds the origin its nearest face bounds the depth from below.
struct PolytopeCache {
  static constexpr int kMaxVertices = 40, kMaxFaces = 2 * kMaxVertices - 4;
  int vertices = 0, faces = 0;  ///< 0: none
  std::int32_t index_a[kMaxVertices] = {}, index_b[kMaxVertices] = {};
  std::uint8_t face[kMaxFaces][3] = {};  ///< counter-clockwise seen from outside
};

/// Warm start of a convex query: vertex numbers of the last simplex or polytope. A value: in and
/// out, part of the State, never hidden inside the library. A is the shape whose type comes first
/// in ShapeType (of equal types the first argument), whatever the order of the arguments.
struct DistanceCache {
  int count = 0;  ///< points of the last simplex; 0: cold
  /// Last separating direction, frame A. A cold search starts along it, unless it is zero.
  Vec3d direction{0, 0, 0};
  int index_a[4] = {0, 0, 0, 0};  ///< vertex numbers, -1 on a smooth shape
  int index_b[4] = {0, 0, 0, 0};
  int reference = -1;  ///< reference face of the last manifold (box against box), -1: none
  PolytopeCache polytope;
};

}  // namespace stiction
