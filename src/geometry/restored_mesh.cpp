#include "geometry/restored_mesh.hpp"

#include "geometry/hull_surface.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <stdexcept>
#include <string>
#include <utility>

namespace stiction {
namespace {

using hull::Surface;
using hull::Triangle;

[[noreturn]] void refuse_surface(const std::string& what) {
  throw std::invalid_argument("convex_mesh: triangles " + what);
}

// Triangles that know their neighbours; refuses what is not closed.
std::vector<Triangle> joined(const std::vector<int>& corners, int num_vertices) {
  if (corners.empty() || corners.size() % 3 != 0)
    refuse_surface("hold " + std::to_string(corners.size()) + " numbers: must be three each");
  std::vector<Triangle> triangles(corners.size() / 3);
  std::map<std::pair<int, int>, int> left_of;  // a directed edge
  for (std::size_t i = 0; i < corners.size(); ++i) {
    const int from = corners[i], to = corners[i % 3 == 2 ? i - 2 : i + 1];
    if (from < 0 || from >= num_vertices) {
      refuse_surface("[" + std::to_string(i / 3) + "][" + std::to_string(i % 3) +
                     "] = " + std::to_string(from) + " must be in [0, " +
                     std::to_string(num_vertices) + ")");
    }
    triangles[i / 3].v[i % 3] = from;
    if (from == to) refuse_surface("have two corners in one vertex");
    if (!left_of.emplace(std::pair(from, to), static_cast<int>(i / 3)).second)
      refuse_surface("run twice through an edge");
  }
  for (Triangle& t : triangles) {
    for (int k = 0; k < 3; ++k) {
      const auto other = left_of.find({t.v[(k + 1) % 3], t.v[k]});
      if (other == left_of.end()) refuse_surface("leave an edge open");
      t.adj[k] = other->second;
    }
  }
  return triangles;
}

// One piece without holes that uses every vertex, and no edge is a valley.
void check_surface(const Surface& s) {
  std::vector<int> reached{0};
  std::vector<std::uint8_t> seen(s.triangles.size(), 0), used(s.points.size(), 0);
  seen[0] = 1;
  const double flat = 1e-9 * s.extent * s.extent * s.extent;  // six times a volume
  for (std::size_t i = 0; i < reached.size(); ++i) {
    const Triangle& t = s.triangles[reached[i]];
    const Vec3d normal = s.area_vector(t);
    for (int k = 0; k < 3; ++k) {
      used[t.v[k]] = 1;
      const int other = t.adj[k];
      for (const int v : s.triangles[other].v) {
        if (!(dot(normal, s.points[v] - s.points[t.v[0]]) <= flat))
          refuse_surface("do not bound a convex solid");
      }
      if (seen[other]) continue;
      seen[other] = 1;
      reached.push_back(other);
    }
  }
  const auto all = [](const std::vector<std::uint8_t>& marks) {
    return std::find(marks.begin(), marks.end(), 0) == marks.end();
  };
  // Euler: V - E + F = 2 with E = 3 F / 2.
  if (!all(seen) || !all(used) || 2 * s.points.size() != s.triangles.size() + 4)
    refuse_surface("do not bound one solid with all vertices");
}

}  // namespace

ConvexMesh restore_convex_mesh(const std::vector<Vec3d>& vertices,
                               const std::vector<int>& triangles) {
  hull::check_points(vertices);
  Surface s;
  s.points = vertices;
  Vec3d lower;
  s.extent = hull::checked_extent(s.points, lower);
  s.triangles = joined(triangles, static_cast<int>(vertices.size()));
  check_surface(s);
  hull::measure_thickness(s);
  ConvexMesh mesh = hull::polyhedron(s);
  for (const ConvexMesh::Face& f : mesh.faces) {
    if (!std::isfinite(f.offset)) refuse_surface("without area");
  }
  if (!(mesh.volume > 0.0)) refuse_surface("hold no volume");
  return mesh;
}

}  // namespace stiction
