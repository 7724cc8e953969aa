#pragma once

#include "stiction/geometry/height_field.hpp"
#include "stiction/geometry/shape.hpp"
#include "stiction/geometry/triangle_mesh.hpp"

#include "shapes.hpp"

#include <array>
#include <vector>

// Solids of every kind of shape beside the convex pieces whose union they are.

namespace stiction::test {

enum class SolidKind {
  kSphere,
  kCapsule,
  kBox,
  kHull,
  kCylinder,
  kCone,
  kEllipsoid,
  kConvexMesh,  // triangles of a convex solid
  kBlocks,      // triangles around several cubes
  kField,
  kHalfSpace
};
inline constexpr int kSolidKinds = 11;
inline const char* name(SolidKind k) {
  const char* names[] = {"sphere",
                         "capsule",
                         "box",
                         "hull",
                         "cylinder",
                         "cone",
                         "ellipsoid",
                         "convex mesh",
                         "blocks",
                         "field",
                         "half-space"};
  return names[int(k)];
}

struct Solid {
  SolidKind kind;
  Shape shape;
  std::vector<Shape> pieces;  // convex, bounded (a half-space: itself), in the frame of the solid
  std::vector<Transform> placed;
  double size;  // bounding radius
};

using Cell = std::array<int, 3>;

/// The surface of a union of unit cubes: two triangles for each side without a neighbour.
inline Shape blocks_mesh(const std::vector<Cell>& cells, double side) {
  std::vector<Vec3d> vertices;
  std::vector<int> triangles;
  const auto filled = [&](const Cell& c) {
    return std::find(cells.begin(), cells.end(), c) != cells.end();
  };
  for (const Cell& c : cells) {
    for (int k = 0; k < 3; ++k) {
      for (int s = 0; s < 2; ++s) {
        Cell next = c;
        next[k] += s == 1 ? 1 : -1;
        if (filled(next)) continue;
        const int u = (k + 1) % 3, v = (k + 2) % 3;
        const int first = int(vertices.size());
        for (int corner = 0; corner < 4; ++corner) {
          double p[3] = {double(c[0]), double(c[1]), double(c[2])};
          p[k] += s;
          p[u] += corner == 1 || corner == 2;
          p[v] += corner >= 2;
          vertices.push_back(Vec3d{p[0], p[1], p[2]} * side);
        }
        if (s == 1)
          triangles.insert(triangles.end(),
                           {first, first + 1, first + 2, first, first + 2, first + 3});
        if (s == 0)
          triangles.insert(triangles.end(),
                           {first, first + 2, first + 1, first, first + 3, first + 2});
      }
    }
  }
  return Shape::triangle_mesh(vertices, triangles);
}

inline Solid convex_solid(SolidKind kind, const Shape& shape) {
  return {
      kind, shape, {shape}, {Transform::identity()}, shape.bounded() ? bounding_radius(shape) : 0};
}

inline Solid blocks(Rng& rng, double scale) {
  static const std::vector<std::vector<Cell>> kForms = {
      {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}},                        // L
      {{0, 0, 0}, {1, 0, 0}, {2, 0, 0}, {0, 1, 0}, {2, 1, 0}},  // U
      {{0, 0, 0}, {1, 0, 0}, {2, 0, 0}, {1, 1, 0}},             // T
      {{0, 0, 0}, {1, 0, 0}, {1, 1, 0}, {2, 1, 0}},             // Z
      {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0, 0, 1}},             // corner
      {{0, 0, 0}, {1, 0, 0}, {2, 0, 0}, {0, 1, 0}, {2, 1, 0}, {0, 2, 0}, {1, 2, 0}, {2, 2, 0}}};
  const std::vector<Cell>& cells = kForms[rng.below(int(kForms.size()))];
  const double side = scale * rng.uniform(0.2, 0.4);
  Solid s{SolidKind::kBlocks, blocks_mesh(cells, side), {}, {}, 0};
  for (const Cell& c : cells) {
    s.pieces.push_back(Shape::box(Vec3d{0.5, 0.5, 0.5} * side));
    s.placed.push_back({Mat3d::identity(), Vec3d{c[0] + 0.5, c[1] + 0.5, c[2] + 0.5} * side});
  }
  s.size = bounding_radius(s.shape);
  return s;
}

