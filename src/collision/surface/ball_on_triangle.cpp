#include "collision/surface/ball_on_triangle.hpp"

namespace stiction::detail {

// Over a flat edge the two triangles must not both decline: in doubt both answer, alike.
bool BallOverTriangle::pushes(const Surface& surface,
                              SurfaceTriangle& t,
                              SurfacePoint& point) const {
  const double aside = norm(w - t.n * dot(t.n, w));
  if (over_face() || aside <= 1e-9 * radius + 2.0 * kFlatSine * distance) {
    if (height < 0.0) return false;  // on the far side of a wall
    point = {t.n, centre - t.n * height, height - radius, face_feature(t.patch), 0, radius};
    return true;
  }
  const Vec3d u = w * (1.0 / distance);
  if (at.corner >= 0) {
    surface.classify_corner(t, at.corner);
    if (!corner_looks_along(surface, t, at.corner, u)) return false;
    point = {u, at.p, distance - radius, peak_feature(t, at.corner), 0};
    return true;
  }
  surface.classify_edge(t, at.edge);
  if (!edge_looks_along(t, at.edge, u)) return false;
  point = {u, at.p, distance - radius, edge_feature(t, at.edge), 0};
  return true;
}

}  // namespace stiction::detail
