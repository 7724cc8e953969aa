#include "stiction/geometry/shape.hpp"

#include "stiction/geometry/height_field.hpp"
#include "stiction/geometry/triangle_mesh.hpp"
#include "stiction/math/constants.hpp"
#include "stiction/math/lanes.hpp"

#include "geometry/mesh_support.hpp"
#include "geometry/size_range.hpp"

#include <algorithm>
#include <cmath>
#include <sstream>
#include <stdexcept>

namespace stiction {
namespace {

constexpr double kSameVolume = 1e-9;  // relative

// The hull of a closed mesh without valleys that fills it; null of any other mesh.
std::shared_ptr<const ConvexMesh> convex_solid(const TriangleMesh& mesh) {
  if (!mesh.closed || !(mesh.volume > 0.0)) return nullptr;
  for (const SurfaceEdge e : mesh.edges) {
    if (e == SurfaceEdge::kConcave) return nullptr;
  }
  try {
    auto hull = std::make_shared<const ConvexMesh>(ConvexMesh::hull(mesh.vertices));
    if (std::abs(hull->volume - mesh.volume) <= kSameVolume * mesh.volume) return hull;
  } catch (const std::invalid_argument&) {
    // so flat that its vertices count as coplanar
  }
  return nullptr;
}

/// What the entries of Shape::size are called; null: unused.
struct SizeNames {
  const char* of[3];
};
SizeNames size_names(ShapeType type) {
  switch (type) {
    case ShapeType::kSphere:
      return {{"radius"}};
    case ShapeType::kCapsule:
    case ShapeType::kCylinder:
    case ShapeType::kCone:
      return {{"radius", "half_length"}};
    case ShapeType::kBox:
      return {{"half_extents.x", "half_extents.y", "half_extents.z"}};
    case ShapeType::kEllipsoid:
      return {{"half_axes.x", "half_axes.y", "half_axes.z"}};
    default:
      return {};
  }
}

void check(const std::string& maker, const char* field, double value, bool zero_allowed) {
  const bool allowed = std::isfinite(value) && (value > 0.0 || (zero_allowed && value == 0.0));
  const bool in_range = value == 0.0 || (value >= kLeastSize && value <= kLargestSize);
  if (allowed && in_range) return;
  std::ostringstream message;
  message << maker << ": " << field << " = " << value << " must be finite and "
          << (zero_allowed ? ">= 0" : "> 0");
  if (allowed) message << ", within " << kLeastSize << " ... " << kLargestSize << " [m]";
  throw std::invalid_argument(message.str());
}

Vec3d capsule_support(const Vec3d& size, const Vec3d& d) {
  const double length = norm(d);
  const Vec3d end{0.0, 0.0, d.z < 0.0 ? -size.y : size.y};
  if (!(length > 0.0)) return end + Vec3d{size.x, 0.0, 0.0};
  return end + d * (size.x / length);
}

/// Point of the circle of radius r in the plane z farthest along d.
Vec3d circle_support(double r, double z, const Vec3d& d) {
  const double length = std::sqrt(d.x * d.x + d.y * d.y);
  if (!(length > 0.0)) return {r, 0.0, z};
  return {d.x * (r / length), d.y * (r / length), z};
}

Aabb own_box(const HeightField& f) { return {{f.x0, f.y0, f.base}, {-f.x0, -f.y0, f.highest}}; }

Aabb own_box(const Shape& s) { return s.field ? own_box(*s.field) : s.surface->box; }

Vec3d surface_support(const Shape& s, const Vec3d& d) {
  Vec3d best{0, 0, 0};
  double height = -kInfinity;
  const auto offer = [&](const Vec3d& p) {
    if (dot(d, p) <= height) return;
    height = dot(d, p);
    best = p;
  };
  if (s.surface) {
    for (const int v : s.surface->triangles) offer(s.surface->vertices[v]);
    return best;
  }
  for (int j = 0; j < s.field->ny; ++j) {
    for (int i = 0; i < s.field->nx; ++i) {
      const Vec3d p = s.field->sample(i, j);
      offer(p);
      offer({p.x, p.y, s.field->base});
    }
  }
  return best;
}

struct Interval {
  double lower, upper;
};
Interval symmetric(double half) { return {-half, half}; }

/// Of n . x over the shape, n unit.
Interval extent_along(const Shape& shape, const Vec3d& n) {
  const Vec3d& s = shape.size;
  switch (shape.type) {
    case ShapeType::kSphere:
      return symmetric(s.x);
    case ShapeType::kCapsule:
      return symmetric(s.x + s.y * std::abs(n.z));
    case ShapeType::kBox:
      return symmetric(s.x * std::abs(n.x) + s.y * std::abs(n.y) + s.z * std::abs(n.z));
    case ShapeType::kCylinder:
      return symmetric(s.x * std::sqrt(n.x * n.x + n.y * n.y) + s.y * std::abs(n.z));
    case ShapeType::kCone: {
      const double rim = s.x * std::sqrt(n.x * n.x + n.y * n.y), apex = s.y * n.z;
      return {std::min(apex, -rim - apex), std::max(apex, rim - apex)};
    }
    case ShapeType::kEllipsoid:
      return symmetric(norm(Vec3d{s.x * n.x, s.y * n.y, s.z * n.z}));
    case ShapeType::kConvexMesh: {
      const ConvexMesh& mesh = *shape.mesh;
      return {dot(n, mesh.vertices[mesh_support(mesh, -n)]),
              dot(n, mesh.vertices[mesh_support(mesh, n)])};
    }
    case ShapeType::kHeightField:
    case ShapeType::kTriangleMesh: {
      const Aabb box = own_box(shape);
      const Vec3d h = half_extents(box);
      const double e = h.x * std::abs(n.x) + h.y * std::abs(n.y) + h.z * std::abs(n.z);
      const double c = dot(n, centre(box));
      return {c - e, c + e};
    }
    case ShapeType::kHalfSpace:
      break;
  }
  return symmetric(kInfinity);
}

}  // namespace

const char* to_string(ShapeType type) {
  switch (type) {
    case ShapeType::kSphere:
      return "sphere";
    case ShapeType::kCapsule:
      return "capsule";
    case ShapeType::kBox:
      return "box";
    case ShapeType::kHalfSpace:
      return "half_space";
    case ShapeType::kConvexMesh:
      return "convex_mesh";
    case ShapeType::kCylinder:
      return "cylinder";
    case ShapeType::kCone:
      return "cone";
    case ShapeType::kEllipsoid:
      return "ellipsoid";
    case ShapeType::kHeightField:
      return "height_field";
    case ShapeType::kTriangleMesh:
      return "triangle_mesh";
  }
  return "unknown";
}

void validate_size(ShapeType type, const Vec3d& size, const std::string& field) {
  const SizeNames names = size_names(type);
  const std::string maker = field + to_string(type);
  for (int k = 0; k < 3; ++k) {
    if (names.of[k] != nullptr) {
      check(maker, names.of[k], size[k], type == ShapeType::kCapsule && k == 1);
    } else if (size[k] != 0.0) {
      std::ostringstream message;
      message << maker << ": size[" << k << "] = " << size[k] << " must stay 0: "
              << (k == 0 ? "its size is not a number; give a new scene another shape" : "unused");
      throw std::invalid_argument(message.str());
    }
  }
}

static Shape sized(ShapeType type, const Vec3d& size) {
  validate_size(type, size);
  return {type, size, nullptr};
}

Shape Shape::sphere(double radius) { return sized(ShapeType::kSphere, {radius, 0.0, 0.0}); }
Shape Shape::capsule(double radius, double half_length) {
  return sized(ShapeType::kCapsule, {radius, half_length, 0.0});
}
Shape Shape::box(const Vec3d& half_extents) { return sized(ShapeType::kBox, half_extents); }
Shape Shape::cylinder(double radius, double half_length) {
  return sized(ShapeType::kCylinder, {radius, half_length, 0.0});
}
Shape Shape::cone(double radius, double half_length) {
  return sized(ShapeType::kCone, {radius, half_length, 0.0});
}
Shape Shape::ellipsoid(const Vec3d& half_axes) { return sized(ShapeType::kEllipsoid, half_axes); }

Shape Shape::half_space() { return {ShapeType::kHalfSpace, {0.0, 0.0, 0.0}, nullptr}; }

Shape Shape::convex_mesh(const std::vector<Vec3d>& points) {
  return {ShapeType::kConvexMesh,
          {0.0, 0.0, 0.0},
          std::make_shared<const ConvexMesh>(ConvexMesh::hull(points))};
}

Shape Shape::height_field(
    int nx, int ny, const std::vector<double>& heights, double dx, double dy, double depth) {
  Shape shape{ShapeType::kHeightField, {0.0, 0.0, 0.0}, nullptr};
  shape.field =
      std::make_shared<const HeightField>(HeightField::build(nx, ny, heights, dx, dy, depth));
  return shape;
}

Shape Shape::triangle_mesh(const std::vector<Vec3d>& vertices,
                           const std::vector<int>& triangles,
                           bool drop_degenerate) {
  Shape shape{ShapeType::kTriangleMesh, {0.0, 0.0, 0.0}, nullptr};
  shape.surface = std::make_shared<const TriangleMesh>(
      TriangleMesh::build(vertices, triangles, drop_degenerate));
  shape.mesh = convex_solid(*shape.surface);
  return shape;
}

Vec3d support(const Shape& shape, const Vec3d& d) {
  const Vec3d& s = shape.size;
  switch (shape.type) {
    case ShapeType::kSphere:
      return capsule_support({s.x, 0.0, 0.0}, d);
    case ShapeType::kCapsule:
      return capsule_support(s, d);
    case ShapeType::kBox:
      return {d.x < 0.0 ? -s.x : s.x, d.y < 0.0 ? -s.y : s.y, d.z < 0.0 ? -s.z : s.z};
    case ShapeType::kConvexMesh:
      return shape.mesh->vertices[mesh_support(*shape.mesh, d)];
    case ShapeType::kCylinder:
      return circle_support(s.x, d.z < 0.0 ? -s.y : s.y, d);
    case ShapeType::kCone: {
      const Vec3d rim = circle_support(s.x, -s.y, d), apex{0.0, 0.0, s.y};
      return dot(d, apex) >= dot(d, rim) ? apex : rim;
    }
    case ShapeType::kEllipsoid: {  // s_i^2 d_i / |(s_k d_k)|
      const Vec3d e{s.x * d.x, s.y * d.y, s.z * d.z};
      const double length = norm(e);
      if (!(length > 0.0)) return {s.x, 0.0, 0.0};
      return {s.x * e.x / length, s.y * e.y / length, s.z * e.z / length};
    }
    case ShapeType::kHeightField:
    case ShapeType::kTriangleMesh:
      return surface_support(shape, d);
    case ShapeType::kHalfSpace:
      break;
  }
  throw std::invalid_argument("support: shape.type = half_space is unbounded");
}

Aabb bounding_box(const Shape& shape, const Transform& X_WS) {
  const Mat3d& R = X_WS.R;
  Vec3d lower, upper;
  for (int k = 0; k < 3; ++k) {
    const Interval extent = extent_along(shape, {R.c0[k], R.c1[k], R.c2[k]});
    lower[k] = extent.lower;
    upper[k] = extent.upper;
  }
  return {X_WS.p + lower, X_WS.p + upper};
}

double bounding_radius(const Shape& shape) {
  switch (shape.type) {
    case ShapeType::kSphere:
      return shape.size.x;
    case ShapeType::kCapsule:
      return shape.size.x + shape.size.y;
    case ShapeType::kBox:
      return norm(shape.size);
    case ShapeType::kHalfSpace:
      return kInfinity;
    case ShapeType::kConvexMesh:
      return shape.mesh->bounding_radius;
    case ShapeType::kCylinder:
    case ShapeType::kCone:
      return norm(Vec3d{shape.size.x, shape.size.y, 0.0});
    case ShapeType::kEllipsoid:
      return std::max({shape.size.x, shape.size.y, shape.size.z});
    case ShapeType::kTriangleMesh:
      return shape.surface->bounding_radius;
    case ShapeType::kHeightField: {
      const Aabb box = own_box(*shape.field);
      const double z = std::max(std::abs(box.lower.z), std::abs(box.upper.z));
      return length(box.upper.x, box.upper.y, z);
    }
  }
  return 0.0;
}

}  // namespace stiction
