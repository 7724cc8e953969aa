#include "collision/surface/ball_on_field.hpp"

#include "collision/surface/ball_on_triangle.hpp"

#include <algorithm>
#include <cstddef>

namespace stiction::detail {
namespace {

constexpr double kSure = 1.0 + 1e-9, kShallow = 0.25;  // kShallow: of the radius

/// Cells [first, last] below [c - reach, c + reach]; false: not all of that is over the grid.
bool cells_below(double c, double reach, double x0, double d, int cells, int& first, int& last) {
  const double low = (c - reach - x0) / d, high = (c + reach - x0) / d;
  if (!(low > 0.0 && high < cells)) return false;  // sides of the solid, NaN
  first = static_cast<int>(low);
  last = static_cast<int>(high);
  return true;
}

struct BallQuery {
  const Surface& surface;
  double radius, margin, reach;
  const Vec3d& centre;
  std::vector<SurfacePoint>& points;
  int touched = 0;

  /// What the ball meets of a triangle that it may reach; false: not decided.
  bool add(int i, int j, int side) {
    SurfaceTriangle t;
    surface.face(i, j, side, t);
    const BallOverTriangle ball{centre, radius, closest_on_triangle(t.v, centre), t};
    if (ball.distance > reach) return true;
    if (!(ball.height > 0.0)) return false;
    const bool touches = !(ball.distance > kSure * radius);
    // In one face alone and not deep: that is the least way out of the ground.
    if (touches && !(++touched == 1 && ball.over_face() && ball.distance - radius <= margin &&
                     ball.height > (1.0 - kShallow) * radius))
      return false;
    SurfacePoint point;
    if (ball.distance - radius <= margin && ball.pushes(surface, t, point)) points.push_back(point);
    return true;
  }
};

}  // namespace

bool ball_on_field(const Surface& surface,
                   double radius,
                   const Vec3d& centre,
                   double margin,
                   std::vector<SurfacePoint>& points) {
  points.clear();
  const HeightField& f = *surface.field;
  const Vec3d& c = centre;
  const double reach = kSure * (radius + std::max(margin, 0.0)), per_x = 1.0 / f.dx,
               per_y = 1.0 / f.dy;
  int i0, i1, j0, j1;
  if (!cells_below(c.x, reach, f.x0, f.dx, f.cells_x(), i0, i1) ||
      !cells_below(c.y, reach, f.y0, f.dy, f.cells_y(), j0, j1))
    return false;
  BallQuery ball{surface, radius, margin, reach, centre, points};
  bool above = true;  // the planes of all triangles around
  for (int j = j0; j <= j1; ++j) {
    const double* h = &f.heights[static_cast<std::size_t>(j) * f.nx];
    for (int i = i0; i <= i1; ++i) {
      const double h00 = h[i], h10 = h[i + 1], h01 = h[i + f.nx], h11 = h[i + 1 + f.nx];
      if (std::max(std::max(h00, h10), std::max(h01, h11)) < c.z - reach) continue;
      // Most planes z = h + slope . (x - x_h) are far enough below: as far as the height over them
      // divided by sqrt(1 + slope^2).
      const double x = c.x - (f.x0 + i * f.dx), y = c.y - (f.y0 + j * f.dy), z = c.z - h00;
      const double slope[2][2] = {{(h10 - h00) * per_x, (h11 - h10) * per_y},
                                  {(h11 - h01) * per_x, (h01 - h00) * per_y}};
      for (int side = 0; side < 2; ++side) {
        const double a = slope[side][0], b = slope[side][1], over = z - a * x - b * y;
        if (over > 0.0 && over * over > reach * reach * (1.0 + a * a + b * b)) continue;
        if (!(over > 0.0)) above = false;
        if (!ball.add(i, j, side)) return false;
      }
    }
  }
  return above || c.z > f.height(c.x, c.y);
}

}  // namespace stiction::detail
