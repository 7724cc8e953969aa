#pragma once

#include "stiction/geometry/convex_mesh.hpp"

namespace stiction {

/// Index of a vertex farthest along d. Small meshes: scan. Larger ones: climb from `hint` to the
/// best neighbour until none is better, which is the maximum because the mesh is convex.
inline int mesh_support(const ConvexMesh& mesh, const Vec3d& d, int hint) {
  const Vec3d* v = mesh.vertices.data();
  const int count = int(mesh.vertices.size());
  if (count <= 32) {
    int best = 0;
    double best_height = dot(d, v[0]);
    for (int i = 1; i < count; ++i) {
      const double height = dot(d, v[i]);
      if (height > best_height) {
        best_height = height;
        best = i;
      }
    }
    return best;
  }
  int current = hint >= 0 && hint < count ? hint : 0;
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

}  // namespace stiction
