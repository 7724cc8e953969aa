#include "stiction/geometry/shape.hpp"

#include "mesh_support.hpp"

#include <cmath>
#include <limits>
#include <sstream>
#include <stdexcept>

namespace stiction {
namespace {

void check(const char* maker, const char* field, double value, bool zero_allowed = false) {
  if (std::isfinite(value) && (value > 0.0 || (zero_allowed && value == 0.0))) return;
  std::ostringstream message;
  message << maker << ": " << field << " = " << value << " must be finite and "
          << (zero_allowed ? ">= 0" : "> 0");
  throw std::invalid_argument(message.str());
}

Vec3d capsule_support(const Vec3d& size, const Vec3d& d) {
  const double length = norm(d);
  const Vec3d end{0.0, 0.0, d.z < 0.0 ? -size.y : size.y};
  if (!(length > 0.0)) return end + Vec3d{size.x, 0.0, 0.0};
  return end + d * (size.x / length);
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
  }
  return "unknown";
}

Shape Shape::sphere(double radius) {
  check("sphere", "radius", radius);
  return {ShapeType::kSphere, {radius, 0.0, 0.0}, nullptr};
}

Shape Shape::capsule(double radius, double half_length) {
  check("capsule", "radius", radius);
  check("capsule", "half_length", half_length, true);
  return {ShapeType::kCapsule, {radius, half_length, 0.0}, nullptr};
}

Shape Shape::box(const Vec3d& half_extents) {
  check("box", "half_extents.x", half_extents.x);
  check("box", "half_extents.y", half_extents.y);
  check("box", "half_extents.z", half_extents.z);
  return {ShapeType::kBox, half_extents, nullptr};
}

Shape Shape::half_space() { return {ShapeType::kHalfSpace, {0.0, 0.0, 0.0}, nullptr}; }

Shape Shape::convex_mesh(const std::vector<Vec3d>& points) {
  return {ShapeType::kConvexMesh,
          {0.0, 0.0, 0.0},
          std::make_shared<const ConvexMesh>(ConvexMesh::hull(points))};
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
      return shape.mesh->vertices[mesh_support(*shape.mesh, d, 0)];
    case ShapeType::kHalfSpace:
      break;
  }
  throw std::invalid_argument("support: shape.type = half_space is unbounded");
}

Aabb bounding_box(const Shape& shape, const Transform& X_WS) {
  const Mat3d& R = X_WS.R;
  const Vec3d& s = shape.size;
  Vec3d lower, upper;
  for (int k = 0; k < 3; ++k) {
    const Vec3d row{R.c0[k], R.c1[k], R.c2[k]};
    switch (shape.type) {
      case ShapeType::kSphere:
        upper[k] = s.x;
        break;
      case ShapeType::kCapsule:
        upper[k] = s.x + s.y * std::abs(row.z);
        break;
      case ShapeType::kBox:
        upper[k] = s.x * std::abs(row.x) + s.y * std::abs(row.y) + s.z * std::abs(row.z);
        break;
      case ShapeType::kHalfSpace:
        upper[k] = std::numeric_limits<double>::infinity();
        break;
      case ShapeType::kConvexMesh: {
        const ConvexMesh& mesh = *shape.mesh;
        upper[k] = dot(row, mesh.vertices[mesh_support(mesh, row, 0)]);
        lower[k] = dot(row, mesh.vertices[mesh_support(mesh, -row, 0)]);
        continue;
      }
    }
    lower[k] = -upper[k];
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
      return std::numeric_limits<double>::infinity();
    case ShapeType::kConvexMesh:
      return shape.mesh->bounding_radius;
  }
  return 0.0;
}

}  // namespace stiction
