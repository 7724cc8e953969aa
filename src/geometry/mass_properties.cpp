#include "stiction/geometry/shape.hpp"
#include "stiction/geometry/triangle_mesh.hpp"
#include "stiction/math/constants.hpp"

#include <cmath>
#include <sstream>
#include <stdexcept>

// Exact integrals over the solids; the equations are in README.md.

namespace stiction {
namespace {

MassProperties sphere_properties(double r, double density) {
  const double mass = density * (4.0 / 3.0) * kPi * r * r * r;
  const double i = 0.4 * mass * r * r;
  return {mass, {0, 0, 0}, {i, 0, i, 0, 0, i}};
}

MassProperties capsule_properties(double r, double l, double density) {
  const double cylinder = density * kPi * r * r * 2.0 * l;
  const double ball = density * (4.0 / 3.0) * kPi * r * r * r;
  const double axial = r * r * (0.5 * cylinder + 0.4 * ball);
  const double across =
      cylinder * (0.25 * r * r + l * l / 3.0) + ball * (0.4 * r * r + l * l + 0.75 * l * r);
  return {cylinder + ball, {0, 0, 0}, {across, 0, across, 0, 0, axial}};
}

MassProperties box_properties(const Vec3d& h, double density) {
  const double mass = 8.0 * density * h.x * h.y * h.z;
  const double x = h.x * h.x, y = h.y * h.y, z = h.z * h.z;
  const double k = mass / 3.0;
  return {mass, {0, 0, 0}, {k * (y + z), 0, k * (x + z), 0, 0, k * (x + y)}};
}

MassProperties cylinder_properties(double r, double l, double density) {
  const double mass = density * kPi * r * r * 2.0 * l;
  const double across = mass * (0.25 * r * r + l * l / 3.0);
  return {mass, {0, 0, 0}, {across, 0, across, 0, 0, 0.5 * mass * r * r}};
}

/// Height h = 2 l: the centre of mass lies h/4 above the base.
MassProperties cone_properties(double r, double l, double density) {
  const double h = 2.0 * l, mass = density * kPi * r * r * h / 3.0;
  const double across = mass * (0.15 * r * r + 0.0375 * h * h);
  return {mass, {0, 0, -0.5 * l}, {across, 0, across, 0, 0, 0.3 * mass * r * r}};
}

MassProperties ellipsoid_properties(const Vec3d& s, double density) {
  const double mass = density * (4.0 / 3.0) * kPi * s.x * s.y * s.z;
  const double x = s.x * s.x, y = s.y * s.y, z = s.z * s.z, k = mass / 5.0;
  return {mass, {0, 0, 0}, {k * (y + z), 0, k * (x + z), 0, 0, k * (x + y)}};
}

void add_outer(Sym3d& s, const Vec3d& v, double k) {
  s = s +
      Sym3d{
          k * v.x * v.x, k * v.x * v.y, k * v.y * v.y, k * v.x * v.z, k * v.y * v.z, k * v.z * v.z};
}

// Moments about the centroid: tetrahedra (0, a, b, c) of volume V have
// ∫ x xᵀ = V/20 (a aᵀ + b bᵀ + c cᵀ + s sᵀ), s = a + b + c.
template <class Mesh>
MassProperties mesh_properties(const Mesh& mesh, double density) {
  Sym3d second{0, 0, 0, 0, 0, 0};
  for (std::size_t t = 0; t < mesh.triangles.size(); t += 3) {
    const Vec3d a = mesh.vertices[mesh.triangles[t]] - mesh.centroid;
    const Vec3d b = mesh.vertices[mesh.triangles[t + 1]] - mesh.centroid;
    const Vec3d c = mesh.vertices[mesh.triangles[t + 2]] - mesh.centroid;
    const double k = density * dot(a, cross(b, c)) / 120.0;
    add_outer(second, a, k);
    add_outer(second, b, k);
    add_outer(second, c, k);
    add_outer(second, a + b + c, k);
  }
  return {density * mesh.volume,
          mesh.centroid,
          {second.yy + second.zz,
           -second.xy,
           second.xx + second.zz,
           -second.xz,
           -second.yz,
           second.xx + second.yy}};
}

MassProperties solid_properties(const TriangleMesh& mesh, double density) {
  if (!mesh.closed) {
    throw std::invalid_argument(
        "mass_properties: shape.type = triangle_mesh is not a closed surface, it has no volume; "
        "give "
        "mass and inertia");
  }
  if (!(mesh.volume > 0.0)) {
    std::ostringstream message;
    message
        << "mass_properties: volume = " << mesh.volume
        << " of shape.type = triangle_mesh: its triangles face inwards; swap two corners of each";
    throw std::invalid_argument(message.str());
  }
  return mesh_properties(mesh, density);
}

}  // namespace

MassProperties mass_properties(const Shape& shape, double density) {
  if (!(std::isfinite(density) && density > 0.0)) {
    std::ostringstream message;
    message << "mass_properties: density = " << density << " must be finite and > 0";
    throw std::invalid_argument(message.str());
  }
  switch (shape.type) {
    case ShapeType::kSphere:
      return sphere_properties(shape.size.x, density);
    case ShapeType::kCapsule:
      return capsule_properties(shape.size.x, shape.size.y, density);
    case ShapeType::kBox:
      return box_properties(shape.size, density);
    case ShapeType::kConvexMesh:
      return mesh_properties(*shape.mesh, density);
    case ShapeType::kCylinder:
      return cylinder_properties(shape.size.x, shape.size.y, density);
    case ShapeType::kCone:
      return cone_properties(shape.size.x, shape.size.y, density);
    case ShapeType::kEllipsoid:
      return ellipsoid_properties(shape.size, density);
    case ShapeType::kTriangleMesh:
      return solid_properties(*shape.surface, density);
    case ShapeType::kHalfSpace:
    case ShapeType::kHeightField:
      break;
  }
  throw std::invalid_argument(std::string("mass_properties: shape.type = ") +
                              to_string(shape.type) + " has no mass of its own");
}

}  // namespace stiction
