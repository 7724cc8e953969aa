#include "collision/convex/general_query.hpp"
#include "collision/manifold/manifold_workspace.hpp"
#include "collision/surface/separation_bound.hpp"
#include "collision/surface/surface_crossing.hpp"

// A convex shape that overlaps a solid although no triangle may push it: its centre is inside and
// other parts of the surface are nearer to its corners, or it holds all of the solid. The triangles
// it overlaps, cut to its box, stand for the overlap. The contact takes the direction, within 60
// degrees of their summed normal, along which the shape has the least way to get off all of them:
// a normal of theirs, of a side of the shape, or that sum if it is near none of these.
//
// The same way bounds every contact: one that is deeper pushes along a triangle that the shape only
// grazes, through the solid. A shape that overlaps no triangle, with its centre outside, has none.

namespace stiction::detail {
namespace {

constexpr double kLeastCosine = 0.5;
constexpr double kBalanced = 1e-3;  // of the area: the normals cancel, no side is told
constexpr int kMaxCut = 9;          // three corners, and one more per side of the box

// The part of a triangle within a box.
int cut(const Vec3d v[3], const Aabb& box, Vec3d out[kMaxCut]) {
  Vec3d in[kMaxCut];
  int count = 3;
  std::copy_n(v, 3, out);
  for (int side = 0; side < 6 && count > 0; ++side) {
    const int k = side / 2;
    const auto outside = [&](const Vec3d& p) {
      return side % 2 == 0 ? p[k] - box.upper[k] : box.lower[k] - p[k];
    };
    std::copy_n(out, count, in);
    int kept = 0;
    for (int i = 0; i < count; ++i) {
      const Vec3d &p = in[i], &q = in[i + 1 == count ? 0 : i + 1];
      const double hp = outside(p), hq = outside(q);
      if (hp <= 0.0) out[kept++] = p;
      if ((hp <= 0.0) != (hq <= 0.0)) out[kept++] = p + (q - p) * (hp / (hp - hq));
    }
    count = kept;
  }
  return count;
}

Vec3d area_of(const Vec3d* p, int count) {
  Vec3d sum{0, 0, 0};
  for (int i = 2; i < count; ++i) sum += cross(p[i - 1] - p[0], p[i] - p[0]) * 0.5;
  return sum;
}

// All in the frame of the shape, in which its box is tight.
struct Pushed {
  const Shape& shape;
  const std::vector<OverlapPoint>& points;
  Vec3d area{0, 0, 0}, middle{0, 0, 0};  // middle: times `weight`
  double weight = 0.0;
  Push least = {};

  void offer(const Vec3d& d, std::uint32_t id) {
    if (dot(d, area) < kLeastCosine) return;
    double top = -HUGE_VAL;
    for (const OverlapPoint& p : points) top = std::fmax(top, dot(d, p.p));
    const double tie = kFacePreference * bounding_radius(shape);
    least.offer(d, top, dot(d, support(shape, -d)), tie, id);
  }
};

// Triangles that overlap the shape, cut to its box; work.triangles keeps only these.
void collect(ConvexOnSurface& q, ManifoldWorkspace& work, Pushed& out) {
  const Aabb box = bounding_box(q.shape, Transform::identity());
  std::size_t kept = 0;
  for (const int id : work.triangles) {
    Vec3d v[3], p[kMaxCut];
    q.surface.corners(id, v);
    const Vec3d n = unit_normal(v), d = transpose_times(q.X.R, n);
    if (dot(n, q.X * support(q.shape, -d) - v[0]) > 0.0) continue;
    if (dot(n, q.X * support(q.shape, d) - v[0]) < 0.0) continue;
    const Transform X_T{Mat3d::identity(), q.triangle.set(v, n)};
    if (!overlap_general(q.shape, q.X, q.triangle.shape(), X_T, {}, nullptr, nullptr)) continue;
    for (Vec3d& c : v) c = transpose_times(q.X.R, c - q.X.p);
    const int count = cut(v, box, p);
    const Vec3d area = area_of(p, count);
    const double size = norm(area);
    out.area += area;
    out.weight += size;
    for (int i = 0; i < count; ++i) {
      out.middle += p[i] * (size / count);
      work.overlap.push_back({p[i], 0, true, false, true});
    }
    work.triangles[kept++] = id;
  }
  work.triangles.resize(kept);
}

// The least way off all that the shape overlaps.
void push_off(ConvexOnSurface& q, ManifoldWorkspace& work, Pushed& pushed) {
  pushed.middle = pushed.middle * (1.0 / pushed.weight);
  if (norm(pushed.area) < kBalanced * pushed.weight) {
    pushed.area = transpose_times(q.X.R, q.centre - q.X.p) - pushed.middle;
  }
  const double length = norm(pushed.area);
  pushed.area = length > 0.0 ? pushed.area * (1.0 / length) : Vec3d{0, 0, 1};
  for (const int id : work.triangles) {
    Vec3d v[3];
    q.surface.corners(id, v);
    pushed.offer(transpose_times(q.X.R, unit_normal(v)), mix(10u, std::uint32_t(id)));
  }
  for_each_side(q.shape, -pushed.area, [&](const Vec3d& n, std::uint32_t id) {
    pushed.offer(-n, mix(11u, id));
  });
  if (pushed.least.depth == HUGE_VAL) pushed.offer(pushed.area, 12u);
}

// Adds a contact of the whole overlap if the triangles found none, and drops those too deep.
void judge_overlap(ConvexOnSurface& q, ManifoldWorkspace& work, double gap) {
  const double touching = kFlush * q.size;
  work.overlap.clear();
  Pushed pushed{q.shape, work.overlap};
  collect(q, work, pushed);
  const bool crosses = pushed.weight > 0.0;
  if (crosses) push_off(q, work, pushed);
  if (gap < -touching) {
    if (!crosses && nearest_triangle(q.surface, q.centre, 4.0 * q.size).inside) return;
    drop_deeper(touching + (crosses ? pushed.least.depth : 0.0), work.points);
    if (deepest(work.points) <= touching) return;
  }
  if (!crosses || !solid(q.surface)) return;
  const Push& push = pushed.least;
  const Vec3d on_surface = pushed.middle + push.u * (push.high - dot(push.u, pushed.middle));
  q.points.push_back({q.X.R * push.u, q.X * on_surface, -push.depth, push.feature, 0});
}

}  // namespace

void contact_of_overlap(ConvexOnSurface& q, ManifoldWorkspace& work) {
  const double touching = kFlush * q.size, gap = deepest(work.points);
  if (std::abs(gap) <= touching) return;  // as a shape at rest does
  if (gap > touching && !solid(q.surface)) return;
  judge_overlap(q, work, gap);
}

}  // namespace stiction::detail
