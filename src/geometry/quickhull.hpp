#pragma once

#include <cstdint>
#include <vector>

// Exact convex hull of points on an integer grid: no tolerance, hence no degenerate case that a
// tolerance could get wrong. Rounding to the grid is the caller's business (convex_mesh.cpp).

namespace stiction::hull {

struct GridPoint {
  std::int64_t x, y, z;  ///< 0 <= coordinate <= kGridMax
  friend bool operator==(const GridPoint&, const GridPoint&) = default;
  friend auto operator<=>(const GridPoint&, const GridPoint&) = default;
};
/// Differences d <= 2^40, cross products <= 2^81, their dot product with a difference <= 3 * 2^121:
/// every determinant fits into 128 bits with room to spare.
inline constexpr std::int64_t kGridMax = std::int64_t{1} << 40;

struct Triangle {
  int v[3];    ///< counter-clockwise from outside
  int adj[3];  ///< triangle across the edge v[k] -> v[(k + 1) % 3]
};

/// Closed triangulated surface of the hull of distinct points; empty if all are coplanar.
std::vector<Triangle> quickhull(const std::vector<GridPoint>& points);

}  // namespace stiction::hull
