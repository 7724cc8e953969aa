#include "stiction/geometry/triangle_mesh.hpp"

#include "math/disjoint_sets.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <sstream>
#include <stdexcept>
#include <string>
#include <tuple>
#include <utility>

namespace stiction {
namespace {

// Area below this share of the square of the longest edge is none: the normal would be rounding.
constexpr double kNoArea = 1e-12;

[[noreturn]] void fail(const std::string& what) {
  throw std::invalid_argument("triangle_mesh: " + what);
}

void check(const std::vector<Vec3d>& vertices, const std::vector<int>& triangles) {
  if (vertices.empty()) fail("vertices is empty");
  if (triangles.empty()) fail("triangles is empty");
  if (triangles.size() % 3 != 0) {
    fail("triangles holds " + std::to_string(triangles.size()) +
         " numbers: must be three per triangle");
  }
  for (std::size_t i = 0; i < vertices.size(); ++i) {
    for (int k = 0; k < 3; ++k) {
      if (std::isfinite(vertices[i][k])) continue;
      std::ostringstream text;
      text << "vertices[" << i << "][" << k << "] = " << vertices[i][k] << " must be finite";
      fail(text.str());
    }
  }
  for (std::size_t i = 0; i < triangles.size(); ++i) {
    if (triangles[i] >= 0 && triangles[i] < static_cast<int>(vertices.size())) continue;
    fail("triangles[" + std::to_string(i / 3) + "][" + std::to_string(i % 3) + "] = " +
         std::to_string(triangles[i]) + " must be in [0, " + std::to_string(vertices.size()) + ")");
  }
}

/// Number of each vertex once equal ones are merged, in the order of their first use in the file.
std::vector<int> weld(const std::vector<Vec3d>& vertices, std::vector<Vec3d>& kept) {
  std::vector<int> order(vertices.size()), number(vertices.size());
  std::iota(order.begin(), order.end(), 0);
  const auto key = [&](int i) {
    return std::make_tuple(vertices[i].x, vertices[i].y, vertices[i].z);
  };
  std::sort(order.begin(), order.end(), [&](int a, int b) {
    return key(a) < key(b) || (key(a) == key(b) && a < b);
  });
  std::vector<int> first(vertices.size());  // lowest number among the equal ones
  for (std::size_t i = 0; i < order.size(); ++i) {
    const bool same = i > 0 && key(order[i]) == key(order[i - 1]);
    first[order[i]] = same ? first[order[i - 1]] : order[i];
  }
  for (std::size_t i = 0; i < vertices.size(); ++i) {
    if (first[i] != static_cast<int>(i)) {
      number[i] = number[first[i]];
      continue;
    }
    number[i] = static_cast<int>(kept.size());
    kept.push_back(vertices[i]);
  }
  return number;
}

/// Adds a triangle; false if it has no area.
bool add_triangle(TriangleMesh& mesh, int a, int b, int c) {
  const Vec3d &p = mesh.vertices[a], &q = mesh.vertices[b], &r = mesh.vertices[c];
  const double longest = std::max({squared_norm(q - p), squared_norm(r - q), squared_norm(p - r)});
  const Vec3d n = cross(q - p, r - p);
  const double length = norm(n);
  if (!(length > kNoArea * longest)) return false;
  mesh.triangles.insert(mesh.triangles.end(), {a, b, c});
  mesh.normals.push_back(n * (1.0 / length));
  return true;
}

void index_vertices(TriangleMesh& mesh) {
  mesh.vertex_start.assign(mesh.vertices.size() + 1, 0);
  for (const int v : mesh.triangles) ++mesh.vertex_start[v + 1];
  std::partial_sum(mesh.vertex_start.begin(), mesh.vertex_start.end(), mesh.vertex_start.begin());
  mesh.vertex_triangles.resize(mesh.triangles.size());
  std::vector<int> next(mesh.vertex_start.begin(), mesh.vertex_start.end() - 1);
  for (std::size_t i = 0; i < mesh.triangles.size(); ++i) {
    mesh.vertex_triangles[next[mesh.triangles[i]]++] = static_cast<int>(i / 3);
  }
}

/// Directed edges of all triangles, to be looked up whatever the number of triangles at a vertex.
class DirectedEdges {
 public:
  explicit DirectedEdges(const TriangleMesh& mesh) {
    const std::vector<int>& corners = mesh.triangles;
    for (std::size_t i = 0; i < corners.size(); ++i) {
      const int to = corners[i % 3 == 2 ? i - 2 : i + 1];
      sorted_.push_back({corners[i], to, static_cast<int>(i / 3)});
    }
    std::sort(sorted_.begin(), sorted_.end());
  }
  /// Of the edge from a to b: the triangle that runs through it (the first), and whether none, one
  /// or more do (2).
  std::pair<int, int> find(int a, int b) const {
    const auto first = std::lower_bound(sorted_.begin(), sorted_.end(), Edge{a, b, -1});
    int count = 0;
    for (auto e = first; count < 2 && e != sorted_.end() && (*e)[0] == a && (*e)[1] == b; ++e)
      ++count;
    return {count == 0 ? -1 : (*first)[2], count};
  }

