#pragma once

#include "stiction/collision/manifold.hpp"

#include <memory>
#include <vector>

namespace stiction {

/// A pair with a height field or triangle mesh has at most this many manifolds.
inline constexpr int kMaxManifolds = 16;

/// One way in which a surface can be touched, before points are gathered into manifolds.
struct SurfacePoint {
  Vec3d normal;      ///< unit, frame of the surface, away from it
  Vec3d on_surface;  ///< witness point on the surface, its frame [m]
  double gap;        ///< [m]
  std::uint32_t feature;
  int manifold;
  double ball_radius = 0.0;  ///< of a ball over a face [m]; 0: other features
};

/// An edge of one surface goes through a triangle of the other.
struct SurfaceCrossing {
  Vec3d p;         ///< frame of A [m]
  int low, high;   ///< vertices of the edge
  int triangle;    ///< that it goes through
  int patch;       ///< flat region of that triangle
  bool edge_of_a;  ///< else of B
  bool flat;       ///< the edge is no feature of its surface
};
/// Two triangles cross along a segment, from end[0] to end[1] along n_a x n_b.
struct CrossingSegment {
  SurfaceCrossing end[2];
  Vec3d n_a, n_b;  ///< frame of A
  int a, b;        ///< triangles
  int curve;       ///< number of the closed curve it is part of
};
/// A corner of the overlap of two solids.
struct OverlapPoint {
  Vec3d p;  ///< frame of A [m]
  std::uint32_t feature;
  bool of_a, of_b;  ///< whose surface it lies on
  bool sharp;       ///< a corner, or on an edge that is not flat
};

/// A triangle as a convex shape, filled again and again without allocation. Copies share nothing.
class TriangleShape {
 public:
  TriangleShape();
  TriangleShape(const TriangleShape&) : TriangleShape() {}
  TriangleShape& operator=(const TriangleShape&) { return *this; }
  /// Frame: axes of v, origin in the middle of the corners; returns that origin.
  Vec3d set(const Vec3d v[3], const Vec3d& normal);
  const Shape& shape() const { return shape_; }

 private:
  std::shared_ptr<ConvexMesh> mesh_;
  Shape shape_;
};

/// Answer and buffers of contact_manifolds(); grown on demand, no meaning between calls.
struct ManifoldWorkspace {
  std::vector<Manifold> manifolds;    ///< the answer; features differ across all of them
  std::int64_t boxes_tested = 0;      ///< by the last call: tree nodes or cells looked at
  std::int64_t triangles_tested = 0;  ///< by the last call

  std::vector<int> triangles;                 ///< near the other shape
  std::vector<int> vertices;                  ///< of a surface, near a half-space
  std::vector<std::uint64_t> triangle_pairs;  ///< of two surfaces: triangle of A << 32 | of B
  std::vector<SurfacePoint> points;
  std::vector<Vec3d> normals;  ///< [numbers of SurfacePoint::manifold]
  std::vector<int> kept;       ///< those numbers that become manifolds
  std::vector<CrossingSegment> segments;
  std::vector<OverlapPoint> overlap;
  std::vector<std::uint8_t> visited;
  std::vector<double> depths_of_a, depths_of_b;  ///< of vertices in the other solid
  std::vector<int> stack;
  std::vector<ManifoldPoint> candidates;
  TriangleShape triangle;
};

/// Contact points of any pair whose gap is at most `margin` [m], one manifold per normal. Pairs of
/// convex shapes and half-spaces have at most one. Solids (closed meshes, height fields) that
/// overlap always have a contact, at any depth. No allocation once the buffers have grown. Throws
/// std::invalid_argument for a placement with a number that is not finite.
void contact_manifolds(const Shape& a,
                       const Transform& X_WA,
                       const Shape& b,
                       const Transform& X_WB,
                       double margin,
                       ManifoldWorkspace& work,
                       DistanceCache* cache = nullptr);

}  // namespace stiction
