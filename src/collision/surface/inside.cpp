#include "collision/surface/inside.hpp"

#include "stiction/math/constants.hpp"

#include "collision/manifold/manifold_pairs.hpp"
#include "collision/manifold/manifold_workspace.hpp"
#include "collision/surface/surface_crossing.hpp"

namespace stiction::detail {
namespace {

constexpr double kOnSurface = 1e-7;  // of the size: a depth within which no side is told

// The triangle nearest to a point in the solid; id -1: the point is outside.
NearestTriangle nearest_above(const Surface& s, const Vec3d& p, double slack) {
  if (s.mesh != nullptr && s.mesh->volume > 0.0 && !boxes_overlap({p, p}, s.mesh->box)) return {};
  const double reach = s.mesh != nullptr ? kInfinity : s.field->height(p.x, p.y) - p.z;
  if (!(reach > slack)) return {};  // NaN outside of the grid
  const NearestTriangle near = nearest_triangle(s, p, reach);
  return near.inside && near.distance > slack ? near : NearestTriangle{};
}

// That of the first corner of a surface found inside. Nothing crosses, so one corner speaks for all
// that is joined to it, unless it may leave through the sides of a field, which are no triangles.
NearestTriangle nearest_above_corner(const Surface& s,
                                     const Surface& other,
                                     const Transform& X,
                                     double slack) {
  NearestTriangle near;
  const auto inside = [&](int vertex) {
    const Vec3d p = X * other.vertex(vertex);
    if (s.mesh == nullptr && !(p.z > s.field->base)) return false;
    near = nearest_above(s, p, slack);
    return near.id >= 0;
  };
  if (s.mesh != nullptr && other.mesh != nullptr) {
    for (const int v : other.mesh->parts) {
      if (inside(v)) return near;
    }
    return near;
  }
  const int count = s.mesh != nullptr ? 1 : other.vertices();
  for (int v = 0; v < count; ++v) {
    if (inside(v)) return near;
  }
  return near;
}

// A hull need not hold the middle of its box.
Vec3d inner_point(const Shape& s) {
  if (s.type == ShapeType::kConvexMesh) return s.mesh->centroid;
  return centre(bounding_box(s, Transform::identity()));
}

NearestTriangle way_up(const Surface& s, const Shape& other, const Transform& X, double slack) {
  const NearestTriangle at_middle = nearest_above(s, X * inner_point(other), slack);
  if (is_surface(other.type)) {
    const NearestTriangle at_corner = nearest_above_corner(s, Surface(other), X, slack);
    return at_corner.id < 0 || at_middle.id < 0 ? at_corner : at_middle;
  }
  const bool under = s.mesh == nullptr && at_middle.id >= 0 &&
                     (X * support(other, transpose_times(X.R, Vec3d{0, 0, 1}))).z <= s.field->base;
  return under ? NearestTriangle{} : at_middle;
}

// The lowest points of `other` over the plane of a triangle.
void append_lowest(const Surface& s,
                   int triangle,
                   const Shape& other,
                   const Transform& X,
                   std::vector<SurfacePoint>& points) {
  Vec3d v[3];
  s.corners(triangle, v);
  const Vec3d n = unit_normal(v), t = (v[1] - v[0]) * (1.0 / norm(v[1] - v[0]));
  const auto append = [&](const Vec3d& low, std::uint32_t feature) {
    const double gap = dot(n, low - v[0]);
    points.push_back({n, low - n * gap, gap, mix(mix(15u, s.patch(triangle)), feature), 0});
  };
  if (!is_surface(other.type)) {
    Manifold m;
    manifold_any_half_space(other, X, {{t, cross(n, t), n}, v[0]}, 0.0, m);
    for (int k = 0; k < m.count; ++k) {
      append(m.points[k].position + n * (0.5 * m.points[k].gap), m.points[k].feature);
    }
    return;
  }
  // Downwards, and aslant so that the points span an area.
  for (int k = 0; k < 5; ++k) {
    const Vec3d along = t * (k & 1 ? 1.0 : -1.0) + cross(n, t) * (k & 2 ? 1.0 : -1.0);
    const Vec3d d = k == 4 ? -n : along - n;
    append(X * support(other, transpose_times(X.R, d)), std::uint32_t(k));
  }
}

}  // namespace

void contacts_inside(const Shape& s,
                     const Shape& other,
                     const Transform& X_SO,
                     double size,
                     ManifoldWorkspace& work) {
  const Surface surface(s);
  if (solid(surface)) {
    const int above = way_up(surface, other, X_SO, kOnSurface * size).id;
    if (above >= 0) return append_lowest(surface, above, other, X_SO, work.points);
  }
  if (!is_surface(other.type) || !solid(Surface(other))) return;
  const Surface around(other);
  const Transform X_OS = inverse(X_SO);
  const int above = way_up(around, s, X_OS, kOnSurface * size).id;
  if (above < 0) return;
  const std::size_t first = work.points.size();
  append_lowest(around, above, s, X_OS, work.points);
  for (std::size_t i = first; i < work.points.size(); ++i) {
    SurfacePoint& p = work.points[i];
    p.on_surface = X_SO * (p.on_surface + p.normal * p.gap);
    p.normal = -(X_SO.R * p.normal);
  }
}

}  // namespace stiction::detail
