#include "collision/scene/collide.hpp"

#include "collision/pairs/pair.hpp"
#include "collision/scene/cull.hpp"
#include "collision/scene/pose_geometries.hpp"
#include "collision/scene/seams.hpp"
#include "collision/scene/sweep.hpp"
#include "collision/scene/touch.hpp"
#include "collision/surface/surface.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <stdexcept>
#include <string>

namespace stiction {
namespace {

constexpr double kLeastTarget = 1e-6;  // [m] gap at which a fast pair counts as met

std::uint64_t pair_key(int a, int b) {
  return static_cast<std::uint64_t>(a) << 32 | static_cast<std::uint32_t>(b);
}

/// Pairs whose closed form needs no iteration keep no narrow-phase state, nor do those with a
/// surface, where each triangle would need its own.
bool keeps_query(ShapeType a, ShapeType b) {
  if (a == ShapeType::kHalfSpace || b == ShapeType::kHalfSpace) return false;
  if (is_surface(a) || is_surface(b)) return false;
  if (detail::is_round(a) && detail::is_round(b)) return false;
  const auto sphere_box = [](ShapeType s, ShapeType t) {
    return s == ShapeType::kSphere && t == ShapeType::kBox;
  };
  return !sphere_box(a, b) && !sphere_box(b, a);
}

/// Whether pairs touch at their surfaces, all of them.
bool no_offsets(const Parameters& p) {
  const auto none = [](const Material& m) { return m.rest_offset == 0.0; };
  return std::all_of(p.material.begin(), p.material.end(), none) && half_pair_offset(p) == 0.0;
}

/// True if all of the field under the ball of the other shape lies lower than the margin [m].
bool proven_above(const CollisionWorkspace& work, int field, int other, double margin) {
  const Vec3d centre = work.poses[other] * work.centre[other];
  const Transform& X = work.poses[field];
  const Vec3d c = transpose_times(X.R, centre - X.p);
  const double reach = work.radius[other] * (1.0 + 1e-12) + margin;
  const Vec3d wide{reach, reach, reach};
  bool apart = true;
  detail::Surface(work.shapes[field]).overlapping({c - wide, c + wide}, [&](int) {
    apart = false;
  });
  return apart;
}

/// True if the boxes at rest prove that the pair is farther apart than the margin [m]. A
/// half-space's box is infinite: its plane against the other's box. Rounding is left to the margin:
/// the proof must hold by 1e-12 of the extents too.
bool proven_apart(const CollisionWorkspace& work, int a, int b, double margin) {
  const auto is_plane = [&](int g) { return !work.shapes[g].bounded(); };
  const Vec3d offset = work.poses[b] * work.centre[b] - work.poses[a] * work.centre[a];
  if (is_plane(a) || is_plane(b)) {
    const int plane = is_plane(a) ? a : b, other = is_plane(a) ? b : a;
    const Vec3d n = work.poses[plane].R.c2, c = work.poses[other] * work.centre[other];
    const double height = dot(n, c - work.poses[plane].p);
    const Vec3d along = transpose_times(work.poses[other].R, n);
    const double width = std::min(work.radius[other], detail::half_width(work.half[other], along));
    return height > width + margin + 1e-12 * work.radius[other];
  }
  for (const int field : {a, b}) {
    if (work.shapes[field].type == ShapeType::kHeightField)
      return proven_above(work, field, field == a ? b : a, margin);
  }
  const double radii = work.radius[a] + work.radius[b], slack = margin + 1e-12 * radii;
  if (squared_norm(offset) > (radii + slack) * (radii + slack)) return true;
  return detail::boxes_apart(
      work.poses[a].R, work.half[a], work.poses[b].R, work.half[b], offset, slack);
}

/// Manifolds found only because the pair is fast: kept if it comes within `target` during the step,
/// as the manifolds of that moment. Normals taken now, far away, would deflect what flies past or
/// what lands behind an edge. Forces of this step change the motion by dt^2 |g| and more; what they
/// add beyond the target is found in the next step. Distances, of surfaces that touch at `offset`.
void keep_only_what_meets(const Scene& scene,
                          int a,
                          int b,
                          double dt,
                          double target,
                          double margin,
                          double offset,
                          CollisionWorkspace& work) {
  std::vector<Manifold>& manifolds = work.manifold.manifolds;
  for (const Manifold& m : manifolds) {
    for (int i = 0; i < m.count; ++i) {
      if (m.points[i].gap <= target) return;
    }
  }
  const auto motion = [&](int g) {
    return detail::MovingShape{work.poses[g],
                               work.centre[g],
                               work.linear[g] + work.own[g].linear,
                               work.angular[g] + work.own[g].angular,
                               work.radius[g]};
  };
  const Shape &A = work.shapes[a], &B = work.shapes[b];
  const detail::MovingShape motion_a = motion(a), motion_b = motion(b);
  double time = 0.0;
  bool meets;
  if (is_surface(A.type) || is_surface(B.type)) {
    meets = detail::first_approach_of_surfaces(
        A, motion_a, B, motion_b, dt, target, work.manifold, time);
  } else {
    meets = detail::first_approach(A, motion_a, B, motion_b, dt, target, time);
  }
  if (meets) {
    const Transform later_a = advanced(motion_a, time), later_b = advanced(motion_b, time);
    // What turns by over 2^40 rad is at no known orientation: too fast to follow in double.
    meets = detail::is_finite(later_a) && detail::is_finite(later_b);
    if (meets) contact_manifolds(A, later_a, B, later_b, margin, work.manifold);
  }
  if (!meets) {
    manifolds.clear();
    return;
  }
  const double place = place_at_touch(scene, a, b);
  for (Manifold& m : manifolds) detail::take_back(motion_a, motion_b, time, dt, offset, place, m);
}

/// In work.manifold, of a pair that is not proven apart; `margin` and `target`: distances.
void find_manifolds(const Scene& scene,
                    int a,
                    int b,
                    double dt,
                    double target,
                    double margin,
                    double offset,
                    DistanceCache* cache,
                    CollisionWorkspace& work) {
  const Shape &A = work.shapes[a], &B = work.shapes[b];
  contact_manifolds(A, work.poses[a], B, work.poses[b], margin, work.manifold, cache);
  if (A.bounded() && B.bounded() && margin > target && !work.manifold.manifolds.empty())
    keep_only_what_meets(scene, a, b, dt, target, margin, offset, work);
}

double pair_margin(const CollisionWorkspace& work, int a, int b, double least, double offset) {
  return offset + std::max(least, work.reach[a] + work.reach[b]);
}

void append_contacts(const Scene& scene,
                     const Parameters& p,
                     const DynamicsWorkspace& dynamics,
                     int a,
                     int b,
                     const Manifold& m,
                     int pair_points,
                     ContactSet& contacts) {
  const int body_a = scene.geometries()[a].body, body_b = scene.geometries()[b].body;
  const Mat3d R_WA = body_placement(scene, dynamics, body_a).R;
  const Mat3d frame = contact_frame(R_WA, m.normal);
  const Material material = scene.pair_material(p, a, b);
  const double shift = shift_to_plane(scene, a, b);
  for (int k = 0; k < m.count; ++k) {
    Contact& c = contacts.emplace_back();  // filled in place: a temporary would be copied
    c.geometry_a = a;
    c.geometry_b = b;
    c.body_a = body_a;
    c.body_b = body_b;
    c.pair = pair_key(a, b);
    c.feature = m.points[k].feature;
    c.pair_points = pair_points;
    c.position = m.points[k].position + m.normal * (shift * m.points[k].gap);
    c.frame = frame;
    c.gap = m.points[k].gap - material.rest_offset;
    c.witness = m.points[k].witness;
    c.material = material;
  }
}

/// Of the contacts of one pair, from `first` on and sorted by feature; of equals the lower feature.
void keep_deepest(int limit, std::size_t first, ContactSet& contacts) {
  const auto begin = contacts.begin() + static_cast<std::ptrdiff_t>(first);
  std::sort(begin, contacts.end(), [](const Contact& x, const Contact& y) {
    return x.gap != y.gap ? x.gap < y.gap : x.feature < y.feature;
  });
  contacts.resize(first + limit);
  std::sort(contacts.begin() + static_cast<std::ptrdiff_t>(first),
            contacts.end(),
            [](const Contact& x, const Contact& y) { return x.feature < y.feature; });
  for (std::size_t k = first; k < contacts.size(); ++k) contacts[k].pair_points = limit;
}

void append_contacts(const Scene& scene,
                     const Parameters& p,
                     const DynamicsWorkspace& dynamics,
                     int a,
                     int b,
                     const std::vector<Manifold>& manifolds,
                     int limit,
                     ContactSet& contacts) {
  int pair_points = 0;
  for (const Manifold& m : manifolds) pair_points += m.count;
  const std::size_t first = contacts.size();
  for (const Manifold& m : manifolds) {
    append_contacts(scene, p, dynamics, a, b, m, pair_points, contacts);
  }
  std::sort(contacts.begin() + first, contacts.end(), [](const Contact& x, const Contact& y) {
    return x.feature < y.feature;
  });
  if (limit > 0 && pair_points > limit) keep_deepest(limit, first, contacts);
}

}  // namespace

// Points against a half-space (or a surface) are taken on its plane, not midway: the points of a
// rigid foot that rocks about its edge then stick without contradicting each other (midway they
// differ by w phi / 2, and an exact solution answers with internal forces up to the cone). By this
// share of the gap along the normal.
double shift_to_plane(const Scene& scene, int a, int b) {
  const auto plane_side = [&](int g) {
    const ShapeType type = scene.geometries()[g].shape.type;
    return type == ShapeType::kHalfSpace || is_surface(type) ? 0.5 : 0.0;
  };
  return plane_side(b) - plane_side(a);
}

double contact_target(double margin, double dt, double gravity) {
  return std::max({margin, kLeastTarget, 2.0 * dt * dt * gravity});
}

void find_pair_points(const Scene& scene,
                      int a,
                      int b,
                      const CollisionSettings& settings,
                      double dt,
                      double near,
                      double offset,
                      CollisionWorkspace& work) {
  work.points.clear();
  const double margin = pair_margin(work, a, b, settings.margin, offset);
  if (proven_apart(work, a, b, margin)) return;
  find_manifolds(scene, a, b, dt, offset + near, margin, offset, nullptr, work);
  const double shift = shift_to_plane(scene, a, b);
  for (const Manifold& m : work.manifold.manifolds) {
    for (int k = 0; k < m.count; ++k) {
      const auto& point = m.points[k];
      work.points.push_back({point.position + m.normal * (shift * point.gap),
                             m.normal,
                             point.gap,
                             point.feature,
                             point.witness});
    }
  }
  std::sort(work.points.begin(), work.points.end(), [](const PairPoint& x, const PairPoint& y) {
    return x.feature < y.feature;
  });
}

Mat3d contact_frame(const Mat3d& R_WA, const Vec3d& n) {
  // Within 0.1 rad of n the x-axis would turn quickly: take y. cos(0.1) = 0.995004165.
  const Vec3d& axis = std::abs(dot(R_WA.c0, n)) < 0.995004165278 ? R_WA.c0 : R_WA.c1;
  Vec3d t1 = axis - n * dot(axis, n);
  t1 = t1 * (1.0 / norm(t1));
  return {t1, cross(n, t1), n};
}

void CollisionWorkspace::resize(const Scene& scene) {
  const std::size_t n = scene.geometries().size();
  poses.assign(n, Transform::identity());
  reach.assign(n, 0.0);
  radius.assign(n, kInfinity);
  centre.assign(n, {0, 0, 0});
  half.assign(n, {0, 0, 0});
  linear.assign(n, {0, 0, 0});
  own.assign(n, {{0, 0, 0}, {0, 0, 0}});
  angular.assign(n, {0, 0, 0});
  boxes.assign(n, {{-kInfinity, -kInfinity, -kInfinity}, {kInfinity, kInfinity, kInfinity}});
  shapes.clear();
  std::vector<std::uint8_t> is_static;
  for (const Geometry& geometry : scene.geometries()) {
    is_static.push_back(geometry.body < 0);
    shapes.push_back(geometry.shape);
    take_size(static_cast<int>(shapes.size()) - 1, geometry.shape.size);
  }
  broad_phase.reset(is_static);
}

void CollisionWorkspace::take_size(int g, const Vec3d& size) {
  shapes[g].size = size;
  if (!shapes[g].bounded()) return;
  const Aabb box = bounding_box(shapes[g], Transform::identity());
  centre[g] = stiction::centre(box);
  half[g] = half_extents(box);
  // Half the diagonal holds any shape; a sphere's own radius is smaller.
  radius[g] = shapes[g].type == ShapeType::kSphere ? size.x : 0.5 * norm(box.upper - box.lower);
}

void collide(const Scene& scene,
             const Parameters& parameters,
             const DynamicsWorkspace& dynamics,
             const CollisionSettings& settings,
             double dt,
             State& state,
             CollisionWorkspace& work,
             ContactSet& contacts) {
  contacts.clear();
  work.next_queries.clear();
  pose_geometries(scene, parameters, dynamics, settings, dt, work);
  work.broad_phase.find_pairs(work.boxes, work.pairs);
  work.counters = {work.broad_phase.tested_pairs(), 0, 0, 0};
  const bool at_surfaces = no_offsets(parameters);
  const double near = contact_target(settings.margin, dt, norm(parameters.gravity));
  std::size_t cursor = 0;  // pairs and stored queries are both sorted by (a, b)
  for (const BroadPhase::Pair& pair : work.pairs) {
    if (!scene.pair_enabled(pair.a, pair.b)) continue;
    ++work.counters.overlapping_pairs;
    const Shape &A = work.shapes[pair.a], &B = work.shapes[pair.b];
    const double offset =
        at_surfaces ? 0.0 : scene.pair_material(parameters, pair.a, pair.b).rest_offset;
    const double margin = pair_margin(work, pair.a, pair.b, settings.margin, offset);
    if (proven_apart(work, pair.a, pair.b, margin)) continue;

    const bool rests =
        both_rest(
            scene, dynamics, scene.geometries()[pair.a].body, scene.geometries()[pair.b].body) &&
        !surface_moves(parameters, pair.a) && !surface_moves(parameters, pair.b);
    DistanceCache* cache = nullptr;
    if (keeps_query(A.type, B.type)) {
      const std::uint64_t key = pair_key(pair.a, pair.b);
      while (cursor < state.queries.size() && state.queries[cursor].pair < key) ++cursor;
      const bool known = cursor < state.queries.size() && state.queries[cursor].pair == key;
      if (known) {
        work.next_queries.push_back(state.queries[cursor]);
      } else {
        work.next_queries.push_back({key, {}});
      }
      cache = &work.next_queries.back().cache;
    }
    if (rests) continue;  // no contacts, but the query stays for when they wake
    ++work.counters.narrow_phase_calls;
    find_manifolds(scene, pair.a, pair.b, dt, offset + near, margin, offset, cache, work);
    append_contacts(scene,
                    parameters,
                    dynamics,
                    pair.a,
                    pair.b,
                    work.manifold.manifolds,
                    settings.points_per_pair,
                    contacts);
  }
  drop_covered(scene, dt, work, contacts);
  work.counters.contacts = static_cast<std::int64_t>(contacts.size());
  state.queries.swap(work.next_queries);
}

}  // namespace stiction