 private:
  using Edge = std::array<int, 3>;  // from, to, triangle
  std::vector<Edge> sorted_;
};

SurfaceEdge edge_between(const TriangleMesh& mesh, int t, int k, int other) {
  const double sine = norm(cross(mesh.normals[t], mesh.normals[other]));
  const double cosine = dot(mesh.normals[t], mesh.normals[other]);
  if (sine <= kFlatSine && cosine > 0.0) return SurfaceEdge::kFlat;
  // The corner of the neighbour that is not on the edge, farthest from the plane of t.
  double height = 0.0;
  for (int c = 0; c < 3; ++c) {
    const double h = dot(mesh.normals[t], mesh.corner(other, c) - mesh.corner(t, k));
    if (std::abs(h) > std::abs(height)) height = h;
  }
  return height > 0.0 ? SurfaceEdge::kConcave : SurfaceEdge::kConvex;
}

void join(TriangleMesh& mesh) {
  const std::size_t corners = mesh.triangles.size();
  mesh.neighbours.assign(corners, -1);
  mesh.edges.assign(corners, SurfaceEdge::kBoundary);
  mesh.closed = true;
  DisjointSets regions(mesh.count());
  const DirectedEdges directed(mesh);
  for (int t = 0; t < mesh.count(); ++t) {
    for (int k = 0; k < 3; ++k) {
      const int a = mesh.triangles[3 * t + k], b = mesh.triangles[3 * t + (k + 1) % 3];
      const auto [other, opposite] = directed.find(b, a);
      if (opposite != 1 || directed.find(a, b).second != 1) {
        mesh.closed = false;
        continue;
      }
      mesh.neighbours[3 * t + k] = other;
      mesh.edges[3 * t + k] = edge_between(mesh, t, k, other);
      if (mesh.edges[3 * t + k] == SurfaceEdge::kFlat) regions.join(t, other);
    }
  }
  mesh.patch = regions.labels();
  mesh.sharp.assign(mesh.vertices.size(), 0);
  for (std::size_t i = 0; i < corners; ++i) {
    if (mesh.edges[i] == SurfaceEdge::kFlat) continue;
    mesh.sharp[mesh.triangles[i]] = 1;
    mesh.sharp[mesh.triangles[i % 3 == 2 ? i - 2 : i + 1]] = 1;
  }
}

void find_parts(TriangleMesh& mesh) {
  DisjointSets joined(static_cast<int>(mesh.vertices.size()));
  for (std::size_t i = 0; i < mesh.triangles.size(); i += 3) {
    joined.join(mesh.triangles[i], mesh.triangles[i + 1]);
    joined.join(mesh.triangles[i], mesh.triangles[i + 2]);
  }
  for (const int v : mesh.triangles) {
    if (joined.find(v) == v) mesh.parts.push_back(v);
  }
  std::sort(mesh.parts.begin(), mesh.parts.end());
  mesh.parts.erase(std::unique(mesh.parts.begin(), mesh.parts.end()), mesh.parts.end());
}

// Areas that agree to 1e-6 of the largest are one: then the lower number is first.
void find_sides(TriangleMesh& mesh) {
  std::vector<double> area(mesh.count(), 0.0);
  for (int t = 0; t < mesh.count(); ++t) {
    const Vec3d& p = mesh.corner(t, 0);
    area[mesh.patch[t]] += 0.5 * norm(cross(mesh.corner(t, 1) - p, mesh.corner(t, 2) - p));
  }
  const double unit = 1e-6 * *std::max_element(area.begin(), area.end());
  std::vector<int> order;
  for (int t = 0; t < mesh.count(); ++t) {
    if (mesh.patch[t] == t) order.push_back(t);
  }
  const auto rounded = [&](int t) { return std::round(area[t] / unit); };
  std::stable_sort(
      order.begin(), order.end(), [&](int a, int b) { return rounded(a) > rounded(b); });
  for (const int t : order) {
    if (mesh.sides.size() == TriangleMesh::kMaxSides) break;
    const Vec3d& n = mesh.normals[t];
    const auto known = [&](const TriangleMesh::Side& s) {
      return norm(cross(s.normal, n)) <= kFlatSine && dot(s.normal, n) > 0.0;
    };
    if (std::any_of(mesh.sides.begin(), mesh.sides.end(), known)) continue;
    mesh.sides.push_back({n, mesh.reach(n)});
  }
}

/// Tetrahedra about the centre of the box.
void measure(TriangleMesh& mesh) {
  const Vec3d c = centre(mesh.box);
  Vec3d first{0, 0, 0};
  for (int t = 0; t < mesh.count(); ++t) {
    const Vec3d p = mesh.corner(t, 0) - c, q = mesh.corner(t, 1) - c, r = mesh.corner(t, 2) - c;
    const double v = dot(p, cross(q, r)) / 6.0;
    mesh.volume += v;
    first += (p + q + r) * (0.25 * v);
  }
  mesh.centroid = mesh.closed && mesh.volume != 0.0 ? c + first * (1.0 / mesh.volume) : c;
}

void index_boxes(TriangleMesh& mesh) {
  std::vector<Aabb> boxes;
  boxes.reserve(mesh.count());
  for (int t = 0; t < mesh.count(); ++t) {
    const Vec3d v[3] = {mesh.corner(t, 0), mesh.corner(t, 1), mesh.corner(t, 2)};
    boxes.push_back(triangle_box(v));
  }
  mesh.bvh = Bvh::build(boxes);
  mesh.box = mesh.bvh.nodes[0].box;
  for (const int v : mesh.triangles) {
    mesh.bounding_radius = std::max(mesh.bounding_radius, norm(mesh.vertices[v]));
  }
}

}  // namespace

double TriangleMesh::reach(const Vec3d& n) const {
  double most = -HUGE_VAL;
  const auto beyond = [&](const Aabb& b) {
    double sum = 0.0;
    for (int k = 0; k < 3; ++k) sum += n[k] * (n[k] > 0.0 ? b.upper[k] : b.lower[k]);
    return sum > most;
  };
  bvh.descend(beyond, [&](int t) {
    for (int k = 0; k < 3; ++k) most = std::fmax(most, dot(n, corner(t, k)));
  });
  return most;
}

TriangleMesh TriangleMesh::build(const std::vector<Vec3d>& vertices,
                                 const std::vector<int>& triangles,
                                 bool drop_degenerate) {
  check(vertices, triangles);
  TriangleMesh mesh;
  const std::vector<int> number = weld(vertices, mesh.vertices);
  int degenerate = 0, first = -1;
  for (std::size_t i = 0; i < triangles.size(); i += 3) {
    if (add_triangle(
            mesh, number[triangles[i]], number[triangles[i + 1]], number[triangles[i + 2]])) {
      continue;
    }
    if (degenerate++ == 0) first = static_cast<int>(i / 3);
  }
  if (degenerate > 0 && !drop_degenerate) {
    fail("triangles: " + std::to_string(degenerate) + " of " +
         std::to_string(triangles.size() / 3) + " have no area, the first is triangles[" +
         std::to_string(first) + "]; remove them, or ask for drop_degenerate");
  }
  if (mesh.triangles.empty()) fail("triangles: none has an area");
  index_vertices(mesh);
  join(mesh);
  find_parts(mesh);
  index_boxes(mesh);
  find_sides(mesh);
  measure(mesh);
  return mesh;
}

}  // namespace stiction
