#include "collision/surface/ball_on_field.hpp"

#include <cmath>

namespace stiction::detail {

BallOnField ball_on_field(const Surface& surface,
                          double radius,
                          const Vec3d& centre,
                          double margin,
                          SurfacePoint& point) {
  constexpr double kSure = 1.0 + 1e-9, kShallow = 0.25;  // kShallow: of the radius
  constexpr int kMostTriangles = 32;
  const HeightField& f = *surface.field;
  const double reach = radius + std::fmax(margin, 0.0);
  const Vec3d wide{reach, reach, reach};
  const Vec3d low = centre - wide, high = centre + wide;
  if (!(low.x > f.x0 && low.y > f.y0 && high.x < f.x0 + f.dx * f.cells_x() &&
        high.y < f.y0 + f.dy * f.cells_y()))
    return BallOnField::kUndecided;  // sides of the solid, NaN
  int looked = 0, near = 0, id = -1;
  ClosestOnTriangle at;
  Vec3d corner;
  surface.overlapping({low, high}, [&](int triangle) {
    if (++looked > kMostTriangles || near > 1) return;
    Vec3d v[3];
    surface.corners(triangle, v);
    const ClosestOnTriangle closest = closest_on_triangle(v, centre);
    if (squared_norm(closest.p - centre) > kSure * kSure * reach * reach) return;
    ++near;
    id = triangle;
    at = closest;
    corner = v[0];
  });
  if (looked == 0) return BallOnField::kApart;
  if (looked > kMostTriangles || near > 1) return BallOnField::kUndecided;
  if (near == 0)
    return centre.z > f.height(centre.x, centre.y) ? BallOnField::kApart : BallOnField::kUndecided;
  if (at.edge >= 0 || at.corner >= 0) return BallOnField::kUndecided;
  const Vec3d n = f.normal(id);
  const double height = dot(n, centre) - dot(n, corner);
  const double distance = norm(centre - at.p);
  if (!(height > (1.0 - kShallow) * radius)) return BallOnField::kUndecided;
  if (distance - radius > margin) return BallOnField::kApart;
  point = {n, centre - n * height, height - radius, face_feature(f.patch[id]), 0};
  return BallOnField::kOnFace;
}

}  // namespace stiction::detail
