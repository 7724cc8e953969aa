#include "collision/manifold/facing_polygon.hpp"

#include "stiction/math/lanes.hpp"

namespace stiction::detail {
namespace {

constexpr int kRim = 8;
constexpr double kTilted = 1e-3;  // sine above which the octagon has a corner at the deepest point

void set_point(const Vec3d& p, Polygon& face) {
  face.p[0] = p;
  face.count = 1;
  face.id = 0;
}

void set_segment(const Vec3d& a, const Vec3d& b, int id, Polygon& face) {
  face.p[0] = a;
  face.p[1] = b;
  face.count = 2;
  face.id = id;
}

// Disc of radius r at height z of the shape; `side` is the sign of its outward normal along z.
void set_disc(
    double r, double z, double side, const Vec3d& local, const Transform& X, Polygon& face) {
  const double sine = std::sqrt(local.x * local.x + local.y * local.y);
  const Vec3d e = sine > kTilted ? Vec3d{local.x / sine, local.y / sine, 0.0} : Vec3d{1, 0, 0};
  const Vec3d f = Vec3d{-e.y, e.x, 0.0} * side;
  const double h = std::sqrt(0.5);
  const double c[kRim] = {1, h, 0, -h, -1, -h, 0, h}, s[kRim] = {0, h, 1, h, 0, -h, -1, -h};
  face.count = kRim;
  for (int k = 0; k < kRim; ++k) {
    face.p[k] = X * (e * (r * c[k]) + f * (r * s[k]) + Vec3d{0.0, 0.0, z});
  }
  face.normal = X.R.c2 * side;
  face.offset = dot(face.normal, face.p[0]);
  face.id = side > 0.0 ? 1 : 0;
}

// A line of the mantle from radius r0 at the bottom to r1 at the top.
void set_mantle(
    double r0, double r1, double l, const Vec3d& local, const Transform& X, Polygon& face) {
  const double sine = std::sqrt(local.x * local.x + local.y * local.y);
  const Vec3d e = sine > 0.0 ? Vec3d{local.x / sine, local.y / sine, 0.0} : Vec3d{1, 0, 0};
  set_segment(X * (e * r0 - Vec3d{0, 0, l}), X * (e * r1 + Vec3d{0, 0, l}), 2, face);
}

}  // namespace

void facing_polygon(const Shape& s, const Transform& X, const Vec3d& d, Polygon& face) {
  const Vec3d local = transpose_times(X.R, d);
  const double r = s.size.x, l = s.size.y;
  switch (s.type) {
    case ShapeType::kCapsule: {
      const Vec3d shift = X.p + d * r;
      if (l == 0.0) return set_point(shift, face);
      return set_segment(shift - X.R.c2 * l, shift + X.R.c2 * l, 0, face);
    }
    case ShapeType::kBox:
    case ShapeType::kConvexMesh:
      return face_towards(core_of(s), local, X, face);
    case ShapeType::kCylinder:
      if (std::abs(local.z) < std::sqrt(0.5)) return set_mantle(r, r, l, local, X, face);
      return set_disc(r, local.z < 0.0 ? -l : l, local.z < 0.0 ? -1.0 : 1.0, local, X, face);
    case ShapeType::kCone: {
      // Halfway between the normals of base and mantle, which is (cos a, sin a) with
      // tan a = r / 2 l.
      const double slant = length(r, 2.0 * l);
      const double along_mantle =
          std::sqrt(local.x * local.x + local.y * local.y) * (2.0 * l / slant) +
          local.z * (r / slant);
      if (along_mantle >= -local.z) return set_mantle(r, 0.0, l, local, X, face);
      return set_disc(r, -l, -1.0, local, X, face);
    }
    default:
      return set_point(X * support(s, local), face);
  }
}

}  // namespace stiction::detail
