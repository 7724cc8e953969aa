#include "stiction/geometry/height_field.hpp"

#include "stiction/math/lanes.hpp"

#include "math/disjoint_sets.hpp"

#include <algorithm>
#include <cmath>
#include <sstream>
#include <stdexcept>

namespace stiction {
namespace {

constexpr int kMaxSamples = 1 << 28;  // triangles are numbered by int

template <class T>
[[noreturn]] void fail(const std::string& field, T value, const std::string& rule) {
  std::ostringstream text;
  text << "height_field: " << field << " = " << value << " must be " << rule;
  throw std::invalid_argument(text.str());
}

void check(int nx, int ny, const std::vector<double>& heights, double dx, double dy, double depth) {
  if (nx < 2) fail("nx", nx, ">= 2");
  if (ny < 2) fail("ny", ny, ">= 2");
  const long wanted = static_cast<long>(nx) * ny;
  if (wanted > kMaxSamples) fail("nx * ny", wanted, "at most 2^28");
  if (heights.size() != static_cast<std::size_t>(wanted)) {
    fail("heights.size()", heights.size(), "nx * ny = " + std::to_string(wanted));
  }
  for (std::size_t n = 0; n < heights.size(); ++n) {
    if (std::isfinite(heights[n])) continue;
    fail("heights[" + std::to_string(n / nx) + "][" + std::to_string(n % nx) + "]",
         heights[n],
         "finite");
  }
  if (!(std::isfinite(dx) && dx > 0.0)) fail("cell_size.x", dx, "finite and > 0 [m]");
  if (!(std::isfinite(dy) && dy > 0.0)) fail("cell_size.y", dy, "finite and > 0 [m]");
  if (!(std::isfinite(depth) && depth >= 0.0)) fail("depth", depth, "finite and >= 0 [m]");
}

void find_patches(HeightField& field) {
  DisjointSets regions(field.count());
  for (int t = 0; t < field.count(); ++t) {
    const Vec3d n = field.normal(t);
    for (int k = 0; k < 3; ++k) {
      const int other = field.neighbour(t, k);
      if (other > t && norm(cross(n, field.normal(other))) <= kFlatSine) regions.join(t, other);
    }
  }
  field.patch = regions.labels();
}

void build_levels(HeightField& field) {
  HeightField::Level level{field.cells_x(), field.cells_y(), {}};
  for (int j = 0; j < level.ny; ++j) {
    for (int i = 0; i < level.nx; ++i) {
      level.upper.push_back(std::max({field.sample(i, j).z,
                                      field.sample(i + 1, j).z,
                                      field.sample(i, j + 1).z,
                                      field.sample(i + 1, j + 1).z}));
    }
  }
  field.levels.push_back(level);
  while (field.levels.back().nx > 1 || field.levels.back().ny > 1) {
    const HeightField::Level& fine = field.levels.back();
    HeightField::Level coarse{(fine.nx + 1) / 2, (fine.ny + 1) / 2, {}};
    coarse.upper.assign(static_cast<std::size_t>(coarse.nx) * coarse.ny, -HUGE_VAL);
    for (int j = 0; j < fine.ny; ++j) {
      for (int i = 0; i < fine.nx; ++i) {
        double& h = coarse.upper[static_cast<std::size_t>(j / 2) * coarse.nx + i / 2];
        h = std::max(h, fine.upper[static_cast<std::size_t>(j) * fine.nx + i]);
      }
    }
    field.levels.push_back(std::move(coarse));
  }
}

}  // namespace

void HeightField::corners(int triangle, int i[3], int j[3]) const {
  const int cell = triangle / 2;
  corners(cell % cells_x(), cell / cells_x(), triangle % 2 == 1, i, j);
}

int HeightField::neighbour(int triangle, int k) const {
  const int cell = triangle / 2, ci = cell % cells_x(), cj = cell / cells_x();
  if (triangle % 2 == 0) {  // edges: bottom, x side, diagonal
    if (k == 0) return cj > 0 ? triangle - 2 * cells_x() + 1 : -1;
    if (k == 1) return ci + 1 < cells_x() ? triangle + 3 : -1;
    return triangle + 1;
  }  // diagonal, top, the other x side
  if (k == 0) return triangle - 1;
  if (k == 1) return cj + 1 < cells_y() ? triangle + 2 * cells_x() - 1 : -1;
  return ci > 0 ? triangle - 3 : -1;
}

// z = h + (x - x_i) slope_x + (y - y_j) slope_y; the normal is (-slope_x, -slope_y, 1).
Vec3d HeightField::normal(int triangle) const {
  int i[3], j[3];
  corners(triangle, i, j);
  const double a = sample(i[0], j[0]).z, b = sample(i[1], j[1]).z, c = sample(i[2], j[2]).z;
  return normal(triangle % 2 == 1, a, b, c);
}

Vec3d HeightField::normal(bool y_side, double a, double b, double c) const {
  const double slope_x = (y_side ? b - c : b - a) / dx, slope_y = (y_side ? c - a : c - b) / dy;
  const double s = 1.0 / std::sqrt(slope_x * slope_x + slope_y * slope_y + 1.0);
  return {-slope_x * s, -slope_y * s, s};
}

double HeightField::height(double x, double y) const {
  const double u = (x - x0) / dx, v = (y - y0) / dy;
  if (!(u >= 0.0 && v >= 0.0 && u <= cells_x() && v <= cells_y())) return std::nan("");
  const int i = std::min(static_cast<int>(u), cells_x() - 1);
  const int j = std::min(static_cast<int>(v), cells_y() - 1);
  const double a = u - i, b = v - j;
  const double h00 = sample(i, j).z, h11 = sample(i + 1, j + 1).z;
  if (a >= b) return h00 + a * (sample(i + 1, j).z - h00) + b * (h11 - sample(i + 1, j).z);
  return h00 + b * (sample(i, j + 1).z - h00) + a * (h11 - sample(i, j + 1).z);
}

HeightField HeightField::build(
    int nx, int ny, const std::vector<double>& heights, double dx, double dy, double depth) {
  check(nx, ny, heights, dx, dy, depth);
  HeightField field;
  field.nx = nx;
  field.ny = ny;
  field.dx = dx;
  field.dy = dy;
  field.x0 = -0.5 * (nx - 1) * dx;
  field.y0 = -0.5 * (ny - 1) * dy;
  field.heights = heights;
  const auto [low, high] = std::minmax_element(heights.begin(), heights.end());
  field.lowest = *low;
  field.highest = *high;
  field.base = *low - (depth > 0.0 ? depth : 2.0 * length(field.x0, field.y0));
  find_patches(field);
  build_levels(field);
  return field;
}

}  // namespace stiction
