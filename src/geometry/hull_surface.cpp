#include "geometry/hull_surface.hpp"

#include "geometry/size_range.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numeric>
#include <sstream>
#include <stdexcept>
#include <string>
#include <utility>

// Checks of points, and triangles merged into polygons where they lie in one plane (to 1e-7:
// inclined faces of float32 files).

namespace stiction::hull {
namespace {

constexpr double kMerge = 1e-7;  // of the extent: about the rounding of float32 coordinates
constexpr double kFlat = 1e-11;  // of the extent: a thinner cloud counts as coplanar

[[noreturn]] void refuse(const std::string& what) {
  throw std::invalid_argument("convex_mesh: points" + what);
}

double largest_side(const std::vector<Vec3d>& points, Vec3d& lower) {
  Vec3d upper = lower = points[0];
  for (const Vec3d& p : points) {
    for (int k = 0; k < 3; ++k) {
      lower[k] = std::min(lower[k], p[k]);
      upper[k] = std::max(upper[k], p[k]);
    }
  }
  return std::max({upper.x - lower.x, upper.y - lower.y, upper.z - lower.z});
}

double depth_below_largest_triangle(const Surface& s) {
  Vec3d normal{0, 0, 0};
  const Vec3d* origin = nullptr;
  for (const Triangle& t : s.triangles) {
    const Vec3d n = s.area_vector(t);
    if (squared_norm(n) > squared_norm(normal)) {
      normal = n;
      origin = &s.points[t.v[0]];
    }
  }
  if (origin == nullptr) return 0.0;
  normal = normal * (1.0 / norm(normal));
  double depth = 0.0;
  for (const Vec3d& p : s.points) depth = std::max(depth, -dot(normal, p - *origin));
  return depth;
}

class Grouper {
 public:
  Grouper(const Surface& s, double tolerance)
      : s_(s), tolerance_(tolerance), next_(s.points.size(), -1) {}

  // Largest triangles first: their normals are the most reliable.
  Grouping run() {
    const int n = int(s_.triangles.size());
    result_.group.assign(n, -1);
    std::vector<double> area(n);
    std::vector<int> order(n);
    for (int i = 0; i < n; ++i) area[i] = norm(s_.area_vector(s_.triangles[i]));
    std::iota(order.begin(), order.end(), 0);
    std::stable_sort(order.begin(), order.end(), [&](int a, int b) { return area[a] > area[b]; });
    for (const int seed : order) {
      if (result_.group[seed] >= 0) continue;
      flood(seed, area[seed]);
      if (!trace_loop()) {
        // An earlier group cuts this one into something that is no disc: leave the seed alone.
        for (const int t : members_) result_.group[t] = -1;
        members_.assign(1, seed);
        result_.group[seed] = int(result_.loops.size());
        trace_loop();
      }
      result_.loops.push_back(loop_);
    }
    return std::move(result_);
  }

 private:
  void flood(int seed, double seed_area) {
    const int id = int(result_.loops.size());
    const Vec3d origin = s_.points[s_.triangles[seed].v[0]];
    const Vec3d normal = s_.area_vector(s_.triangles[seed]) * (1.0 / seed_area);
    members_.assign(1, seed);
    result_.group[seed] = id;
    for (std::size_t i = 0; i < members_.size(); ++i) {
      for (const int t : s_.triangles[members_[i]].adj) {
        if (result_.group[t] >= 0) continue;
        bool flat = true;
        for (const int v : s_.triangles[t].v) {
          flat = flat && std::abs(dot(normal, s_.points[v] - origin)) <= tolerance_;
        }
        if (!flat) continue;
        result_.group[t] = id;
        members_.push_back(t);
      }
    }
  }

  // Follows the border of the newest group; false if it is not one simple loop.
  bool trace_loop() {
    const int id = int(result_.loops.size());
    int edges = 0, start = -1;
    bool simple = true;
    for (const int t : members_) {
      const Triangle& triangle = s_.triangles[t];
      for (int k = 0; k < 3; ++k) {
        if (result_.group[triangle.adj[k]] == id) continue;
        const int a = triangle.v[k];
        simple = simple && next_[a] < 0;
        next_[a] = triangle.v[(k + 1) % 3];
        if (start < 0 || a < start) start = a;
        ++edges;
      }
    }
    loop_.clear();
    for (int v = start; v >= 0 && int(loop_.size()) < edges; v = next_[v]) {
      loop_.push_back(v);
      if (next_[v] == start) break;
    }
    for (const int t : members_) {
      for (const int v : s_.triangles[t].v) next_[v] = -1;
    }
    return simple && edges >= 3 && int(loop_.size()) == edges;
  }

