#include "collision/derivatives/contact_query.hpp"
#include "collision/manifold/facing_polygon.hpp"
#include "collision/surface/surface.hpp"

#include <algorithm>
#include <cmath>

namespace stiction::detail {
namespace {

constexpr double kOctagonTurns = 1e-3;  // sine of the tilt from which facing_polygon.cpp turns it

/// The features that hold the points, and whose normal it is.
struct Candidate {
  CrossingFeatures features;
  NormalOf normal = NormalOf::kBoth;
};

bool along(const Polygon& face, const ContactSide& s) {
  return face.count >= 3 && dot(face.normal, s.outward) > 1.0 - kSameNormal;
}

/// visit(polygon) for the triangles of a surface about the side's point.
template <class Visit>
void triangles_about(const ContactSide& s, const Shape& shape, double reach, Visit visit) {
  const Surface surface(shape);
  const Vec3d p = s.local(s.p), r{reach, reach, reach};
  surface.overlapping({p - r, p + r}, [&](int id) {
    Vec3d v[3];
    surface.corners(id, v);
    if (norm(closest_on_triangle(v, p).p - p) > reach) return;
    Polygon t;
    t.count = 3;
    for (int k = 0; k < 3; ++k) t.p[k] = s.X * v[k];
    t.normal = unit_normal(t.p);
    t.offset = dot(t.normal, t.p[0]);
    t.id = id;
    visit(t);
  });
}

/// The corner or edge that holds the point.
OutlineFeature least_feature(const Outline& o, double reach) {
  const OutlineFeature vertex = vertex_of(o, false);
  return vertex.off <= 1e-3 * reach ? vertex : edge_of(o);
}

void offer(const Candidate& c, Candidate& best) {
  const bool face = c.normal != NormalOf::kBoth, had = best.normal != NormalOf::kBoth;
  const bool better = c.features.off < best.features.off;
  if (best.features.off >= 1e300 || (face == had ? better : face)) best = c;
}

/// Two outlines that meet along the normal of one of them, or of neither.
Candidate meeting(const Outline& a, const Outline& b, double reach) {
  Candidate c;
  if (along(a.polygon, a.side)) {
    c = {crossing_features(a, b, false, true), NormalOf::kA};
  } else if (along(b.polygon, b.side)) {
    c = {crossing_features(a, b, false, false), NormalOf::kB};
  }
  if (c.features.off <= reach) return c;
  const OutlineFeature f = least_feature(a, reach), g = least_feature(b, reach);
  return {{f.feature, g.feature, std::max(f.off, g.off)}};
}

/// A triangle against what the convex shape shows, or against the feature of a distance query.
Candidate meeting_convex(const Outline& triangle, const Outline& convex, double reach) {
  const bool surface_is_b = triangle.side.is_b;
  const Outline &a = surface_is_b ? convex : triangle, &b = surface_is_b ? triangle : convex;
  const bool face = along(triangle.polygon, triangle.side) || along(convex.polygon, convex.side);
  if (face) {
    const Candidate c = meeting(a, b, reach);
    if (c.normal != NormalOf::kBoth) return c;
  }
  PointFeature touching;
  if (!touching_feature(convex.side, touching)) return {};
  const OutlineFeature f = least_feature(triangle, reach);
  if (surface_is_b) return {{touching, f.feature, f.off}};
  return {{f.feature, touching, f.off}};
}

Candidate on_convex(const ContactQuery& q, bool surface_is_b, double reach) {
  const ContactSide &s = surface_is_b ? q.side_b : q.side_a,
                    &o = surface_is_b ? q.side_a : q.side_b;
  Outline convex{o, {}, o.outward, 0.0}, triangle{s, {}, s.outward, 0.0};
  facing_polygon(surface_is_b ? q.a : q.b, o.X, o.outward, convex.polygon);
  if (convex.polygon.count > 2) convex.level = kOctagonTurns;
  Candidate best;
  triangles_about(s, surface_is_b ? q.b : q.a, reach, [&](const Polygon& t) {
    triangle.polygon = t;
    offer(meeting_convex(triangle, convex, reach), best);
  });
  return best;
}

Candidate on_surface(const ContactQuery& q, double reach) {
  Outline a{q.side_a, {}, q.side_a.outward, 0.0}, b{q.side_b, {}, q.side_b.outward, 0.0};
  Candidate best;
  triangles_about(q.side_a, q.a, reach, [&](const Polygon& t) {
    a.polygon = t;
    triangles_about(q.side_b, q.b, reach, [&](const Polygon& u) {
      b.polygon = u;
      offer(meeting(a, b, reach), best);
    });
  });
  return best;
}

}  // namespace

PointMotion surface_point(const ContactQuery& q) {
  const double reach = kOffFeature * q.at.size;
  const bool of_a = is_surface(q.side_a.core.type), of_b = is_surface(q.side_b.core.type);
  Candidate c = of_a && of_b ? on_surface(q, reach) : on_convex(q, of_b, reach);
  PointMotion m;
  m.normal = motion_of_face_normal(q.at.n, c.normal == NormalOf::kB);
  if (!(c.features.off <= reach)) {
    m.exact = false;
    (of_a ? c.features.a : c.features.b) = plane_feature(q.at.n);
  } else if (c.normal == NormalOf::kBoth) {
    m.exact = motion_of_common_normal(q.at, c.features.a, c.features.b, m.normal);
  }
  motion_of_points(q.at, c.features.a, c.features.b, m);
  return m;
}

}  // namespace stiction::detail
