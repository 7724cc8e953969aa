#pragma once

#include "exact.hpp"

#include <array>
#include <string>
#include <vector>

// Random pairs of every bounded convex kind, from needles and slabs of aspect 1000 to balls, at
// 1 mm, 1 m and 1 km, from -10 % to +100 % of their size.

namespace stiction::test {

enum class FuzzKind {
  kSphere,
  kCapsule,
  kBox,
  kNeedle,
  kSlab,
  kTetrahedron,
  kCloud,
  kBall,
  kMeshNeedle,
  kMeshSlab,
  kCylinder,
  kRod,
  kDisc,
  kCone,
  kSpike,
  kLid,
  kEllipsoid,
  kCigar,
  kPancake
};
inline constexpr int kFuzzKinds = 19, kFlatKinds = 10;
/// Polytopes, spheres and capsules, whose answers are exact features; or pairs with a cylinder,
/// cone or ellipsoid.
enum class Family { kFlat, kCurved };
inline constexpr Family kFamilies[] = {Family::kFlat, Family::kCurved};
inline const char* name(Family family) { return family == Family::kFlat ? "flat" : "curved"; }
inline constexpr std::array<double, 3> kFuzzScales{1e-3, 1.0, 1e3};

inline const char* name(FuzzKind kind) {
  static const char* const names[kFuzzKinds] = {"sphere",
                                                "capsule",
                                                "box",
                                                "needle",
                                                "slab",
                                                "tetrahedron",
                                                "cloud",
                                                "ball",
                                                "mesh_needle",
                                                "mesh_slab",
                                                "cylinder",
                                                "rod",
                                                "disc",
                                                "cone",
                                                "spike",
                                                "lid",
                                                "ellipsoid",
                                                "cigar",
                                                "pancake"};
  return names[int(kind)];
}

inline std::ostream& operator<<(std::ostream& out, Family family) { return out << name(family); }

/// About one metre large.
inline Shape fuzz_shape(Rng& rng, FuzzKind kind) {
  const double a = rng.uniform(0.2, 1.0), b = rng.uniform(0.2, 1.0), c = rng.uniform(0.2, 1.0);
  const auto cloud = [&](int n, const Vec3d& h, bool on_sphere) {
    return Shape::convex_mesh(random_points(rng, n, h, on_sphere));
  };
  switch (kind) {
    case FuzzKind::kSphere:
      return Shape::sphere(a);
    case FuzzKind::kCapsule:
      return Shape::capsule(0.5 * a, b);
    case FuzzKind::kBox:
      return Shape::box({a, b, c});
    case FuzzKind::kNeedle:
      return Shape::box({1e-3 * a, 1e-3 * b, 1.0});
    case FuzzKind::kSlab:
      return Shape::box({a, b, 1e-3 * c});
    case FuzzKind::kTetrahedron:
      return cloud(4, {a, b, c}, true);
    case FuzzKind::kCloud:
      return cloud(12, {a, b, c}, false);
    case FuzzKind::kBall:
      return cloud(100, {a, b, c}, true);
    case FuzzKind::kMeshNeedle:
      return cloud(14, {1e-3 * a, 1e-3 * b, 1.0}, false);
    case FuzzKind::kMeshSlab:
      return cloud(14, {a, b, 1e-3 * c}, false);
    case FuzzKind::kCylinder:
      return Shape::cylinder(a, b);
    case FuzzKind::kRod:
      return Shape::cylinder(1e-3 * a, 1.0);
    case FuzzKind::kDisc:
      return Shape::cylinder(1.0, 1e-3 * a);
    case FuzzKind::kCone:
      return Shape::cone(a, b);
    case FuzzKind::kSpike:
      return Shape::cone(1e-3 * a, 1.0);
    case FuzzKind::kLid:
      return Shape::cone(1.0, 1e-3 * a);
    case FuzzKind::kEllipsoid:
      return Shape::ellipsoid({a, b, c});
    case FuzzKind::kCigar:
      return Shape::ellipsoid({1e-3 * a, 1e-3 * b, 1.0});
    case FuzzKind::kPancake:
      return Shape::ellipsoid({a, b, 1e-3 * c});
  }
  return Shape::sphere(a);
}

/// Some shapes of each kind, each at the three scales.
class ShapePool {
 public:
  ShapePool(Rng& rng, int per_kind) : per_kind_(per_kind) {
    for (int k = 0; k < kFuzzKinds; ++k) {
      for (int i = 0; i < per_kind; ++i) {
        const Shape s = fuzz_shape(rng, FuzzKind(k));
        for (const double scale : kFuzzScales) shapes_.push_back(scaled(s, scale));
      }
    }
  }
  const Shape& pick(FuzzKind kind, int which, int scale) const {
    return shapes_[(int(kind) * per_kind_ + which) * 3 + scale];
  }
  int per_kind() const { return per_kind_; }