inline Solid convex_mesh_solid(Rng& rng, double scale) {
  const std::vector<Vec3d> cube = {{-.4, -.3, -.2},
                                   {.4, -.3, -.2},
                                   {.4, .3, -.2},
                                   {-.4, .3, -.2},
                                   {-.4, -.3, .2},
                                   {.4, -.3, .2},
                                   {.4, .3, .2},
                                   {-.4, .3, .2}};
  std::vector<Vec3d> points =
      rng.below(2) == 0 ? cube : random_points(rng, 4 + rng.below(12), {.5, .4, .3}, true);
  for (Vec3d& p : points) p = p * scale;
  const Shape hull = Shape::convex_mesh(points);
  Solid s = convex_solid(SolidKind::kConvexMesh, hull);
  s.shape = Shape::triangle_mesh(hull.mesh->vertices, hull.mesh->triangles);
  s.size = bounding_radius(s.shape);
  return s;
}

/// Prisms under the triangles of a field.
inline Solid field_solid(Rng& rng) {
  const int n = 7;
  std::vector<double> heights(n * n);
  const double rough = rng.below(3) == 0 ? 0.0 : 0.2;
  for (double& h : heights) h = rng.uniform(-rough, rough);
  const double depth = 2.0;
  Solid s{SolidKind::kField, Shape::height_field(n, n, heights, 0.7, 0.7, depth), {}, {}, 0};
  const HeightField& f = *s.shape.field;
  for (int t = 0; t < f.count(); ++t) {
    int i[3], j[3];
    f.corners(t, i, j);
    std::vector<Vec3d> p;
    for (int k = 0; k < 3; ++k) {
      const Vec3d v = f.sample(i[k], j[k]);
      p.push_back(v);
      p.push_back({v.x, v.y, f.base});
    }
    s.pieces.push_back(Shape::convex_mesh(p));
    s.placed.push_back(Transform::identity());
  }
  s.size = bounding_radius(s.shape);
  return s;
}

/// `scale` is of its lengths; fields and half-spaces have one size.
inline Solid random_solid(Rng& rng, SolidKind kind, double scale = 1.0) {
  const double a = scale * rng.uniform(0.2, 0.5), b = scale * rng.uniform(0.2, 0.5),
               c = scale * rng.uniform(0.2, 0.5);
  switch (kind) {
    case SolidKind::kSphere:
      return convex_solid(kind, Shape::sphere(a));
    case SolidKind::kCapsule:
      return convex_solid(kind, Shape::capsule(0.5 * a, b));
    case SolidKind::kBox:
      return convex_solid(kind, Shape::box({a, b, c}));
    case SolidKind::kHull:
      return convex_solid(
          kind, Shape::convex_mesh(random_points(rng, 6 + rng.below(20), {a, b, c}, false)));
    case SolidKind::kCylinder:
      return convex_solid(kind, Shape::cylinder(a, b));
    case SolidKind::kCone:
      return convex_solid(kind, Shape::cone(a, b));
    case SolidKind::kEllipsoid:
      return convex_solid(kind, Shape::ellipsoid({a, b, c}));
    case SolidKind::kConvexMesh:
      return convex_mesh_solid(rng, scale);
    case SolidKind::kBlocks:
      return blocks(rng, scale);
    case SolidKind::kField:
      return field_solid(rng);
    case SolidKind::kHalfSpace:
      break;
  }
  return convex_solid(SolidKind::kHalfSpace, Shape::half_space());
}

}  // namespace stiction::test
