#pragma once

#include "collision/convex/support_difference.hpp"

namespace stiction::detail {

/// Larger faces are thinned to every second, third, ... vertex: still inside the face.
inline constexpr int kMaxPolygon = 64;
/// A convex polygon gains at most one vertex per clipping line; against a circle it has two points
/// per edge and those of the rim.
inline constexpr int kMaxClipped = 2 * kMaxPolygon + 8;

/// A round face: centre, two orthonormal axes fixed to the body, radius.
struct Disc {
  Vec3d centre, ex, ey;
  double radius;
};

/// What a core shows along a direction: a face with at least 3 vertices, a disc (count = 0), or a
/// segment of two vertices without a normal of its own: the core of a capsule, a line on the side
/// of a cylinder or cone; both vertices are the same point for a core that shows only a point.
struct Polygon {
  Vec3d p[kMaxPolygon];  ///< counter-clockwise seen from outside
  int count;
  Vec3d normal;   ///< unit, outward
  double offset;  ///< normal . p
  int id;         ///< number of the face in its shape
  Disc disc;      ///< count = 0 only

  bool is_disc() const { return count == 0; }
};

/// From here on edges are those of the reference face.
inline constexpr int kReferenceEdges = 128;
/// Kinds of points against a disc.
enum DiscPoint { kRim, kCorner, kEnter, kLeave, kOtherRim };

/// A corner of the clipped polygon, named by the lines of the edges before and after it:
/// 0.. edges of the incident face, 128.. edges of the reference face. Against a disc the two
/// numbers are the kind of point and its number. `p` lies on the incident face.
struct ClippedPoint {
  Vec3d p;
  int before, after;
};

/// The plane face most parallel to d (frame of the core) among those at its farthest point, placed
/// by X; false if there is none within 45 degrees of d that could be it.
bool plane_face_towards(const Core& core, const Vec3d& d, const Transform& X, Polygon& face);

/// The plane face nearest to normal to d at the edge or vertex of its farthest point; false if it
/// is not within 45 degrees.
bool plane_face_facing(const Core& core, const Vec3d& d, const Transform& X, Polygon& face);

/// What the core shows along the unit d: of a hull the face nearest to normal to d that holds all
/// that is farthest, an edge with both ends; else the face of plane_face_towards(), or a segment.
void face_towards(const Core& core, const Vec3d& d, const Transform& X, Polygon& face);

/// The part of `incident` above `reference` (a face or disc), seen along n: the normal of
/// `reference`, or a direction within 45 degrees of it. Points outside by at most `flush` [m] count
/// as inside. Returns the number of points.
int clip(const Polygon& incident,
         const Polygon& reference,
         const Vec3d& n,
         double flush,
         ClippedPoint* out);

/// The same if one of them is a disc.
int clip_disc(const Polygon& incident,
              const Polygon& reference,
              const Vec3d& n,
              double flush,
              ClippedPoint* out);

}  // namespace stiction::detail
