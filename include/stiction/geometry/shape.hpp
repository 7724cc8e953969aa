#pragma once

#include "stiction/geometry/convex_mesh.hpp"
#include "stiction/math/spatial.hpp"

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace stiction {

enum class ShapeType : std::uint8_t {
  kSphere,
  kCapsule,
  kBox,
  kHalfSpace,
  kConvexMesh,
  kCylinder,
  kCone,
  kEllipsoid
};
const char* to_string(ShapeType type);

/// A convex solid in its own frame [m]. Value type; the mesh is shared and immutable.
struct Shape {
  ShapeType type = ShapeType::kSphere;
  /// kSphere: (radius, -, -). kCapsule: (radius, half length of the axis segment, -), axis z.
  /// kBox: half extents. kHalfSpace: unused, the solid is z <= 0, outward normal +z.
  /// kCylinder: (radius, half length, -), axis z. kCone: (radius of the base at z = -half length,
  /// half length, -), apex at z = +half length. kEllipsoid: half axes.
  Vec3d size{0.0, 0.0, 0.0};
  std::shared_ptr<const ConvexMesh> mesh;  ///< kConvexMesh only

  /// Each maker throws std::invalid_argument naming the field and its value.
  static Shape sphere(double radius);
  static Shape capsule(double radius, double half_length);
  static Shape box(const Vec3d& half_extents);
  static Shape half_space();
  static Shape cylinder(double radius, double half_length);
  static Shape cone(double radius, double half_length);
  static Shape ellipsoid(const Vec3d& half_axes);
  /// Convex hull of a point cloud with at least four points that are not coplanar.
  static Shape convex_mesh(const std::vector<Vec3d>& points);

  bool bounded() const { return type != ShapeType::kHalfSpace; }
};

/// Farthest point of the shape along d (not necessarily unit), shape frame. Bounded shapes only.
Vec3d support(const Shape& shape, const Vec3d& d);

struct Aabb {
  Vec3d lower, upper;
};
/// Smallest axis-aligned box of the posed shape in the world; infinite for a half-space.
Aabb bounding_box(const Shape& shape, const Transform& X_WS);
/// Radius of a ball about the shape's own origin that holds it.
double bounding_radius(const Shape& shape);

struct MassProperties {
  double mass;    ///< [kg]
  Vec3d com;      ///< [m], shape frame
  Sym3d inertia;  ///< about the centre of mass, shape axes [kg m^2]
};
/// Of the solid with uniform density [kg/m^3]; throws for a half-space.
MassProperties mass_properties(const Shape& shape, double density);

}  // namespace stiction