 private:
  int per_kind_;
  std::vector<Shape> shapes_;
};

/// Sum of the bounding radii [m]: what every tolerance is a multiple of.
inline double radii(const PosedPair& p) { return bounding_radius(p.a) + bounding_radius(p.b); }

struct FuzzCase {
  PosedPair pair;
  FuzzKind kind_a = FuzzKind::kSphere, kind_b = FuzzKind::kSphere;
  int which_a = -1, which_b = -1;  ///< of the pool; -1: not from a pool
  int scale_a = 0, scale_b = 0;

  std::string label() const {
    if (which_a < 0) return std::string(to_string(pair.a.type)) + " / " + to_string(pair.b.type);
    return std::string(name(kind_a)) + " / " + name(kind_b) + " scales " + std::to_string(scale_a) +
           std::to_string(scale_b);
  }
  bool polytopes() const { return is_polytope(pair.a) && is_polytope(pair.b); }
  /// Both of at most 14 vertices: all facets of A - B can be tried.
  bool small_polytopes() const {
    const auto small = [](const Shape& s) {
      return s.mesh == nullptr || s.mesh->vertices.size() <= 14;
    };
    return polytopes() && small(pair.a) && small(pair.b);
  }
};

/// A signed multiple of the size: 48 % overlap nominally (1e-12 to 0.1), else 1e-12 to 1.
inline double fuzz_distance(Rng& rng) {
  const bool inside = rng.below(100) < 52;
  const double share = std::pow(10.0, rng.uniform(rng.below(2) == 0 ? -12.0 : -4.0, 0.0));
  return inside ? -0.1 * share : share;
}

/// A random pair, not yet placed: B lies far off in a random direction, laterally shifted.
inline FuzzCase fuzz_case(Rng& rng, const ShapePool& pool, Family family) {
  FuzzCase c;
  const bool curved = family == Family::kCurved;
  c.kind_a = FuzzKind(rng.below(curved ? kFuzzKinds : kFlatKinds));
  c.kind_b =
      FuzzKind(curved ? kFlatKinds + rng.below(kFuzzKinds - kFlatKinds) : rng.below(kFlatKinds));
  if (rng.below(2) == 0) std::swap(c.kind_a, c.kind_b);
  c.which_a = rng.below(pool.per_kind());
  c.which_b = rng.below(pool.per_kind());
  c.scale_a = c.scale_b = rng.below(3);
  if (rng.below(8) == 0) c.scale_b = std::clamp(c.scale_a + (rng.below(2) == 0 ? -1 : 1), 0, 2);
  PosedPair& p = c.pair;
  p.a = pool.pick(c.kind_a, c.which_a, c.scale_a);
  p.b = pool.pick(c.kind_b, c.which_b, c.scale_b);
  const double size = radii(p), smaller = std::min(bounding_radius(p.a), bounding_radius(p.b));
  p.X_WA = pose(rng, 0.5 * size);
  p.X_WB = pose(rng, 0.0);
  p.X_WB.p = p.X_WA.p + unit_vector(rng) * (1.5 * size) + uniform_vector(rng, 0.5 * smaller);
  return c;
}

}  // namespace stiction::test
