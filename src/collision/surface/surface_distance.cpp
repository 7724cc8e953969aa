#include "collision/surface/surface_distance.hpp"

#include "stiction/math/constants.hpp"

#include "collision/convex/general_query.hpp"
#include "collision/manifold/manifold_workspace.hpp"
#include "collision/surface/surface.hpp"

// Branch and bound over the triangles: the least distance of a triangle that is known so far is the
// reach within which others are looked for.

namespace stiction::detail {
namespace {

Vec3d centre_of(const Shape& s) { return centre(bounding_box(s, Transform::identity())); }

// Results in the frame of the surface, A the surface.
struct Search {
  const Surface& surface;
  const DistanceSettings& settings;
  DistanceResult best;
  TriangleShape own, other;

  /// Triangles farther away than this [m] cannot be the nearest, or need not be found.
  double reach() const { return std::fmin(std::fmax(best.distance, 0.0), settings.max_distance); }
  /// A triangle against a convex shape.
  void offer(int id, const Shape& shape, const Transform& X) {
    Vec3d v[3];
    surface.corners(id, v);
    const Transform X_T{Mat3d::identity(), own.set(v, unit_normal(v))};
    const double reach = best.distance < kInfinity ? std::fmax(best.distance, 0.0) : kInfinity;
    const GeneralResult r = query_general(own.shape(), X_T, shape, X, settings, reach, nullptr);
    if (!r.beyond && r.distance.distance < best.distance) best = r.distance;
  }
};

// A first bound: the triangle nearest to the middle of the other shape, or the cell under it.
int first_triangle(const Surface& s, const Vec3d& p) {
  if (s.mesh != nullptr) return nearest_triangle(s, p, kInfinity).id;
  int i0 = 0, i1 = 0, j0 = 0, j1 = 0;
  const HeightField& f = *s.field;
  const double x = std::fmin(std::fmax(p.x, f.x0), -f.x0),
               y = std::fmin(std::fmax(p.y, f.y0), -f.y0);
  cell_range(x, x, f.x0, f.dx, f.cells_x(), i0, i1);
  cell_range(y, y, f.y0, f.dy, f.cells_y(), j0, j1);
  return 2 * (j0 * f.cells_x() + i0);
}

void search_convex(Search& q, const Shape& convex, const Transform& X) {
  q.offer(first_triangle(q.surface, X * centre_of(convex)), convex, X);
  const Aabb box = bounding_box(convex, X);
  if (q.surface.mesh == nullptr) {
    q.surface.overlapping(grown(box, q.reach()), [&](int id) { q.offer(id, convex, X); });
    return;
  }
  q.surface.mesh->bvh.descend(
      [&](const Aabb& b) { return boxes_overlap(b, grown(box, q.reach())); },
      [&](int id) { q.offer(id, convex, X); });
}

void search_surface(Search& q, const Shape& shape, const Transform& X) {
  const Surface other(shape);
  const auto against = [&](int id) {
    Vec3d v[3];
    other.corners(id, v);
    const Transform X_T = X * Transform{Mat3d::identity(), q.other.set(v, unit_normal(v))};
    search_convex(q, q.other.shape(), X_T);
  };
  const Vec3d c = q.surface.mesh != nullptr
                      ? centre(q.surface.mesh->box)
                      : q.surface.field->sample(q.surface.field->nx / 2, q.surface.field->ny / 2);
  against(first_triangle(other, transpose_times(X.R, c - X.p)));
  for (int id = 0; id < other.count(); ++id) {
    // A triangle whose box reaches no box of the surface need not be searched for.
    Vec3d v[3];
    other.corners(id, v);
    for (Vec3d& p : v) p = X * p;
    bool near = false;
    q.surface.overlapping(grown(triangle_box(v), q.reach()), [&](int) { near = true; });
    if (near) against(id);
  }
}

// The deepest contact point: solids that overlap have one.
bool deepest_contact(const Shape& a,
                     const Transform& X_WA,
                     const Shape& b,
                     const Transform& X_WB,
                     double size,
                     DistanceResult& r) {
  ManifoldWorkspace work;
  contact_manifolds(a, X_WA, b, X_WB, 0.0, work);
  r.distance = 0.0;
  for (const Manifold& m : work.manifolds) {
    for (int k = 0; k < m.count; ++k) {
      const ManifoldPoint& p = m.points[k];
      if (!(p.gap < r.distance)) continue;
      r = make_result(p.position - m.normal * (0.5 * p.gap), m.normal, p.gap, size);
    }
  }
  return r.distance < 0.0;
}

DistanceResult half_space_distance(const Shape& s, const Transform& X_WS, const Transform& X_WH) {
  const Vec3d& up = X_WH.R.c2;
  const Vec3d low = X_WS * support(s, transpose_times(X_WS.R, -up));
  return make_result(low, -up, dot(up, low - X_WH.p), bounding_radius(s));
}

DistanceResult in_world(const DistanceResult& r, const Transform& X) {
  DistanceResult w = r;
  w.witness_a = X * r.witness_a;
  w.witness_b = X * r.witness_b;
  w.normal = X.R * r.normal;
  return w;
}

// A is the surface.
DistanceResult ordered(const Shape& a,
                       const Transform& X_WA,
                       const Shape& b,
                       const Transform& X_WB,
                       const DistanceSettings& settings) {
  if (!b.bounded()) return half_space_distance(a, X_WA, X_WB);
  DistanceResult r{};
  const double size = std::fmin(bounding_radius(a), bounding_radius(b));
  if (deepest_contact(a, X_WA, b, X_WB, size, r)) return r;
  const Surface surface(a);
  const Transform X = relative(X_WA, X_WB);
  Search q{surface, settings, {}, {}, {}};
  q.best.distance = kInfinity;
  q.best.normal = {0.0, 0.0, 1.0};
  if (is_surface(b.type)) {
    search_surface(q, b, X);
  } else {
    search_convex(q, b, X);
  }
  if (std::abs(q.best.distance) <= kTouching * size) {  // triangles: no depth to find
    q.best.distance = 0.0;
    q.best.status = DistanceStatus::kTouching;
  }
  return in_world(q.best, X_WA);
}

}  // namespace

DistanceResult distance_surface(const Shape& a,
                                const Transform& X_WA,
                                const Shape& b,
                                const Transform& X_WB,
                                const DistanceSettings& settings) {
  if (is_surface(a.type)) return ordered(a, X_WA, b, X_WB, settings);
  return swapped(ordered(b, X_WB, a, X_WA, settings));
}

}  // namespace stiction::detail
