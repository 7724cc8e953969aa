#include "face_planes.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace stiction::bench {
namespace {

// In long double: slivers would lose their direction.
bool unit_normal(const Vec3d& a, const Vec3d& b, const Vec3d& c, Vec3d& normal) {
  long double u[3], v[3], n[3];
  for (int i = 0; i < 3; ++i) {
    u[i] = static_cast<long double>(b[i]) - a[i];
    v[i] = static_cast<long double>(c[i]) - a[i];
  }
  for (int i = 0; i < 3; ++i) {
    const int j = (i + 1) % 3, k = (i + 2) % 3;
    n[i] = u[j] * v[k] - u[k] * v[j];
  }
  const long double length = std::sqrt(n[0] * n[0] + n[1] * n[1] + n[2] * n[2]);
  if (length == 0) return false;
  normal = {double(n[0] / length), double(n[1] / length), double(n[2] / length)};
  return true;
}

}  // namespace

FacePlanes face_planes(const Shape& hull) {
  const ConvexMesh& mesh = *hull.mesh;
  FacePlanes planes;
  for (std::size_t k = 0; k < mesh.triangles.size(); k += 3) {
    const auto corner = [&](int i) { return mesh.vertices[mesh.triangles[k + i]]; };
    Vec3d n;
    if (!unit_normal(corner(0), corner(1), corner(2), n)) continue;
    double offset = -std::numeric_limits<double>::infinity();
    for (const Vec3d& v : mesh.vertices) offset = std::max(offset, dot(n, v));
    planes.normal.push_back(n);
    planes.offset.push_back(offset);
  }
  return planes;
}

double beyond(const FacePlanes& planes, const Vec3d& point) {
  double farthest = -std::numeric_limits<double>::infinity();
  for (std::size_t k = 0; k < planes.normal.size(); ++k)
    farthest = std::max(farthest, dot(planes.normal[k], point) - planes.offset[k]);
  return farthest;
}

}  // namespace stiction::bench
