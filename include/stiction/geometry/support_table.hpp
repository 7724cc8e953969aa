#pragma once

#include "stiction/math/spatial.hpp"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace stiction {

struct ConvexMesh;

/// Which vertices of a convex mesh can be the farthest ones along a direction: a cube around the
/// origin with `resolution`^2 square cells per side, and for each cell all vertices whose normal
/// cone meets the pyramid over the cell. Exact: the farthest vertex is always among the candidates.
/// Directions are scaled by `extent` first, the half sides of the mesh's box, so that slabs and
/// needles fill the cells evenly. Built once per mesh; 4 bytes per cell and per listed vertex.
struct SupportTable {
  int resolution = 0;  ///< cells along an edge of the cube; 0: no table, scan all vertices
  Vec3d extent{1, 1, 1};
  /// High byte: number of candidates, low 24 bits: where they start in `candidates`. Count 0: the
  /// one candidate itself. Count 255: too many; the vertex from which to climb.
  std::vector<std::uint32_t> cells;
  std::vector<std::uint32_t> candidates;

  static SupportTable build(const ConvexMesh& mesh, int resolution);
  std::size_t bytes() const { return (cells.size() + candidates.size()) * sizeof(std::uint32_t); }
};

}  // namespace stiction
