#include "collision/scene/seams.hpp"

#include "collision/manifold/polygon.hpp"
#include "collision/scene/collide.hpp"
#include "collision/surface/surface.hpp"

#include <algorithm>
#include <cmath>

// A shape S that slides over the seam of two flush shapes T1, T2 meets the side of T2, which no
// single pair knows to be covered. S rests against T1 along m, the normal of that contact, and
// stays in front of the plane through its points. Where T2 lies behind this plane, S and T2 can
// meet along m alone: a contact of the two with another normal only bars the way along the
// plane, and is left out. So a contact c of S and T2 is covered by a contact k of S and T1 if
//
//   1. T2, as far as S can reach it, rises above the plane of k by no more than kRise of the
//      smaller of S and T2, also at the end of the step; and so S is in front of it where c
//      touches;
//   2. T2 has a plane face along k's normal: without one T1 and T2 are no surface over which S
//      slides, and c may be what S lies on, as in a pile;
//   3. c is not along k's normal, nor, within 45 degrees of it, along the normal of a plane
//      face: a body lies on faces that all but lie in one plane with all its points; nor within
//      45 degrees against it: T1 and T2 do not hold S between them.
//
// A covered contact covers none: two that cover each other both stay. A wall, a step and a ramp
// rise above the plane, and stop S as before.

namespace stiction {
namespace {

using namespace detail;

/// A step passes if it is no higher than this share of the smaller shape.
constexpr double kRise = 2e-3;
constexpr double kSideways = 0.70710678118654752;  // cosine of 45 degrees
/// A shape with more manifolds has no time for the rule, which takes them by pairs.
constexpr int kMostManifolds = 64;

using Side = SeamSide;

class SeamRule {
 public:
  SeamRule(const Scene& scene, const CollisionWorkspace& work, double dt)
      : scene_(scene), work_(work), dt_(dt) {}

  /// Whether k covers c, both of one shape S.
  bool covers(const Side& k, const Side& c) const {
    if (k.t == c.t) return false;
    const double cosine = dot(k.n, c.n);
    if (cosine > 1.0 - kSameNormal || cosine < -kSideways) return false;
    const double rise = kRise * std::min(work_.radius[c.s], work_.radius[c.t]);
    const Heights held = heights(k, k.n), touched = heights(c, k.n);
    const double highest = held.top + rise;
    if (touched.top > highest || touched.bottom < held.top + held.depth - rise) return false;
    if (!work_.shapes[c.t].bounded() || !work_.shapes[c.s].bounded()) return false;
    if (top(c, k.n) + dt_ * rise_speed(k, c) > highest) return false;
    if (!has_face(c.t, c.s, k.n)) return false;
    return cosine < kSideways || !(has_face(c.t, c.s, c.n) || has_face(c.s, c.t, -c.n));
  }

 private:
  /// The heights of a side's points along a direction.
  struct Heights {
    double top;     ///< the highest point on T [m]
    double bottom;  ///< the lowest on S
    double depth;   ///< least distance, or 0 [m]
  };
  Heights heights(const Side& side, const Vec3d& n) const {
    const int first = work_.seams.first[side.manifold], last = work_.seams.first[side.manifold + 1];
    const SeamPoint* points = work_.seams.points.data();
    const bool s_is_a = points[first].a == side.s;
    // From the position of a contact to its witness points, per distance along side.n.
    const double shift = shift_to_plane(scene_, points[first].a, points[first].b);
    const double middle = s_is_a ? shift : -shift, slope = dot(n, side.n);
    Heights h{-HUGE_VAL, HUGE_VAL, 0.0};
    for (int i = first; i < last; ++i) {
      const double at = dot(n, points[i].position), rise = points[i].distance * slope;
      h.top = std::fmax(h.top, at + (middle - 0.5) * rise);
      h.bottom = std::fmin(h.bottom, at + (middle + 0.5) * rise);
      h.depth = std::fmin(h.depth, points[i].distance);
    }
    return h;
  }

  Vec3d centre(int g) const { return work_.poses[g] * work_.centre[g]; }

  /// visit(triangle) of a surface within reach of another shape.
  template <class Visit>
  void near_triangles(int surface, int other, Visit visit) const {
    const Transform X = relative(work_.poses[surface], work_.poses[other]);
    const double reach = work_.reach[surface] + work_.reach[other];
    const Aabb box = grown(bounding_box(work_.shapes[other], X), reach);
    Surface(work_.shapes[surface]).overlapping(box, visit);
  }

  /// How far T reaches along the unit n, as far as S can meet it [m].
  double top(const Side& c, const Vec3d& n) const {
    const Shape& shape = work_.shapes[c.t];
    const Transform& X = work_.poses[c.t];
    const Vec3d n_T = transpose_times(X.R, n);
    if (!shape.hollow()) {
      const Vec3d p = support(is_surface(shape.type) ? hull_of(shape) : shape, n_T);
      return dot(n, X * p);
    }
    double highest = -HUGE_VAL;
    const Surface surface(shape);
    near_triangles(c.t, c.s, [&](int id) {
      Vec3d v[3];
      surface.corners(id, v);
      for (const Vec3d& p : v) highest = std::fmax(highest, dot(n_T, p));
    });
    return highest + dot(n, X.p);
  }

  /// How fast T of c may rise above the plane of k, which moves with its own T [m/s].
  double rise_speed(const Side& k, const Side& c) const {
    const Vec3d &v = work_.linear[k.t], &w = work_.angular[k.t];
    const Vec3d frame = v + cross(w, centre(c.t) - centre(k.t));
    const double turning = norm(work_.angular[c.t] - w) * work_.radius[c.t];
    return std::fmax(0.0, dot(k.n, work_.linear[c.t] - frame)) + turning;
  }

