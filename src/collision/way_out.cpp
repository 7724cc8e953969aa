#include "way_out.hpp"

#include "pair.hpp"

namespace stiction::detail {
namespace {

constexpr double kDeepShare = 1e-4;  // of the size: shallower contacts are not looked at
// Of a surface with more vertices, its reach along the axes of its partner is not sought.
constexpr std::size_t kFewVertices = 1024;

bool few_vertices(const Shape& s) {
  return s.surface == nullptr || s.surface->vertices.size() <= kFewVertices;
}

struct WayOut {
  Vec3d u{0, 0, 1};  // frame of the surface
  Vec3d foot{0, 0, 0};
  double depth = HUGE_VAL;
  std::uint32_t feature = 0;

  void offer(
      const Shape& other, const Transform& X, const Vec3d& d, double high, std::uint32_t id) {
    const Vec3d low = X * support(other, -transpose_times(X.R, d));
    const double way = high - dot(d, low);
    if (!(way < depth)) return;
    *this = {d, low, way, id};
  }
};

WayOut shortest_way_out(const Shape& shape, const Shape& other, const Transform& X) {
  const Surface s(shape);
  WayOut out;
  if (other.type == ShapeType::kHeightField) {
    const Vec3d down = -X.R.c2;
    out.offer(other, X, down, dot(down, support(shape, down)), 16u);
  }
  if (s.mesh == nullptr) {  // a field is left upwards
    out.offer(other, X, {0, 0, 1}, s.field->highest, 13u);
    return out;
  }
  const bool own_axes = s.mesh->vertices.size() <= kFewVertices;
  for (int k = 0; k < 6; ++k) {
    Vec3d axis{0, 0, 0};
    axis[k / 2] = k % 2 == 0 ? 1.0 : -1.0;
    const double high = k % 2 == 0 ? s.mesh->box.upper[k / 2] : -s.mesh->box.lower[k / 2];
    if (few_vertices(other)) out.offer(other, X, axis, high, mix(13u, std::uint32_t(k)));
    if (!own_axes) continue;
    const Vec3d own = X.R * axis;
    double top = -HUGE_VAL;
    for (const Vec3d& v : s.mesh->vertices) top = std::fmax(top, dot(own, v));
    out.offer(other, X, own, top, mix(14u, std::uint32_t(k)));
  }
  return out;
}

}  // namespace

double deepest(const std::vector<SurfacePoint>& points) {
  double least = HUGE_VAL;
  for (const SurfacePoint& p : points) least = std::fmin(least, p.gap);
  return least;
}

void drop_deeper(double depth, std::vector<SurfacePoint>& points) {
  std::erase_if(points, [&](const SurfacePoint& p) { return p.gap < -depth; });
}

void keep_within_way_out(const Shape& s,
                         const Shape& other,
                         const Transform& X,
                         double size,
                         std::vector<SurfacePoint>& points) {
  if (!(deepest(points) < -kDeepShare * size)) return;
  const double touching = kFlush * size;
  const WayOut out = shortest_way_out(s, other, X);
  if (!(-deepest(points) > out.depth + touching)) return;
  drop_deeper(out.depth + touching, points);
  if (deepest(points) <= touching) return;
  points.push_back({out.u, out.foot + out.u * out.depth, -out.depth, out.feature, 0});
}

}  // namespace stiction::detail
