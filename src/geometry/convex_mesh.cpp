#include "stiction/geometry/convex_mesh.hpp"

#include "geometry/hull_surface.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

// From a point cloud to a polyhedron:
//   1. round to a grid of 2^-40 of the extent (only for deciding topology, coordinates stay),
//   2. exact hull, 3. drop vertices inside faces or edges that are straight to 1e-11, hull again,
//   4. merge triangles of one plane into polygons (hull_surface.cpp).

namespace stiction {
namespace {

using hull::GridPoint;
using hull::Grouping;
using hull::Surface;
using hull::Triangle;

// Keeps one point per grid cell, the first of the input, in the order of the input.
std::vector<GridPoint> round_to_grid(std::vector<Vec3d>& points, double& extent) {
  Vec3d lower;
  extent = hull::checked_extent(points, lower);
  std::vector<GridPoint> grid(points.size());
  for (std::size_t i = 0; i < points.size(); ++i) {
    const Vec3d q = points[i] - lower;
    const auto cell = [&](double x) { return std::llround(x / extent * double(hull::kGridMax)); };
    grid[i] = {cell(q.x), cell(q.y), cell(q.z)};
  }
  std::vector<int> order(points.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](int a, int b) { return grid[a] < grid[b]; });
  const auto same = [&](int a, int b) { return grid[a] == grid[b]; };
  order.erase(std::unique(order.begin(), order.end(), same), order.end());
  std::sort(order.begin(), order.end());
  std::vector<GridPoint> kept_grid;
  std::vector<Vec3d> kept;
  for (const int i : order) {
    kept_grid.push_back(grid[i]);
    kept.push_back(points[i]);
  }
  points = std::move(kept);
  return kept_grid;
}

// The hull of the grid points; points that are no corners of it are removed from `s` and `grid`.
void build_surface(Surface& s, std::vector<GridPoint>& grid) {
  s.triangles = hull::quickhull(grid);
  std::vector<int> number(grid.size(), -1);
  for (const Triangle& t : s.triangles) {
    for (const int v : t.v) number[v] = 0;
  }
  int count = 0;
  for (std::size_t i = 0; i < grid.size(); ++i) {
    if (number[i] < 0) continue;
    s.points[count] = s.points[i];
    grid[count] = grid[i];
    number[i] = count++;
  }
  s.points.resize(count);
  grid.resize(count);
  for (Triangle& t : s.triangles) {
    for (int& v : t.v) v = number[v];
  }
  hull::measure_thickness(s);
}

double distance_to_line(const Vec3d& p, const Vec3d& a, const Vec3d& b) {
  const Vec3d ab = b - a;
  return norm(cross(ab, p - a)) / norm(ab);
}

// A corner of a polyhedron touches at least three faces. Fewer: it lies inside a face, or inside
// an edge if that is straight. Returns whether any was dropped.
bool drop_redundant(Surface& s, std::vector<GridPoint>& grid) {
  const double tolerance = std::min(hull::kRedundant * s.extent, 1e-4 * s.thickness);
  const Grouping grouping = hull::group_planes(s, tolerance);
  std::vector<int> loops_through(s.points.size(), 0);
  std::vector<double> bend(s.points.size(), 0.0);
  for (const std::vector<int>& loop : grouping.loops) {
    const std::size_t n = loop.size();
    for (std::size_t i = 0; i < n; ++i) {
      const Vec3d& before = s.points[loop[(i + n - 1) % n]];
      const Vec3d& after = s.points[loop[(i + 1) % n]];
      ++loops_through[loop[i]];
      bend[loop[i]] = std::max(bend[loop[i]], distance_to_line(s.points[loop[i]], before, after));
    }
  }
  std::size_t count = 0;
  for (std::size_t i = 0; i < s.points.size(); ++i) {
    const bool corner = loops_through[i] >= 3 || (loops_through[i] == 2 && bend[i] > tolerance);
    if (!corner) continue;
    s.points[count] = s.points[i];
    grid[count++] = grid[i];
  }
  const bool dropped = count < s.points.size();
  s.points.resize(count);
  grid.resize(count);
  return dropped;
}

}  // namespace

ConvexMesh ConvexMesh::hull(const std::vector<Vec3d>& points) {
  hull::check_points(points);
  Surface s;
  s.points = points;
  std::vector<GridPoint> grid = round_to_grid(s.points, s.extent);
  build_surface(s, grid);
  if (drop_redundant(s, grid)) build_surface(s, grid);
  Vec3d lower;
  s.extent = hull::checked_extent(s.points, lower);  // of its corners
  return hull::polyhedron(s);
}

}  // namespace stiction
