#pragma once

#include "stiction/geometry/convex_mesh.hpp"

#include <algorithm>
#include <cmath>

namespace stiction {

/// Index of a vertex farthest along d: from `start` to the best neighbour until none is better,
/// which is the maximum because the mesh is convex.
inline int climb(const ConvexMesh& mesh, const Vec3d& d, int start) {
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

/// The cell of a direction in a table's cube: 2 axis + (0 if positive, else 1), then two indices.
/// A zero or NaN direction ends in some cell.
inline std::size_t support_cell(const SupportTable& table, const Vec3d& d) {
  const double e[5] = {d.x * table.extent.x,
                       d.y * table.extent.y,
                       d.z * table.extent.z,
                       d.x * table.extent.x,
                       d.y * table.extent.y};
  const double ax = std::abs(e[0]), ay = std::abs(e[1]), az = std::abs(e[2]);
  const int low = ay > ax ? 1 : 0;
  const int axis = az > (ay > ax ? ay : ax) ? 2 : low;
  const int n = table.resolution;
  const double half = 0.5 * n, s = half / std::max(std::abs(e[axis]), 1e-300), last = n - 1;
  const int iu = int(std::min(std::max(0.0, e[axis + 1] * s + half), last));
  const int iw = int(std::min(std::max(0.0, e[axis + 2] * s + half), last));
  return (std::size_t(2 * axis + (e[axis] < 0.0)) * n + iu) * n + iw;
}

/// Index of a vertex farthest along d.
inline int mesh_support(const ConvexMesh& mesh, const Vec3d& d) {
  const Vec3d* v = mesh.vertices.data();
  const SupportTable& table = mesh.support;
  if (table.resolution == 0) {
    int best = 0;
    double best_height = dot(d, v[0]);
    for (int i = 1; i < int(mesh.vertices.size()); ++i) {
      const double height = dot(d, v[i]);
      best = height > best_height ? i : best;
      best_height = std::max(height, best_height);
    }
    return best;
  }
  const std::uint32_t word = table.cells[support_cell(table, d)];
  const int count = int(word >> 24), first = int(word & 0xffffffu);
  if (count == 0) return first;
  if (count == 255) return climb(mesh, d, first);
  const std::uint32_t* candidates = table.candidates.data() + first;
  int best = int(candidates[0]);
  double best_height = dot(d, v[best]);
  for (int k = 1; k < count; ++k) {
    const int i = int(candidates[k]);
    const double height = dot(d, v[i]);
    if (height > best_height) {
      best_height = height;
      best = i;
    }
  }
  return best;
}

}  // namespace stiction
