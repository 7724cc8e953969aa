#pragma once

#include "stiction/geometry/aabb.hpp"
#include "stiction/geometry/convex_mesh.hpp"
#include "stiction/math/spatial.hpp"

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace stiction {

struct HeightField;
struct TriangleMesh;

enum class ShapeType : std::uint8_t {
  kSphere,
  kCapsule,
  kBox,
  kHalfSpace,
  kConvexMesh,
  kCylinder,
  kCone,
  kEllipsoid,
  kHeightField,
  kTriangleMesh
};
const char* to_string(ShapeType type);

/// Height fields and triangle meshes: what is not convex, handled triangle by triangle.
inline bool is_surface(ShapeType type) { return type >= ShapeType::kHeightField; }

/// A solid in its own frame [m], convex but for height fields and triangle meshes. Value type; the
/// meshes are shared and immutable.
struct Shape {
  ShapeType type = ShapeType::kSphere;
  /// kSphere: (radius, -, -). kCapsule: (radius, half length of the axis segment, -), axis z.
  /// kBox: half extents. kHalfSpace: unused, the solid is z <= 0, outward normal +z.
  /// kCylinder: (radius, half length, -), axis z. kCone: (radius of the base at z = -half length,
  /// half length, -), apex at z = +half length. kEllipsoid: half axes.
  Vec3d size{0.0, 0.0, 0.0};
  /// kConvexMesh; of a kTriangleMesh that bounds a convex solid its hull, else null.
  std::shared_ptr<const ConvexMesh> mesh;
  std::shared_ptr<const HeightField> field = {};     ///< kHeightField only
  std::shared_ptr<const TriangleMesh> surface = {};  ///< kTriangleMesh only

  /// Each maker throws std::invalid_argument naming the field and its value. Sizes must lie within
  /// 1e-30 ... 1e30 m: beyond, products of six of them leave the range of double.
  static Shape sphere(double radius);
  static Shape capsule(double radius, double half_length);
  static Shape box(const Vec3d& half_extents);
  static Shape half_space();
  static Shape cylinder(double radius, double half_length);
  static Shape cone(double radius, double half_length);
  static Shape ellipsoid(const Vec3d& half_axes);
  /// Convex hull of a point cloud with at least four points that are not coplanar.
  static Shape convex_mesh(const std::vector<Vec3d>& points);
  /// Terrain from ny rows of nx heights [m], solid below: see HeightField::build.
  static Shape height_field(
      int nx, int ny, const std::vector<double>& heights, double dx, double dy, double depth = 0.0);
  /// Three vertex numbers per triangle, counter-clockwise from outside: see TriangleMesh::build.
  static Shape triangle_mesh(const std::vector<Vec3d>& vertices,
                             const std::vector<int>& triangles,
                             bool drop_degenerate = false);

  bool bounded() const { return type != ShapeType::kHalfSpace; }
  /// Triangles that need not bound a convex solid.
  bool hollow() const { return is_surface(type) && mesh == nullptr; }
};

/// Throws std::invalid_argument naming entry and value, after `field`, unless shapes of this type
/// can have this size: as for the makers, and 0 in entries that are unused.
void validate_size(ShapeType type, const Vec3d& size, const std::string& field = "");

/// Farthest point of the shape along d (not necessarily unit), shape frame. Bounded shapes only; of
/// surfaces by looking at every vertex.
Vec3d support(const Shape& shape, const Vec3d& d);

/// Smallest axis-aligned box of the posed shape in the world; infinite for a half-space. Of a
/// height field or triangle mesh the box about its own box.
Aabb bounding_box(const Shape& shape, const Transform& X_WS);
/// Radius of a ball about the shape's own origin that holds it.
double bounding_radius(const Shape& shape);

struct MassProperties {
  double mass;    ///< [kg]
  Vec3d com;      ///< [m], shape frame
  Sym3d inertia;  ///< about the centre of mass, shape axes [kg m^2]
};
/// Of the solid with uniform density [kg/m^3]; throws for a half-space, a height field, and a
/// triangle mesh that is open or inside out.
MassProperties mass_properties(const Shape& shape, double density);

}  // namespace stiction
