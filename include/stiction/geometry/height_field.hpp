#pragma once

#include "stiction/geometry/triangle_mesh.hpp"

#include <vector>

namespace stiction {

/// Terrain z = h(x, y) over a grid; solid below. The frame's origin lies under the middle of the
/// grid at height zero, x runs along a row of samples, y from row to row: sample (i, j) stands at
/// (x0 + i dx, y0 + j dy, heights[j nx + i]). A cell is two triangles that share the diagonal from
/// its corner (i, j) to (i + 1, j + 1); triangle 2 c is the one on the x side, 2 c + 1 on the y
/// side, with c = j (nx - 1) + i. Nothing lies outside the grid, nor below `base`.
struct HeightField {
  int nx = 0, ny = 0;           ///< samples along x, y; each >= 2
  double dx = 0.0, dy = 0.0;    ///< cell sizes [m]
  double x0 = 0.0, y0 = 0.0;    ///< of the first sample [m]
  std::vector<double> heights;  ///< [ny x nx] [m], row by row
  double lowest = 0.0, highest = 0.0;
  double base = 0.0;       ///< lower end of the solid [m]
  std::vector<int> patch;  ///< [triangles] least triangle of its flat region
  /// Heights of blocks of 2^l x 2^l cells, l = 1, 2, ...: rays and boxes skip what lies below them.
  struct Level {
    int nx, ny;                 ///< blocks
    std::vector<double> upper;  ///< [ny x nx] highest sample of the block [m]
  };
  std::vector<Level> levels;  ///< level 0: the cells

  int cells_x() const { return nx - 1; }
  int cells_y() const { return ny - 1; }
  int count() const { return 2 * cells_x() * cells_y(); }
  Vec3d sample(int i, int j) const {
    return {x0 + i * dx, y0 + j * dy, heights[static_cast<std::size_t>(j) * nx + i]};
  }
  /// Grid corners (i, j) of a triangle, counter-clockwise seen from above.
  void corners(int triangle, int i[3], int j[3]) const;
  /// The same of the triangle of a cell.
  static void corners(int cell_i, int cell_j, bool y_side, int i[3], int j[3]) {
    i[0] = cell_i;
    j[0] = cell_j;
    i[1] = cell_i + 1;
    j[1] = y_side ? cell_j + 1 : cell_j;
    i[2] = y_side ? cell_i : cell_i + 1;
    j[2] = cell_j + 1;
  }
  /// Triangle on the other side of the edge from corner k to k + 1, or -1.
  int neighbour(int triangle, int k) const;
  /// Unit normal, upward; of a triangle, or of one of that side with these heights at its corners.
  Vec3d normal(int triangle) const;
  Vec3d normal(bool y_side, double a, double b, double c) const;
  /// Height of the surface above (x, y) [m]; NaN outside the grid.
  double height(double x, double y) const;

  /// `heights` row by row, [ny x nx]; `depth` [m] of solid under the lowest sample, 0: the diagonal
  /// of the grid. Throws std::invalid_argument that names the field and value.
  static HeightField build(
      int nx, int ny, const std::vector<double>& heights, double dx, double dy, double depth = 0.0);
};

}  // namespace stiction
