#pragma once

#include "stiction/collision/manifold.hpp"

#include "collision/manifold/facing_polygon.hpp"
#include "collision/manifold/manifold_workspace.hpp"
#include "collision/surface/surface.hpp"

// How far one shape must go to leave another along some direction: no contact is deeper than that.
// Directions are features of the shapes, so that what they give does not depend on their frames.

namespace stiction::detail {

/// The shortest of the motions along u that were offered: from the lowest point of what moves up to
/// the height `high` of what it leaves.
struct Push {
  Vec3d u{0, 0, 1};
  double high = 0.0, depth = HUGE_VAL;  // [m]
  std::uint32_t feature = 0;

  /// Taken if it is shorter by more than `tie` [m].
  void offer(const Vec3d& d, double high_along, double low_along, double tie, std::uint32_t id) {
    if (high_along - low_along < depth - tie) *this = {d, high_along, high_along - low_along, id};
  }
};

/// visit(n, number): outward normals of the flat sides of a convex shape, unit, its frame; of a
/// round one the axes of its symmetry; of a hull the face that it turns towards d.
template <class Visit>
void for_each_side(const Shape& s, const Vec3d& d, Visit visit) {
  if (s.type == ShapeType::kSphere) return;
  if (s.type == ShapeType::kConvexMesh) {
    Polygon face;
    facing_polygon(s, Transform::identity(), d, face);
    if (face.count >= 3) visit(face.normal, std::uint32_t(face.id));
    return;
  }
  const bool round =
      s.type == ShapeType::kCapsule || s.type == ShapeType::kCylinder || s.type == ShapeType::kCone;
  for (int k = round ? 4 : 0; k < 6; ++k) {
    Vec3d axis{0, 0, 0};
    axis[k / 2] = k % 2 == 0 ? 1.0 : -1.0;
    visit(axis, std::uint32_t(k));
  }
}

/// Gap of the deepest point; infinite if there is none [m].
double deepest(const std::vector<SurfacePoint>& points);
void drop_deeper(double depth, std::vector<SurfacePoint>& points);

/// One contact along the least way past all of the surface: of two that overlap in more triangles
/// than are cut with each other.
void push_apart(const Shape& s,
                const Shape& other,
                const Transform& X,
                std::vector<SurfacePoint>& points);

/// Contacts of `other` (X: its pose in the frame of the surface) that are deeper than the least way
/// past all of the surface, along a side of either, give way to one point along it. `size` [m]: of
/// the smaller partner.
void limit_depth(const Shape& s,
                 const Shape& other,
                 const Transform& X,
                 double size,
                 std::vector<SurfacePoint>& points);

}  // namespace stiction::detail