  const Surface& s_;
  double tolerance_;
  std::vector<int> next_, members_, loop_;
  Grouping result_;
};

void add_faces(const Surface& s, const Grouping& grouping, ConvexMesh& mesh) {
  for (const std::vector<int>& loop : grouping.loops) {
    Vec3d n{0, 0, 0};
    const Vec3d& origin = s.points[loop[0]];
    for (std::size_t i = 1; i + 1 < loop.size(); ++i) {
      n += cross(s.points[loop[i]] - origin, s.points[loop[i + 1]] - origin);
    }
    n = n * (1.0 / norm(n));
    double offset = dot(n, origin);
    for (const int v : loop) offset = std::max(offset, dot(n, s.points[v]));
    mesh.faces.push_back({n, offset, int(mesh.face_vertices.size()), int(loop.size())});
    mesh.face_vertices.insert(mesh.face_vertices.end(), loop.begin(), loop.end());
  }
}

// Compressed rows from a list of (row, value), each pair once.
void compress(std::vector<std::pair<int, int>>& entries,
              int rows,
              std::vector<int>& start,
              std::vector<int>& values) {
  std::sort(entries.begin(), entries.end());
  entries.erase(std::unique(entries.begin(), entries.end()), entries.end());
  start.assign(rows + 1, 0);
  for (const auto& [row, value] : entries) {
    ++start[row + 1];
    values.push_back(value);
  }
  std::partial_sum(start.begin(), start.end(), start.begin());
}

void add_adjacency(const Surface& s, const Grouping& grouping, ConvexMesh& mesh) {
  const double flat = kRedundant * s.extent;
  std::vector<std::uint8_t> is_flat(mesh.faces.size(), 1);
  std::vector<std::pair<int, int>> faces_of, edges, loop_members;
  for (std::size_t t = 0; t < s.triangles.size(); ++t) {
    const int g = grouping.group[t];
    for (const int v : s.triangles[t].v) {
      faces_of.emplace_back(v, g);
      const double depth = mesh.faces[g].offset - dot(mesh.faces[g].normal, s.points[v]);
      if (depth > flat) is_flat[g] = 0;
    }
  }
  for (std::size_t g = 0; g < mesh.faces.size(); ++g) {
    for (const int v : grouping.loops[g]) loop_members.emplace_back(int(g), v);
  }
  std::sort(loop_members.begin(), loop_members.end());
  const auto on_loop = [&](int g, int v) {
    return std::binary_search(loop_members.begin(), loop_members.end(), std::make_pair(g, v));
  };
  for (std::size_t t = 0; t < s.triangles.size(); ++t) {
    const int g = grouping.group[t];
    for (int k = 0; k < 3; ++k) {
      const int a = s.triangles[t].v[k], b = s.triangles[t].v[(k + 1) % 3];
      const bool diagonal = grouping.group[s.triangles[t].adj[k]] == g && is_flat[g] &&
                            on_loop(g, a) && on_loop(g, b);
      if (!diagonal) edges.emplace_back(a, b);
    }
  }
  const int n = int(s.points.size());
  compress(edges, n, mesh.neighbour_start, mesh.neighbours);
  compress(faces_of, n, mesh.vertex_face_start, mesh.vertex_faces);
}

// Volume and first moment as the sum over tetrahedra from one inner point to the triangles.
void add_volume(const Surface& s, ConvexMesh& mesh) {
  Vec3d centre{0, 0, 0};
  for (const Vec3d& p : s.points) centre += p * (1.0 / double(s.points.size()));
  double six_volumes = 0.0;
  Vec3d moment{0, 0, 0};
  for (const Triangle& t : s.triangles) {
    const Vec3d a = s.points[t.v[0]] - centre, b = s.points[t.v[1]] - centre,
                c = s.points[t.v[2]] - centre;
    const double v = dot(a, cross(b, c));
    six_volumes += v;
    moment += (a + b + c) * (0.25 * v);
    mesh.triangles.insert(mesh.triangles.end(), t.v, t.v + 3);
  }
  mesh.volume = six_volumes / 6.0;
  mesh.centroid = centre + moment * (1.0 / six_volumes);
  for (const Vec3d& p : s.points) mesh.bounding_radius = std::max(mesh.bounding_radius, norm(p));
}

// Measured inside distance queries: a scan of few vertices beats the table, and so does a longer
// list of candidates a larger table, whose cells are in no cache.
int table_resolution(std::size_t vertices) {
  if (vertices <= 12) return 0;
  return std::min(2 * int(0.7 * std::sqrt(double(vertices))), 56);
}

}  // namespace

void check_points(const std::vector<Vec3d>& points) {
  if (points.size() < 4) refuse(": count " + std::to_string(points.size()) + " is below 4");
  for (std::size_t i = 0; i < points.size(); ++i) {
    for (int k = 0; k < 3; ++k) {
      if (std::isfinite(points[i][k])) continue;
      std::ostringstream what;
      what << "[" << i << "]." << "xyz"[k] << " = " << points[i][k] << " is not finite";
      refuse(what.str());
    }
  }
}

double checked_extent(const std::vector<Vec3d>& points, Vec3d& lower) {
  const double extent = largest_side(points, lower);
  if (!(extent > 0.0)) {
    refuse(": all " + std::to_string(points.size()) + " are coplanar (they coincide)");
  }
  if (extent < kLeastSize || extent > kLargestSize) {
    std::ostringstream what;
    what << ": extent " << extent << " m is outside of " << kLeastSize << " ... " << kLargestSize
         << " m";
    refuse(what.str());
  }
  return extent;
}

void measure_thickness(Surface& s) {
  s.thickness = depth_below_largest_triangle(s);
  if (s.thickness <= kFlat * s.extent) {
    std::ostringstream what;
    what << ": they are coplanar (thickness " << s.thickness << " m)";
    refuse(what.str());
  }
}

Grouping group_planes(const Surface& s, double tolerance) { return Grouper(s, tolerance).run(); }

ConvexMesh polyhedron(Surface& s) {
  const double tolerance = std::min(kMerge * s.extent, 1e-3 * s.thickness);
  const Grouping grouping = group_planes(s, tolerance);
  ConvexMesh mesh;
  add_faces(s, grouping, mesh);
  add_adjacency(s, grouping, mesh);
  add_volume(s, mesh);
  mesh.vertices = std::move(s.points);
  const int resolution = table_resolution(mesh.vertices.size());
  if (resolution > 0) mesh.support = SupportTable::build(mesh, resolution);
  return mesh;
}

}  // namespace stiction::hull
