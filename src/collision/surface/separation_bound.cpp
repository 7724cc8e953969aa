#include "collision/surface/separation_bound.hpp"

#include "collision/manifold/manifold_workspace.hpp"
#include "collision/pairs/pair.hpp"

namespace stiction::detail {
namespace {

constexpr double kDeepShare = 1e-4;  // of the size: shallower contacts are not looked at

Vec3d lowest_point(const Shape& s, const Transform& X, const Vec3d& d) {
  return X * support(s, -transpose_times(X.R, d));
}

double low_along(const Shape& s, const Transform& X, const Vec3d& d) {
  if (s.surface == nullptr) return dot(d, lowest_point(s, X, d));
  return dot(d, X.p) - s.surface->reach(-transpose_times(X.R, d));
}

double high_along(const Shape& s, const Vec3d& d) {
  return s.surface == nullptr ? dot(d, support(s, d)) : s.surface->reach(d);
}

// Frame of `s`. A field is left upwards.
Push shortest_push(const Shape& s, const Shape& other, const Transform& X) {
  Push push;
  const auto offer = [&](const Vec3d& d, double high, std::uint32_t id) {
    push.offer(d, high, low_along(other, X, d), 0.0, id);
  };
  const auto offer_side_of_other = [&](const Vec3d& n, std::uint32_t id) {
    const Vec3d d = -(X.R * n);
    offer(d, high_along(s, d), mix(14u, id));
  };
  if (other.type == ShapeType::kHeightField) offer_side_of_other({0, 0, 1}, 0u);
  if (s.surface == nullptr) {
    offer({0, 0, 1}, s.field->highest, 13u);
    return push;
  }
  std::uint32_t number = 0;
  for (const TriangleMesh::Side& side : s.surface->sides) {
    offer(side.normal, side.reach, mix(13u, number++));
    if (other.type != ShapeType::kConvexMesh) continue;
    for_each_side(other, -transpose_times(X.R, side.normal), offer_side_of_other);
  }
  if (other.surface != nullptr) {
    number = 0;
    for (const TriangleMesh::Side& side : other.surface->sides) {
      offer_side_of_other(side.normal, number++);
    }
  } else if (other.type != ShapeType::kConvexMesh && other.type != ShapeType::kHeightField) {
    for_each_side(other, {}, offer_side_of_other);
  }
  return push;
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

void push_apart(const Shape& s,
                const Shape& other,
                const Transform& X,
                std::vector<SurfacePoint>& points) {
  const Push push = shortest_push(s, other, X);
  const Vec3d on_surface = lowest_point(other, X, push.u) + push.u * push.depth;
  points.push_back({push.u, on_surface, -push.depth, push.feature, 0});
}

void limit_depth(const Shape& s,
                 const Shape& other,
                 const Transform& X,
                 double size,
                 std::vector<SurfacePoint>& points) {
  if (!(deepest(points) < -kDeepShare * size)) return;
  const double touching = kFlush * size;
  const Push push = shortest_push(s, other, X);
  if (!(-deepest(points) > push.depth + touching)) return;
  drop_deeper(push.depth + touching, points);
  if (deepest(points) <= touching) return;
  const Vec3d on_surface = lowest_point(other, X, push.u) + push.u * push.depth;
  points.push_back({push.u, on_surface, -push.depth, push.feature, 0});
}

}  // namespace stiction::detail
