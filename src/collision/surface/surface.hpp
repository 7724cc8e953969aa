#pragma once

#include "stiction/geometry/height_field.hpp"
#include "stiction/geometry/shape.hpp"
#include "stiction/geometry/triangle_mesh.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

// Height fields and triangle meshes under one roof: numbered triangles with what lies around them.

namespace stiction::detail {

/// A triangle in the frame of its surface with its surroundings.
struct SurfaceTriangle {
  Vec3d v[3];
  Vec3d n;        ///< unit, outward
  double offset;  ///< n . v
  SurfaceEdge edge[3];
  Vec3d across[3];  ///< normal of the neighbour, unless the edge is a boundary
  int vertex[3];    ///< numbers in the surface
  bool sharp[3];    ///< an edge at this corner is not flat
  int id, patch;

  const Vec3d& next(int k) const { return v[k == 2 ? 0 : k + 1]; }
  bool plain() const {
    for (int k = 0; k < 3; ++k) {
      if (edge[k] != SurfaceEdge::kFlat || sharp[k]) return false;
    }
    return true;
  }
};

struct Surface {
  const HeightField* field = nullptr;
  const TriangleMesh* mesh = nullptr;
  explicit Surface(const Shape& s) : field(s.field.get()), mesh(s.surface.get()) {}

  int count() const { return mesh != nullptr ? mesh->count() : field->count(); }
  int vertices() const {
    return mesh != nullptr ? static_cast<int>(mesh->vertices.size()) : field->nx * field->ny;
  }
  int patch(int id) const { return mesh != nullptr ? mesh->patch[id] : field->patch[id]; }
  /// Three corners; no more.
  void corners(int id, Vec3d v[3]) const;
  void triangle(int id, SurfaceTriangle& t) const;
  /// A triangle without what lies around it: of a height field that takes longer than the rest.
  void face(int id, SurfaceTriangle& t) const;
  /// The same of a height field, by its cell; side 0: the triangle 2 c.
  void face(int i, int j, int side, SurfaceTriangle& t) const;
  void classify_edge(SurfaceTriangle& t, int edge) const;      ///< edge[k] and across[k]
  void classify_corner(SurfaceTriangle& t, int corner) const;  ///< sharp[k]

  /// visit(id) for each triangle whose box may overlap `box`; of a height field also those under
  /// which it lies. Returns the boxes looked at.
  template <class Visit>
  int overlapping(const Aabb& box, Visit visit) const {
    return mesh != nullptr ? mesh->bvh.overlapping(box, visit) : cells(box, visit);
  }

  /// visit(number) for the vertices joined to `vertex` by an edge, some of them twice.
  template <class Visit>
  void neighbours(int vertex, Visit visit) const;
  /// visit(p) for the same.
  template <class Visit>
  void around(int vertex, Visit visit) const;

  /// Sum of the normals around a vertex: on which side of it the outside lies.
  Vec3d outward(int vertex) const;

  Vec3d vertex(int number) const {
    return mesh != nullptr ? mesh->vertices[number]
                           : field->sample(number % field->nx, number / field->nx);
  }

 private:
  template <class Visit>
  int cells(const Aabb& box, Visit visit) const;
};

/// Cells of a grid line [first, last] that the interval [lower, upper] touches, from origin x0 with
/// cells of size d.
inline bool cell_range(
    double lower, double upper, double x0, double d, int cells, int& first, int& last) {
  const double a = std::floor((lower - x0) / d), b = std::floor((upper - x0) / d);
  if (!(a <= cells && b >= -1.0)) return false;  // touching the border counts; NaN does not
  first = static_cast<int>(std::fmin(std::fmax(a, 0.0), cells - 1.0));
  last = static_cast<int>(std::fmin(std::fmax(b, 0.0), cells - 1.0));
  return true;
}

template <class Visit>
int Surface::cells(const Aabb& box, Visit visit) const {
  const HeightField& f = *field;
  int i0, i1, j0, j1;
  if (!cell_range(box.lower.x, box.upper.x, f.x0, f.dx, f.cells_x(), i0, i1)) return 0;
  if (!cell_range(box.lower.y, box.upper.y, f.y0, f.dy, f.cells_y(), j0, j1)) return 0;
  if (box.upper.z < f.base || box.lower.z > f.highest) return 1;
  int looked = 0;
  const std::vector<double>& upper = f.levels[0].upper;
  for (int j = j0; j <= j1; ++j) {
    for (int i = i0; i <= i1; ++i, ++looked) {
      const int cell = j * f.cells_x() + i;
      if (upper[cell] < box.lower.z) continue;
      visit(2 * cell);
      visit(2 * cell + 1);
    }
  }
  return looked;
}

template <class Visit>
void Surface::neighbours(int vertex, Visit visit) const {
  if (mesh != nullptr) {
    for (int n = mesh->vertex_start[vertex]; n < mesh->vertex_start[vertex + 1]; ++n) {
      const int* t = &mesh->triangles[3 * static_cast<std::size_t>(mesh->vertex_triangles[n])];
      for (int k = 0; k < 3; ++k) {
        if (t[k] != vertex) visit(t[k]);
      }
    }
    return;
  }
  static constexpr int kSteps[6][2] = {{1, 0}, {1, 1}, {0, 1}, {-1, 0}, {-1, -1}, {0, -1}};
  const int i = vertex % field->nx, j = vertex / field->nx;
  for (const auto& s : kSteps) {
    const int a = i + s[0], b = j + s[1];
    if (a >= 0 && b >= 0 && a < field->nx && b < field->ny) visit(b * field->nx + a);
  }
}

template <class Visit>
void Surface::around(int vertex, Visit visit) const {
  neighbours(vertex, [&](int v) { visit(this->vertex(v)); });
}

inline Vec3d unit_normal(const Vec3d v[3]) {
  const Vec3d n = cross(v[1] - v[0], v[2] - v[0]);
  return n * (1.0 / norm(n));
}

/// Normals whose cosine is above 1 - this are one: within 1e-4 rad.
inline constexpr double kSameNormal = 5e-9;

/// Where the point of a triangle closest to another point lies.
struct ClosestOnTriangle {
  Vec3d p;
  int edge = -1, corner = -1;  ///< both -1: inside; edge k joins corners k and k + 1
};
ClosestOnTriangle closest_on_triangle(const Vec3d v[3], const Vec3d& p);

/// Do the points straight ahead along u, from this edge or corner of the triangle, lie nearer to it
/// than to any other feature of the surface around it? u is taken to be normal to the feature. Only
/// then is u a direction in which the surface can push there.
bool edge_looks_along(const SurfaceTriangle& t, int edge, const Vec3d& u);
bool corner_looks_along(const Surface& surface,
                        const SurfaceTriangle& t,
                        int corner,
                        const Vec3d& u);

/// The triangle nearest to a point, and on which side of the surface the point is.
struct NearestTriangle {
  int id = -1;            ///< -1: none within the bound
  Vec3d p{0, 0, 0};       ///< on it
  double distance = 0.0;  ///< [m], >= 0
  bool inside = false;    ///< behind the surface
};
NearestTriangle nearest_triangle(const Surface& surface, const Vec3d& p, double bound);

}  // namespace stiction::detail
