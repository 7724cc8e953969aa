#pragma once

#include "stiction/geometry/shape.hpp"

#include "shapes.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

// The narrow phase's judge: supports, gaps and signed functions of every bounded shape in long
// double, by closed forms and linear scans. Shares no code with the library.

namespace stiction::test {

using Exact = long double;
using ExactVec = Vec3<Exact>;

inline ExactVec exact(const Vec3d& v) { return {v.x, v.y, v.z}; }
inline Exact length(const ExactVec& v) { return std::sqrt(dot(v, v)); }
inline ExactVec unit(const ExactVec& v) { return v * (1.0L / length(v)); }
inline ExactVec to_world(const Mat3d& R, const ExactVec& v) {
  return exact(R.c0) * v.x + exact(R.c1) * v.y + exact(R.c2) * v.z;
}
inline ExactVec to_shape(const Mat3d& R, const ExactVec& v) {
  return {dot(exact(R.c0), v), dot(exact(R.c1), v), dot(exact(R.c2), v)};
}

/// Farthest point of a bounded shape along d, shape frame.
inline ExactVec local_support(const Shape& s, const ExactVec& d) {
  const ExactVec h = exact(s.size);
  const auto sign = [](Exact x) { return x < 0.0L ? -1.0L : 1.0L; };
  const Exact r = std::sqrt(d.x * d.x + d.y * d.y), f = r > 0.0L ? h.x / r : 0.0L;
  switch (s.type) {
    case ShapeType::kSphere:
      return unit(d) * h.x;
    case ShapeType::kCapsule:
      return unit(d) * h.x + ExactVec{0.0L, 0.0L, sign(d.z) * h.y};
    case ShapeType::kBox:
      return {sign(d.x) * h.x, sign(d.y) * h.y, sign(d.z) * h.z};
    case ShapeType::kCylinder:
      return {d.x * f, d.y * f, sign(d.z) * h.y};
    case ShapeType::kCone: {
      const ExactVec rim{d.x * f, d.y * f, -h.y}, apex{0.0L, 0.0L, h.y};
      return dot(d, apex) >= dot(d, rim) ? apex : rim;
    }
    case ShapeType::kEllipsoid: {
      const ExactVec e{h.x * d.x, h.y * d.y, h.z * d.z};
      const Exact l = length(e);
      return {h.x * (e.x / l), h.y * (e.y / l), h.z * (e.z / l)};
    }
    default:
      break;
  }
  ExactVec best{0.0L, 0.0L, 0.0L};
  Exact most = -HUGE_VALL;
  for (const Vec3d& v : s.mesh->vertices) {
    const Exact along = d.x * v.x + d.y * v.y + d.z * v.z;
    if (!(along > most)) continue;
    most = along;
    best = exact(v);
  }
  return best;
}

inline ExactVec world_support(const Shape& s, const Transform& X, const ExactVec& n) {
  return to_world(X.R, local_support(s, to_shape(X.R, n))) + exact(X.p);
}

/// The pair's Minkowski difference A - B: every n bounds the signed distance from below by
/// gap = -n . w.
struct ExactDifference {
  const PosedPair& p;
  struct Point {
    ExactVec a, b, w;
  };
  Point operator()(const ExactVec& n) const {
    Point q;
    q.a = world_support(p.a, p.X_WA, n);
    q.b = world_support(p.b, p.X_WB, -n);
    q.w = q.a - q.b;
    return q;
  }
};

/// Width of the gap along n (from A to B), which need not be unit to the last bit.
inline Exact exact_gap(const PosedPair& p, const ExactVec& n) {
  const ExactVec u = unit(n);
  return -dot(u, ExactDifference{p}(u).w);
}

/// By how much a point sticks out of the shape [m]; <= 0 inside. To first order near the surface;
/// beside the edges of a polyhedron less than the distance, but zero only on the shape.
inline Exact exact_outside(const Shape& s, const Transform& X, const Vec3d& p_W) {
  const ExactVec p = to_shape(X.R, exact(p_W) - exact(X.p)), h = exact(s.size);
  const Exact r = std::sqrt(p.x * p.x + p.y * p.y);
  switch (s.type) {
    case ShapeType::kSphere:
      return length(p) - h.x;
    case ShapeType::kCapsule:
      return length({p.x, p.y, p.z - std::clamp(p.z, -h.y, h.y)}) - h.x;
    case ShapeType::kBox:
      return std::max({std::abs(p.x) - h.x, std::abs(p.y) - h.y, std::abs(p.z) - h.z});
    case ShapeType::kCylinder:
      return std::max(r - h.x, std::abs(p.z) - h.y);
    case ShapeType::kCone:  // the slanted side through (0, h.y) and (h.x, -h.y) in (r, z)
      return std::max((2.0L * h.y * r + h.x * (p.z - h.y)) / std::hypot(2.0L * h.y, h.x),
                      -h.y - p.z);
    case ShapeType::kEllipsoid: {  // f / |grad f|, f = |(p_i / h_i)|^2 - 1
      const ExactVec y{p.x / h.x, p.y / h.y, p.z / h.z};
      const Exact slope = length({y.x / h.x, y.y / h.y, y.z / h.z});
      return slope > 0.0L ? (dot(y, y) - 1.0L) / (2.0L * slope) : -h.z;
    }
    default:
      break;
  }
  Exact most = -HUGE_VALL;
  const std::vector<int>& t = s.mesh->triangles;
  for (std::size_t i = 0; i < t.size(); i += 3) {
    const ExactVec a = exact(s.mesh->vertices[t[i]]);
    const ExactVec n =
        cross(exact(s.mesh->vertices[t[i + 1]]) - a, exact(s.mesh->vertices[t[i + 2]]) - a);
    if (dot(n, n) > 0.0L) most = std::max(most, dot(n, p - a) / length(n));
  }
  return most;
}

inline bool is_polytope(const Shape& s) {
  return s.type == ShapeType::kBox || s.type == ShapeType::kConvexMesh;
}

/// Vertices, face normals and edge directions of a polytope in the world.
struct ExactPolytope {
  std::vector<ExactVec> vertices, normals, edges;

  ExactPolytope(const Shape& s, const Transform& X) {
    if (s.type == ShapeType::kBox) {
      for (int i = 0; i < 8; ++i) {
        const ExactVec h = exact(s.size);
        vertices.push_back(
            to_world(X.R, {i & 1 ? h.x : -h.x, i & 2 ? h.y : -h.y, i & 4 ? h.z : -h.z}) +
            exact(X.p));
      }
      for (int k = 0; k < 3; ++k) normals.push_back(exact(X.R.column(k)));
      edges = normals;
      return;
    }
    for (const Vec3d& v : s.mesh->vertices) {
      vertices.push_back(to_world(X.R, exact(v)) + exact(X.p));
    }
    const std::vector<int>& t = s.mesh->triangles;
    for (std::size_t i = 0; i < t.size(); i += 3) {
      const ExactVec a = vertices[t[i]], b = vertices[t[i + 1]], c = vertices[t[i + 2]];
      normals.push_back(cross(b - a, c - a));
      for (const auto& [k, l] : {std::pair{0, 1}, std::pair{1, 2}, std::pair{2, 0}}) {
        if (t[i + k] < t[i + l]) edges.push_back(vertices[t[i + l]] - vertices[t[i + k]]);
      }
    }
  }
};

}  // namespace stiction::test
