#pragma once

#include "stiction/geometry/height_field.hpp"
#include "stiction/geometry/shape.hpp"
#include "stiction/geometry/triangle_mesh.hpp"

#include "solids.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

// Shapes laid on each other with their flat parts: faces, edges, lines on round sides, their
// middles and their borders.

namespace stiction::test {

/// A point of a shape, a normal there and a direction in which the shape is straight, its frame.
struct FlatPart {
  Vec3d p, n, e;
};

inline Vec3d any_across(Rng& rng, const Vec3d& n) {
  Vec3d t = unit_vector(rng);
  t -= n * dot(n, t);
  return t * (1.0 / norm(t));
}

/// A share of a length: its middle, one of its ends, or anywhere.
inline double share(Rng& rng) {
  const int k = rng.below(6);
  return k < 3 ? 0.5 * k : rng.uniform(0.05, 0.95);
}

/// In the plane of a convex polygon: inside, on an edge, or at a corner; or on an edge with a
/// normal between that of the face and `next`, which may be the same.
inline FlatPart on_polygon(Rng& rng, const std::vector<Vec3d>& c, const Vec3d& n) {
  const int i = rng.below(int(c.size())), j = (i + 1) % int(c.size());
  const Vec3d edge = c[j] - c[i];
  FlatPart f{c[i] + edge * share(rng), n, edge * (1.0 / norm(edge))};
  if (rng.below(2) == 0) {
    Vec3d middle{0, 0, 0};
    for (const Vec3d& x : c) middle += x * (1.0 / double(c.size()));
    f.p += (middle - f.p) * rng.uniform(0.05, 0.95);
  }
  return f;
}

inline FlatPart part_of_box(Rng& rng, const Vec3d& half) {
  const int k = rng.below(3), i = (k + 1) % 3, j = (k + 2) % 3;
  FlatPart f{{0, 0, 0}, {0, 0, 0}, {0, 0, 0}};
  f.e[k] = 1.0;
  f.p[k] = half[k] * (2.0 * share(rng) - 1.0);
  const double angle = rng.below(3) == 0 ? 0.0 : rng.uniform(0.1, 1.4);
  f.n[i] = std::cos(angle);
  f.n[j] = std::sin(angle);
  f.p[i] = half[i];
  f.p[j] = half[j] * (angle == 0.0 ? 2.0 * share(rng) - 1.0 : 1.0);
  return f;
}

inline FlatPart part_of_hull(Rng& rng, const ConvexMesh& m) {
  const ConvexMesh::Face& face = m.faces[rng.below(int(m.faces.size()))];
  std::vector<Vec3d> corners;
  for (int k = 0; k < face.count; ++k)
    corners.push_back(m.vertices[m.face_vertices[face.first + k]]);
  if (rng.below(2) == 0) return on_polygon(rng, corners, face.normal);
  const int a = m.face_vertices[face.first], b = m.face_vertices[face.first + 1];
  FlatPart f{corners[0] + (corners[1] - corners[0]) * share(rng), face.normal, {0, 0, 0}};
  for (const ConvexMesh::Face& other : m.faces) {
    const auto holds = [&](int v) {
      const auto first = m.face_vertices.begin() + other.first;
      return std::find(first, first + other.count, v) != first + other.count;
    };
    if (&other != &face && holds(a) && holds(b))
      f.n += (other.normal - f.n) * rng.uniform(0.1, 0.9);
  }
  f.n = f.n * (1.0 / norm(f.n));
  f.e = (corners[1] - corners[0]) * (1.0 / norm(corners[1] - corners[0]));
  return f;
}

inline FlatPart part_of_round(Rng& rng, const Shape& s) {
  const double r = s.size.x, l = s.size.y, angle = rng.uniform(-3.0, 3.0);
  const Vec3d out{std::cos(angle), std::sin(angle), 0};
  const bool cone = s.type == ShapeType::kCone;
  const Vec3d low = out * r - Vec3d{0, 0, l},
              high = (cone ? Vec3d{0, 0, 0} : out * r) + Vec3d{0, 0, l};
  if (s.type != ShapeType::kCapsule && rng.below(2) == 0) {
    const double across = rng.below(3) == 0 ? 1.0 : rng.uniform(0.0, 0.95);
    return {out * (r * across) - Vec3d{0, 0, l}, {0, 0, -1}, any_across(rng, {0, 0, 1})};
  }
  const Vec3d line = (high - low) * (1.0 / norm(high - low)), n = out - line * dot(out, line);
  return {low + (high - low) * share(rng), n * (1.0 / norm(n)), line};
}

inline FlatPart random_part(Rng& rng, const Shape& s) {
  switch (s.type) {
    case ShapeType::kBox:
      return part_of_box(rng, s.size);
    case ShapeType::kConvexMesh:
      return part_of_hull(rng, *s.mesh);
    case ShapeType::kCapsule:
    case ShapeType::kCylinder:
    case ShapeType::kCone:
      return part_of_round(rng, s);
    case ShapeType::kTriangleMesh: {
      const int t = rng.below(s.surface->count());
      return on_polygon(rng,
                        {s.surface->corner(t, 0), s.surface->corner(t, 1), s.surface->corner(t, 2)},
                        s.surface->normals[t]);
    }
    case ShapeType::kHeightField: {
      const HeightField& f = *s.field;
      const int t = rng.below(f.count());
      int i[3], j[3];
      f.corners(t, i, j);
      return on_polygon(
          rng, {f.sample(i[0], j[0]), f.sample(i[1], j[1]), f.sample(i[2], j[2])}, f.normal(t));
    }
    case ShapeType::kHalfSpace:
      return {{0, 0, 0}, {0, 0, 1}, any_across(rng, {0, 0, 1})};
    default: {
      const Vec3d d = unit_vector(rng);
      return {support(s, d), d, any_across(rng, d)};
    }
  }
}

/// The placement of B on which its part faces that of A with its direction parallel to A's, `gap`
/// away; then turned by `turn` about the normal and tilted by `tilt` about its own direction and
/// across it.
inline Transform laid(Rng& rng,
                      const FlatPart& a,
                      const Transform& X_WA,
                      const FlatPart& b,
                      double gap,
                      double turn,
                      double tilt) {
  const Mat3d A{a.e, cross(a.n, a.e), a.n};
  const double sign = rng.below(2) == 0 ? 1.0 : -1.0;
  const Mat3d B{b.e * sign, cross(b.n, b.e * sign), b.n};
  const Mat3d facing{{1, 0, 0}, {0, -1, 0}, {0, 0, -1}};
  const double way = rng.uniform(0.0, 6.28);
  const Mat3d off = small_rotation({tilt * std::cos(way), tilt * std::sin(way), 0.0});
  const double c = std::cos(turn), s = std::sin(turn);
  const Mat3d about{{c, s, 0}, {-s, c, 0}, {0, 0, 1}};
  const Mat3d R = X_WA.R * A * about * off * facing * transpose(B);
  return {R, X_WA * a.p + X_WA.R * a.n * gap - R * b.p};
}

struct LaidPair {
  Shape a, b;
  Transform X_WA, X_WB;
  double off;  ///< [rad] how far from flush; 0: to rounding
};

/// Two random parts on each other: turned and tilted a little, not at all, or turned anyhow.
inline LaidPair laid_pair(Rng& rng, SolidKind ka, SolidKind kb) {
  static constexpr double kGaps[] = {0.3, 0.03, 1e-3, 0.0, -1e-3, -0.02};
  static constexpr double kOff[] = {0.0, 0.0, 0.0, 1e-2, 1e-3, 1e-4, 1e-5, 1e-6};
  LaidPair p{random_solid(rng, ka).shape, random_solid(rng, kb).shape, pose(rng, 1.0), {}, 0.0};
  p.off = kOff[rng.below(8)];
  double turn = p.off * rng.uniform(0.5, 1.0), tilt = p.off * rng.uniform(0.5, 1.0);
  const int way = rng.below(4);
  if (way == 0) turn = rng.uniform(-3.0, 3.0);
  if (way == 1) turn = 0.0;
  if (way == 2) tilt = 0.0;
  const FlatPart a = random_part(rng, p.a), b = random_part(rng, p.b);
  p.X_WB = laid(rng, a, p.X_WA, b, kGaps[rng.below(6)], turn, tilt);
  return p;
}

}  // namespace stiction::test
