#include "stiction/collision/distance.hpp"

#include "collision/derivatives/contact_query.hpp"
#include "collision/manifold/ridge.hpp"
#include "collision/manifold/rim.hpp"

#include <algorithm>
#include <cmath>

namespace stiction::detail {
namespace {

constexpr double kNormalOfQuery = 1e-6;  // [rad] between a manifold's normal and that of the query
constexpr double kNextOff = 10.0;  // times as far off as the best: features that may be the ones
constexpr double kRounded = 1e-8;  // of the size: as far off as rounding leaves any

/// A vertex as near to an edge as the point is to either: which of the two holds it is not known.
bool is_tied(const CrossingFeatures& f, double size) {
  return f.next <= std::max(kNextOff * f.off, kRounded * size);
}

/// A manifold seen along the normal of the distance query: that of the nearest or deepest features,
/// wherever they are.
bool normal_of_query(const ContactQuery& q, PointMotion& motion) {
  const DistanceResult r = distance(q.a, q.side_a.X, q.b, q.side_b.X);
  ContactSide A = q.side_a, B = q.side_b;
  A.p = r.witness_a;
  B.p = r.witness_b;
  PointFeature a, b;
  const TouchingPoints at{q.at.n, q.at.p, r.witness_a, r.witness_b, r.distance, q.at.size};
  const bool found = touching_feature(A, a) & touching_feature(B, b);
  PointMotion m;
  m.exact = motion_of_common_normal(at, a, b, m.normal) && found;
  motion_of_points(at, a, b, m);
  motion.normal = m.normal;
  motion.normal_elsewhere = true;
  motion.normal_at_a = r.witness_a;
  motion.normal_at_b = r.witness_b;
  return m.exact && stays_on_features(at, a, b, m) && norm(r.normal - q.at.n) < kNormalOfQuery;
}

/// The two faces of a manifold along the normal of one of them, as face_manifold.cpp finds them.
bool find_outlines(Outline& reference, Outline& incident) {
  const ContactSide &R = reference.side, &I = incident.side;
  const Vec3d d = R.local_direction(R.outward);
  if (!plane_face_towards(R.core, d, R.X, reference.polygon)) return false;
  incident.follows = -reference.polygon.normal;
  face_towards(I.core, I.local_direction(incident.follows), I.X, incident.polygon);
  incident.inside = I.core.radius;
  if (incident.polygon.count != 2) reference.follows = -incident.polygon.normal;
  return true;
}

bool find_facing_outlines(Outline& a, Outline& b) {
  const auto find = [](Outline& o) {
    const Vec3d d = o.side.local_direction(o.side.outward);
    return plane_face_facing(o.side.core, d, o.side.X, o.polygon);
  };
  if (!find(a) || !find(b)) return false;
  a.follows = -b.polygon.normal;
  b.follows = -a.polygon.normal;
  return true;
}

/// Where a ray enters a ridge: the round side, or the nearer of its two faces.
PointFeature entered(const Ridge& to, const Vec3d& p) {
  if (!to.round) {
    const auto off = [&](int i) { return std::abs(dot(to.normals[i], p) - to.offsets[i]); };
    return plane_feature(to.normals[off(0) <= off(1) ? 0 : 1]);
  }
  const Vec3d r = p - to.centre, q = r - to.axis * dot(r, to.axis);
  const Vec3d out = q - to.axis * (to.slope * norm(q));
  return plane_feature(out * (1.0 / norm(out)));
}

}  // namespace

PointMotion clipped_point(const ContactQuery& q, bool rim) {
  const NormalOf whose = q.contact.witness.normal_of;
  const bool of_b = whose == NormalOf::kB, oblique = whose == NormalOf::kBoth;
  Outline a{q.side_a, {}, q.side_a.outward, kLevelRim},
      b{q.side_b, {}, q.side_b.outward, kLevelRim};
  const bool found = oblique ? find_facing_outlines(a, b)
                     : of_b  ? find_outlines(b, a)
                             : find_outlines(a, b);
  PointMotion m;
  m.normal = motion_of_face_normal(q.at.n, of_b);
  if (oblique) m.exact = normal_of_query(q, m);
  CrossingFeatures f;
  if (found) f = crossing_features(a, b, rim, !of_b);
  m.exact = m.exact && f.off <= kOffFeature * q.at.size && (rim || !is_tied(f, q.at.size));
  if (!(f.off <= kOffFeature * q.at.size)) (of_b ? f.b : f.a) = plane_feature(q.at.n);
  motion_of_points(q.at, f.a, f.b, m);
  return m;
}

PointMotion ridge_end(const ContactQuery& q, bool of_a) {
  const ContactSide &from = of_a ? q.side_a : q.side_b, &to = of_a ? q.side_b : q.side_a;
  Ridge end, other;
  PointMotion m;
  PointFeature f, g = plane_feature(q.at.n);
  m.exact = normal_of_query(q, m);
  if (ridge_towards(of_a ? q.a : q.b, from.X, from.outward, end) &&
      ridge_towards(of_a ? q.b : q.a, to.X, to.outward, other)) {
    if (end.round) f.by_normal = scaled(turn_about_axis(from, from.outward, 0.0), from.sign());
    g = entered(other, to.p);
  } else {
    m.exact = false;
  }
  motion_of_points(q.at, of_a ? f : g, of_a ? g : f, m);
  return m;
}

}  // namespace stiction::detail
