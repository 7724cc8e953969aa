#pragma once

#include "support_difference.hpp"

namespace stiction::detail {

/// Larger faces are thinned to every second, third, ... vertex: still inside the face.
inline constexpr int kMaxPolygon = 64;
/// A convex polygon gains at most one vertex per clipping line.
inline constexpr int kMaxClipped = 2 * kMaxPolygon;

/// A face of a core; the segment of a capsule is a face of two vertices without a normal.
struct Polygon {
  Vec3d p[kMaxPolygon];  ///< counter-clockwise seen from outside
  int count;
  Vec3d normal;   ///< unit, outward
  double offset;  ///< normal . p
  int id;         ///< number of the face in its shape
};

/// A corner of the clipped polygon, named by the lines of the edges before and after it:
/// 0.. edges of the incident face, 128.. edges of the reference face.
struct ClippedPoint {
  Vec3d p;
  int before, after;
};

bool has_faces(const Core& core);

/// The face most parallel to d (frame of the core) among those at its farthest vertex, placed by X.
void face_towards(const Core& core, const Vec3d& d, int hint, const Transform& X, Polygon& face);

/// The part of `incident` above `reference`. Vertices outside by at most `flush` [m] count as
/// inside. Returns the number of points.
int clip(const Polygon& incident, const Polygon& reference, double flush, ClippedPoint* out);

}  // namespace stiction::detail
