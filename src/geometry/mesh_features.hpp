#pragma once

#include "stiction/geometry/convex_mesh.hpp"

#include <cmath>

// Faces and edges at a vertex of a convex mesh, by direction.

namespace stiction {

/// The face at the vertex whose normal is nearest to the direction d; ties to the first.
inline int face_along(const ConvexMesh& mesh, int vertex, const Vec3d& d) {
  int best = mesh.vertex_faces[mesh.vertex_face_start[vertex]];
  for (int k = mesh.vertex_face_start[vertex]; k < mesh.vertex_face_start[vertex + 1]; ++k) {
    const int face = mesh.vertex_faces[k];
    if (dot(mesh.faces[face].normal, d) > dot(mesh.faces[best].normal, d)) best = face;
  }
  return best;
}

/// The other end of the edge at the vertex that is nearest to normal to the unit direction d, with
/// a cosine below `limit`; the vertex itself if there is none.
inline int level_neighbour(const ConvexMesh& mesh, int vertex, const Vec3d& d, double limit) {
  int best = vertex;
  double least = limit;
  for (int k = mesh.neighbour_start[vertex]; k < mesh.neighbour_start[vertex + 1]; ++k) {
    const Vec3d along = mesh.vertices[mesh.neighbours[k]] - mesh.vertices[vertex];
    const double cosine = std::abs(dot(along, d)) / norm(along);
    if (!(cosine < least)) continue;
    least = cosine;
    best = mesh.neighbours[k];
  }
  return best;
}

/// The face whose normal is nearest to the unit direction d among those that hold everything of the
/// mesh that is farthest along d: a vertex, or an edge with the end `vertex`. Unlike face_along()
/// it does not depend on which end of the edge that is.
inline int face_along_edge(const ConvexMesh& mesh, int vertex, const Vec3d& d) {
  const int other = level_neighbour(mesh, vertex, d, 1e-6);
  if (other == vertex) return face_along(mesh, vertex, d);
  int best = -1;
  for (int k = mesh.vertex_face_start[vertex]; k < mesh.vertex_face_start[vertex + 1]; ++k) {
    const int face = mesh.vertex_faces[k];
    const int* first = &mesh.vertex_faces[mesh.vertex_face_start[other]];
    const int* last = first + mesh.vertex_face_start[other + 1] - mesh.vertex_face_start[other];
    while (first != last && *first != face) ++first;
    if (first == last) continue;
    const double gain =
        best < 0 ? 1.0 : dot(mesh.faces[face].normal, d) - dot(mesh.faces[best].normal, d);
    if (gain > 1e-9) best = face;
  }
  return best < 0 ? face_along(mesh, vertex, d) : best;
}

}  // namespace stiction
