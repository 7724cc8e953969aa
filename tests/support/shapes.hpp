#pragma once

#include "stiction/geometry/shape.hpp"

#include "random.hpp"

#include <algorithm>
#include <iterator>
#include <stdexcept>
#include <string>
#include <vector>

// Random shapes and poses, and slow reference functions that share no code with the library.

namespace stiction::test {

enum class Kind {
  kSphere,
  kCapsule,
  kBox,
  kNeedle,
  kSlab,
  kCloud,
  kBall,
  kMeshNeedle,
  kHalfSpace,
  kCylinder,
  kRod,
  kCoin,
  kCone,
  kSpike,
  kEllipsoid,
  kLens
};
inline constexpr Kind kBoundedKinds[] = {Kind::kSphere,
                                         Kind::kCapsule,
                                         Kind::kBox,
                                         Kind::kNeedle,
                                         Kind::kSlab,
                                         Kind::kCloud,
                                         Kind::kBall,
                                         Kind::kMeshNeedle};
/// Curved shapes without an inflated core; rod, coin, spike and lens are 1 : 200.
inline constexpr Kind kSmoothKinds[] = {Kind::kCylinder,
                                        Kind::kRod,
                                        Kind::kCoin,
                                        Kind::kCone,
                                        Kind::kSpike,
                                        Kind::kEllipsoid,
                                        Kind::kLens};
inline constexpr Kind kAllKinds[] = {Kind::kHalfSpace,
                                     Kind::kSphere,
                                     Kind::kCapsule,
                                     Kind::kBox,
                                     Kind::kNeedle,
                                     Kind::kSlab,
                                     Kind::kCloud,
                                     Kind::kBall,
                                     Kind::kMeshNeedle,
                                     Kind::kCylinder,
                                     Kind::kRod,
                                     Kind::kCoin,
                                     Kind::kCone,
                                     Kind::kSpike,
                                     Kind::kEllipsoid,
                                     Kind::kLens};
inline constexpr int kKindCount = static_cast<int>(std::size(kAllKinds));

inline const char* name(Kind kind) {
  const char* names[] = {"sphere",
                         "capsule",
                         "box",
                         "needle",
                         "slab",
                         "cloud",
                         "ball",
                         "mesh_needle",
                         "half_space",
                         "cylinder",
                         "rod",
                         "coin",
                         "cone",
                         "spike",
                         "ellipsoid",
                         "lens"};
  return names[int(kind)];
}

inline std::vector<Vec3d> random_points(Rng& rng, int count, const Vec3d& scale, bool on_sphere) {
  std::vector<Vec3d> points;
  for (int i = 0; i < count; ++i) {
    const Vec3d p = on_sphere ? unit_vector(rng) : uniform_vector(rng, 1.0);
    points.push_back({p.x * scale.x, p.y * scale.y, p.z * scale.z});
  }
  return points;
}

/// About one metre large. Needles are 1 : 200, slabs 200 : 200 : 1.
inline Shape random_shape(Rng& rng, Kind kind) {
  const double a = rng.uniform(0.2, 1.0), b = rng.uniform(0.2, 1.0), c = rng.uniform(0.2, 1.0);
  switch (kind) {
    case Kind::kSphere:
      return Shape::sphere(a);
    case Kind::kCapsule:
      return Shape::capsule(0.5 * a, b);
    case Kind::kBox:
      return Shape::box({a, b, c});
    case Kind::kNeedle:
      return Shape::box({0.005 * a, 0.005 * b, 1.0});
    case Kind::kSlab:
      return Shape::box({a, b, 0.005 * c});
    case Kind::kCloud:
      return Shape::convex_mesh(random_points(rng, 20, {a, b, c}, false));
    case Kind::kBall:
      return Shape::convex_mesh(random_points(rng, 200, {a, b, c}, true));
    case Kind::kMeshNeedle:
      return Shape::convex_mesh(random_points(rng, 30, {0.005 * a, 0.005 * b, 1.0}, false));
    case Kind::kCylinder:
      return Shape::cylinder(a, b);
    case Kind::kRod:
      return Shape::cylinder(0.005 * a, 1.0);
    case Kind::kCoin:
      return Shape::cylinder(a, 0.005 * b);
    case Kind::kCone:
      return Shape::cone(a, b);
    case Kind::kSpike:
      return Shape::cone(0.005 * a, 1.0);
    case Kind::kEllipsoid:
      return Shape::ellipsoid({a, b, c});
    case Kind::kLens:
      return Shape::ellipsoid({a, b, 0.005 * c});
    case Kind::kHalfSpace:
      break;
  }
  return Shape::half_space();
}

inline Shape scaled(const Shape& shape, double s) {
  Shape result = shape;
  result.size = shape.size * s;
  if (shape.mesh != nullptr) {
    std::vector<Vec3d> points = shape.mesh->vertices;
    for (Vec3d& p : points) p = p * s;
    result = Shape::convex_mesh(points);
  }
  return result;
}

/// max over the shape of n . x, n unit, world.
inline double extent_along(const Shape& s, const Transform& X, const Vec3d& n) {
  const Vec3d d = transpose_times(X.R, n);
  double h = 0.0;
  switch (s.type) {
    case ShapeType::kSphere:
      h = s.size.x;
      break;
    case ShapeType::kCapsule:
      h = s.size.x + s.size.y * std::abs(d.z);
      break;
    case ShapeType::kBox:
      h = s.size.x * std::abs(d.x) + s.size.y * std::abs(d.y) + s.size.z * std::abs(d.z);
      break;
    case ShapeType::kHalfSpace:
      h = d.z > 1.0 - 1e-9 ? 0.0 : HUGE_VAL;
      break;
    case ShapeType::kConvexMesh:
      h = -HUGE_VAL;
      for (const Vec3d& v : s.mesh->vertices) h = std::max(h, dot(d, v));
      break;
    case ShapeType::kCylinder:
      h = s.size.x * std::hypot(d.x, d.y) + s.size.y * std::abs(d.z);
      break;
    case ShapeType::kCone:
      h = std::max(s.size.y * d.z, s.size.x * std::hypot(d.x, d.y) - s.size.y * d.z);
      break;
    case ShapeType::kEllipsoid:
      h = std::hypot(s.size.x * d.x, s.size.y * d.y, s.size.z * d.z);
      break;
    case ShapeType::kHeightField:
    case ShapeType::kTriangleMesh:
      throw std::invalid_argument("extent_along: convex shapes only");
  }
  return h + dot(n, X.p);
}

/// Width of the gap between the shapes along n (from A to B): never more than the signed distance.
inline double gap_along(
    const Shape& a, const Transform& X_WA, const Shape& b, const Transform& X_WB, const Vec3d& n) {
  return -extent_along(b, X_WB, -n) - extent_along(a, X_WA, n);
}

/// Distance of a point from an ellipsoid: the foot is x_i = h_i^2 p_i / (h_i^2 + t) with the t that
/// puts it on the surface, found by bisection. Inside: minus a lower bound of the depth.
inline double outside_ellipsoid(const Vec3d& h, const Vec3d& p) {
  const double least = std::min({h.x, h.y, h.z});
  const double level = std::hypot(p.x / h.x, p.y / h.y, p.z / h.z);
  if (level <= 1.0) return (level - 1.0) * least;
  double low = 0.0, high = std::max({h.x, h.y, h.z}) * norm(p);
  Vec3d x{0, 0, 0};
  for (int k = 0; k < 200; ++k) {
    const double t = 0.5 * (low + high);
    for (int i = 0; i < 3; ++i) x[i] = h[i] * h[i] * p[i] / (h[i] * h[i] + t);
    (std::hypot(x.x / h.x, x.y / h.y, x.z / h.z) > 1.0 ? low : high) = t;
  }
  return norm(p - x);
}

/// By how much p sticks out of the shape [m]; <= 0 inside. Exact outside of spheres, capsules and
/// ellipsoids.
inline double outside(const Shape& s, const Transform& X, const Vec3d& p_W) {
  const Vec3d p = transpose_times(X.R, p_W - X.p);
  switch (s.type) {
    case ShapeType::kSphere:
      return norm(p) - s.size.x;
    case ShapeType::kCapsule: {
      const double z = std::clamp(p.z, -s.size.y, s.size.y);
      return norm(p - Vec3d{0, 0, z}) - s.size.x;
    }
    case ShapeType::kBox:
      return std::max(
          {std::abs(p.x) - s.size.x, std::abs(p.y) - s.size.y, std::abs(p.z) - s.size.z});
    case ShapeType::kHalfSpace:
      return p.z;
    case ShapeType::kConvexMesh: {
      double most = -HUGE_VAL;
      for (const ConvexMesh::Face& f : s.mesh->faces) {
        most = std::max(most, dot(f.normal, p) - f.offset);
      }
      return most;
    }
    case ShapeType::kCylinder:
      return std::max(std::hypot(p.x, p.y) - s.size.x, std::abs(p.z) - s.size.y);
    case ShapeType::kCone: {  // base plane and the tangent plane of the side
      const double r = s.size.x, h = 2.0 * s.size.y;
      const double side = (h * std::hypot(p.x, p.y) + r * (p.z - s.size.y)) / std::hypot(h, r);
      return std::max(side, -s.size.y - p.z);
    }
    case ShapeType::kEllipsoid:
      return outside_ellipsoid(s.size, p);
    case ShapeType::kHeightField:
    case ShapeType::kTriangleMesh:
      throw std::invalid_argument("outside: convex shapes only");
  }
  return 0.0;
}

/// Fibonacci lattice: `count` directions that cover the sphere evenly.
inline Vec3d lattice_direction(int i, int count) {
  const double z = 1.0 - (2.0 * i + 1.0) / count, r = std::sqrt(1.0 - z * z);
  const double angle = 2.39996322972865332 * i;
  return {r * std::cos(angle), r * std::sin(angle), z};
}

struct PosedPair {
  Shape a, b;
  Transform X_WA, X_WB;
};

/// The centre of B lies in a random direction at a random share of the distance at which the
/// extents along that direction just meet: about half of the pairs overlap.
inline PosedPair random_pair(Rng& rng, Kind kind_a, Kind kind_b) {
  PosedPair p{random_shape(rng, kind_a), random_shape(rng, kind_b), pose(rng, 1.0), pose(rng, 0.0)};
  const Vec3d u = kind_a == Kind::kHalfSpace ? p.X_WA.R.c2 : unit_vector(rng);
  const auto is_needle = [](Kind k) {
    return k == Kind::kNeedle || k == Kind::kMeshNeedle || k == Kind::kRod || k == Kind::kSpike;
  };
  double meet = extent_along(p.b, p.X_WB, -u);
  if (kind_a != Kind::kHalfSpace) {
    meet += extent_along(p.a, {p.X_WA.R, {0, 0, 0}}, u);
  }
  double low = 0.3, high = 1.3;
  if (is_needle(kind_a) || is_needle(kind_b)) low = 0.1, high = 1.4;
  if (is_needle(kind_a) && is_needle(kind_b)) low = 0.0, high = 0.03;
  if (kind_a == Kind::kHalfSpace) low = 0.0, high = 2.0;
  const double share = rng.uniform(low, high);
  p.X_WB.p = p.X_WA.p + u * (share * meet);
  return p;
}

inline PosedPair scaled(const PosedPair& p, double s) {
  return {scaled(p.a, s), scaled(p.b, s), {p.X_WA.R, p.X_WA.p * s}, {p.X_WB.R, p.X_WB.p * s}};
}

inline double size_of(const PosedPair& p) {
  const double a = p.a.bounded() ? bounding_radius(p.a) : 0.0;
  return a + (p.b.bounded() ? bounding_radius(p.b) : 0.0) + norm(p.X_WA.p) + norm(p.X_WB.p);
}

}  // namespace stiction::test