  /// Whether n (unit, away from it) is the normal of a plane face of a shape near another one.
  bool has_face(int g, int other, const Vec3d& n) const {
    const Shape& shape = work_.shapes[g];
    const Vec3d d = transpose_times(work_.poses[g].R, n);
    if (!shape.hollow()) {
      Polygon face;
      const Shape& solid = is_surface(shape.type) ? hull_of(shape) : shape;
      return plane_face_towards(core_of(solid), d, Transform::identity(), face) &&
             dot(face.normal, d) > 1.0 - kSameNormal;
    }
    bool found = false;
    const Surface surface(shape);
    near_triangles(g, other, [&](int id) {
      Vec3d v[3];
      surface.corners(id, v);
      found = found || dot(unit_normal(v), d) > 1.0 - kSameNormal;
    });
    return found;
  }

  const Scene& scene_;
  const CollisionWorkspace& work_;
  double dt_;
};

/// Manifolds of the points.
void gather(SeamWorkspace& w) {
  w.first.clear();
  const int count = static_cast<int>(w.points.size());
  for (int i = 0; i < count; ++i) {
    const SeamPoint &p = w.points[i], &before = w.points[i == 0 ? 0 : i - 1];
    const bool same = i > 0 && p.a == before.a && p.b == before.b &&
                      squared_norm(p.normal - before.normal) == 0.0;
    if (!same) w.first.push_back(i);
  }
  w.covered.assign(w.first.size(), 0);
  w.first.push_back(count);
}

/// Sides of the geometries: w.sides[start[g]] ... [start[g + 1] - 1].
void list_sides(std::size_t geometries, SeamWorkspace& w) {
  w.start.assign(geometries + 1, 0);
  const int manifolds = static_cast<int>(w.covered.size());
  const auto of = [&](int m) -> const SeamPoint& { return w.points[w.first[m]]; };
  for (int m = 0; m < manifolds; ++m) ++w.start[of(m).a], ++w.start[of(m).b];
  for (std::size_t g = 0; g < geometries; ++g) w.start[g + 1] += w.start[g];
  w.sides.resize(2 * static_cast<std::size_t>(manifolds));
  for (int m = manifolds - 1; m >= 0; --m) {
    const SeamPoint& p = of(m);
    w.sides[--w.start[p.a]] = {m, p.a, p.b, -p.normal};
    w.sides[--w.start[p.b]] = {m, p.b, p.a, p.normal};
  }
}

/// visit(c, k) for each two sides of a moving shape of which k covers c, as long as it wants more
/// of c.
template <class Visit>
void for_each_cover(const Scene& scene, const SeamRule& rule, const SeamWorkspace& w, Visit visit) {
  for (std::size_t g = 0; g + 1 < w.start.size(); ++g) {
    const int first = w.start[g], last = w.start[g + 1];
    if (last - first < 2 || last - first > kMostManifolds || scene.geometries()[g].body < 0)
      continue;
    for (int c = first; c < last; ++c) {
      for (int k = first; k < last; ++k) {
        if (k != c && rule.covers(w.sides[k], w.sides[c]) && !visit(w.sides[c], w.sides[k])) break;
      }
    }
  }
}

/// Whether a shape that moves touches two others.
bool has_seams(const Scene& scene, const ContactSet& contacts, std::vector<int>& partners) {
  partners.assign(scene.geometries().size(), 0);
  bool any = false;
  for (std::size_t i = 0; i < contacts.size(); ++i) {
    const Contact& c = contacts[i];
    if (i > 0 && c.pair == contacts[i - 1].pair) continue;
    any = any || (++partners[c.geometry_a] > 1 && c.body_a >= 0);
    any = any || (++partners[c.geometry_b] > 1 && c.body_b >= 0);
  }
  return any;
}

}  // namespace

bool mark_covered(const Scene& scene, double dt, CollisionWorkspace& work) {
  SeamWorkspace& w = work.seams;
  gather(w);
  list_sides(scene.geometries().size(), w);
  const SeamRule rule(scene, work, dt);
  bool any = false;
  for_each_cover(scene, rule, w, [&](const Side& c, const Side&) {
    any = true;
    w.covered[c.manifold] = 1;
    return false;
  });
  if (!any) return false;
  any = false;  // whose cover stays
  for_each_cover(scene, rule, w, [&](const Side& c, const Side& k) {
    if (w.covered[k.manifold] != 0) return true;
    for (int i = w.first[c.manifold]; i < w.first[c.manifold + 1]; ++i) w.points[i].covered = true;
    any = true;
    return false;
  });
  return any;
}

void drop_covered(const Scene& scene, double dt, CollisionWorkspace& work, ContactSet& contacts) {
  SeamWorkspace& w = work.seams;
  if (!has_seams(scene, contacts, w.partners)) return;
  w.points.clear();
  for (const Contact& c : contacts) {
    w.points.push_back({c.geometry_a, c.geometry_b, c.position, c.frame.c2, c.distance()});
  }
  if (!mark_covered(scene, dt, work)) return;
  std::size_t kept = 0;
  for (std::size_t i = 0; i < contacts.size();) {
    std::size_t last = i;
    const std::size_t first = kept;
    for (; last < contacts.size() && contacts[last].pair == contacts[i].pair; ++last) {
      if (w.points[last].covered) continue;
      if (kept != last) contacts[kept] = contacts[last];
      ++kept;
    }
    for (std::size_t k = first; k < kept; ++k) {
      contacts[k].pair_points -= static_cast<int>(last - i - (kept - first));
    }
    i = last;
  }
  contacts.erase(contacts.begin() + static_cast<std::ptrdiff_t>(kept), contacts.end());
}

}  // namespace stiction
