#pragma once

#include "stiction/geometry/convex_mesh.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#if defined(__SSE2__)
#include <emmintrin.h>
#endif

namespace stiction {

/// Index of a vertex farthest along d: from `start` to the best neighbour until none is better,
/// which is the maximum because the mesh is convex.
[[gnu::noinline]] inline int climb(const ConvexMesh& mesh, const Vec3d& d, int start) {
  const Vec3d* v = mesh.vertices.data();
  int current = start;
  double height = dot(d, v[current]);
  for (;;) {  // ends: the height grows strictly and there are finitely many vertices
    int best = current;
    for (int k = mesh.neighbour_start[current]; k < mesh.neighbour_start[current + 1]; ++k) {
      const int i = mesh.neighbours[k];
      const double h = dot(d, v[i]);
      if (h > height) {
        height = h;
        best = i;
      }
    }
    if (best == current) return current;
    current = best;
  }
}

/// The integer part of a number that is not negative. Others, NaN and large ones give any number.
inline unsigned whole(double x) {
#if defined(__SSE2__)
  return unsigned(_mm_cvttsd_si32(_mm_set_sd(x)));
#else
  return x >= 0.0 && x < 1e9 ? unsigned(x) : 0u;
#endif
}

/// The cell of a direction: the upper half of the octahedron, then the lower one; rows along x + y,
/// in a row along x - y. A zero or NaN direction ends in some cell.
inline std::size_t support_cell(const SupportTable& table, const Vec3d& d) {
  const double x = d.x * table.extent.x, y = d.y * table.extent.y, z = d.z * table.extent.z;
  const unsigned n = unsigned(table.resolution);
  const double half = 0.5 * table.resolution, s = half / (std::abs(x) + std::abs(y) + std::abs(z));
  const unsigned row = std::min(whole((x + y) * s + half), n - 1);
  const unsigned column = std::min(whole((x - y) * s + half), n - 1);
  return ((std::signbit(z) ? n : 0u) + row) * n + column;
}

/// A vertex and its number.
struct MeshVertex {
  Vec3d position;
  int index;
};

/// Which of four heights is the largest, the first of equal ones. Without branches: it cannot be
/// predicted.
inline int highest_of(const double (&h)[4], double& height) {
#if defined(__SSE2__)
  const __m128d low = _mm_setr_pd(h[0], h[1]), high = _mm_setr_pd(h[2], h[3]);
  const __m128d larger = _mm_max_pd(low, high);
  const __m128d top = _mm_max_pd(larger, _mm_shuffle_pd(larger, larger, 1));
  const unsigned first = unsigned(_mm_movemask_pd(_mm_cmpeq_pd(low, top))),
                 second = unsigned(_mm_movemask_pd(_mm_cmpeq_pd(high, top)));
  height = _mm_cvtsd_f64(top);
  return std::countr_zero(first | second << 2 | 8u);  // 8: not a number
#else
  int best = 0;
  for (int k = 1; k < 4; ++k) best = h[k] > h[best] ? k : best;
  height = h[best];
  return best;
#endif
}

/// The place of the candidate farthest along d.
inline unsigned farthest_in(const SupportTable::Place* places,
                            const SupportTable::Cell& cell,
                            const Vec3d& d,
                            double& height) {
  double h[4];
  for (int k = 0; k < 4; ++k) {
    const SupportTable::Place& p = places[cell.place[k]];
    h[k] = d.x * p.x + d.y * p.y + d.z * p.z;
  }
  return cell.place[highest_of(h, height)];
}

/// The vertex farthest along d by looking at all of them.
[[gnu::noinline]] inline MeshVertex scan_vertices(const ConvexMesh& mesh, const Vec3d& d) {
  const Vec3d* v = mesh.vertices.data();
  int best = 0;
  double best_height = dot(d, v[0]);
  for (int i = 1; i < int(mesh.vertices.size()); ++i) {
    const double height = dot(d, v[i]);
    best = height > best_height ? i : best;
    best_height = std::max(height, best_height);
  }
  return {v[best], best};
}

/// What `cell.place[0]` = kLong stands for.
[[gnu::noinline]] inline MeshVertex farthest_in_long_list(const ConvexMesh& mesh,
                                                          const SupportTable::Cell& cell,
                                                          const Vec3d& d) {
  const SupportTable& table = mesh.support;
  const unsigned count = cell.place[1], start = cell.place[2] | unsigned(cell.place[3]) << 16;
  if (count == 0) {
    const int v = climb(mesh, d, int(start));
    return {mesh.vertices[v], v};
  }
  double height = -HUGE_VAL;
  unsigned best = table.groups[start].place[0];
  for (unsigned k = start; k < start + count; ++k) {
    double h;
    const unsigned place = farthest_in(table.places.data(), table.groups[k], d, h);
    best = h > height ? place : best;
    height = h > height ? h : height;
  }
  const SupportTable::Place& p = table.places[best];
  return {{p.x, p.y, p.z}, p.vertex};
}

/// A vertex farthest along d.
[[gnu::always_inline]] inline MeshVertex farthest_vertex(const ConvexMesh& mesh, const Vec3d& d) {
  const SupportTable& table = mesh.support;
  if (table.resolution == 0) return scan_vertices(mesh, d);
  const SupportTable::Cell& cell = table.cells[support_cell(table, d)];
  if (cell.place[0] == SupportTable::kLong) return farthest_in_long_list(mesh, cell, d);
  double height;
  const SupportTable::Place& p = table.places[farthest_in(table.places.data(), cell, d, height)];
  return {{p.x, p.y, p.z}, p.vertex};
}

inline int mesh_support(const ConvexMesh& mesh, const Vec3d& d) {
  return farthest_vertex(mesh, d).index;
}

}  // namespace stiction
