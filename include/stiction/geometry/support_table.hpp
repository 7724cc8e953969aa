#pragma once

#include "stiction/math/spatial.hpp"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace stiction {

struct ConvexMesh;

/// Which vertices of a convex mesh can be the farthest ones along a direction: the octahedron
/// |x| + |y| + |z| = 1, whose upper and lower half, seen along z and turned by 45 degrees, are
/// squares of `resolution`^2 square cells, and for each cell all vertices whose normal cone meets
/// the cone over the cell. Exact: the farthest vertex is always among the candidates. Directions
/// are scaled by `extent` first, the half sides of the mesh's box, so that slabs and needles fill
/// the cells evenly. Built once per mesh.
struct SupportTable {
  /// A vertex, half a cache line. Vertices that are candidates together stand close to each other.
  struct alignas(32) Place {
    double x, y, z;
    std::int32_t vertex;
  };
  /// Up to four candidates, as numbers of places; free ones repeat the first. Or `kLong`, how many
  /// groups of four there are, and where they start in `groups` (low, high half); no group: too
  /// many, the start is the vertex from which to climb.
  struct alignas(8) Cell {
    std::uint16_t place[4];
  };
  static constexpr std::uint16_t kLong = 0xffff;

  int resolution = 0;  ///< cells along an edge of a square; 0: no table, scan all vertices
  Vec3d extent{1, 1, 1};
  std::vector<Cell> cells, groups;
  std::vector<Place> places;

  static SupportTable build(const ConvexMesh& mesh, int resolution);
  std::size_t bytes() const {
    return (cells.size() + groups.size()) * sizeof(Cell) + places.size() * sizeof(Place);
  }
};

}  // namespace stiction
