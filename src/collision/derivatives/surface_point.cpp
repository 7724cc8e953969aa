#include "collision/derivatives/contact_query.hpp"
#include "collision/manifold/facing_polygon.hpp"
#include "collision/surface/surface.hpp"

#include <algorithm>
#include <cmath>

namespace stiction::detail {
namespace {

constexpr double kOwnNormal = 1e-8;     // [rad] to which a point has the normal of its features
constexpr double kRounded = 1e-9;       // of the size: how far off rounding leaves a clipped point
constexpr double kReach = 1e-2;         // of the other shape: how far off triangles have a part
constexpr double kOctagonTurns = 1e-3;  // sine of the tilt from which facing_polygon.cpp turns it

/// The features that hold the points, and whose normal it is.
struct Candidate {
  CrossingFeatures features;
  NormalOf normal = NormalOf::kBoth;
  double off_normal = 0.0;  ///< [rad] of a face
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

/// The best of each NormalOf.
struct Candidates {
  Candidate of[3];

  void offer(const Candidate& c) {
    Candidate& best = of[static_cast<int>(c.normal)];
    if (c.features.off < best.features.off) best = c;
  }
};

/// Two outlines that meet along the normal of one of them, or of neither.
void offer_meeting(const Outline& a, const Outline& b, double reach, Candidates& out) {
  for (const bool of_a : {true, false}) {
    const Outline& face = of_a ? a : b;
    if (!along(face.polygon, face.side)) continue;
    out.offer({crossing_features(a, b, false, of_a),
               of_a ? NormalOf::kA : NormalOf::kB,
               norm(face.polygon.normal - face.side.outward)});
  }
  const OutlineFeature f = least_feature(a, reach), g = least_feature(b, reach);
  out.offer({{f.feature, g.feature, std::max(f.off, g.off)}, NormalOf::kBoth, 0.0});
}

/// A triangle against what the convex shape shows, or against the feature of a distance query.
void offer_convex(const Outline& triangle, const Outline& convex, double reach, Candidates& out) {
  const bool surface_is_b = triangle.side.is_b;
  const Outline &a = surface_is_b ? convex : triangle, &b = surface_is_b ? triangle : convex;
  if (along(triangle.polygon, triangle.side) || along(convex.polygon, convex.side)) {
    Candidates faces;
    offer_meeting(a, b, reach, faces);
    for (const NormalOf n : {NormalOf::kA, NormalOf::kB}) out.offer(faces.of[static_cast<int>(n)]);
  }
  PointFeature touching;
  if (!touching_feature(convex.side, touching)) return;
  const OutlineFeature f = least_feature(triangle, reach);
  CrossingFeatures c{touching, f.feature, f.off};
  if (!surface_is_b) std::swap(c.a, c.b);
  out.offer({c, NormalOf::kBoth, 0.0});
}

Candidates on_convex(const ContactQuery& q, bool surface_is_b, double reach) {
  const ContactSide &s = surface_is_b ? q.side_b : q.side_a,
                    &o = surface_is_b ? q.side_a : q.side_b;
  Outline convex{o, {}, o.outward, 0.0}, triangle{s, {}, s.outward, 0.0};
  facing_polygon(surface_is_b ? q.a : q.b, o.X, o.outward, convex.polygon);
  if (convex.polygon.count > 2) convex.level = kOctagonTurns;
  Candidates found;
  triangles_about(s, surface_is_b ? q.b : q.a, reach, [&](const Polygon& t) {
    triangle.polygon = t;
    offer_convex(triangle, convex, reach, found);
  });
  return found;
}

Candidates on_surface(const ContactQuery& q, double reach) {
  Outline a{q.side_a, {}, q.side_a.outward, 0.0}, b{q.side_b, {}, q.side_b.outward, 0.0};
  Candidates found;
  triangles_about(q.side_a, q.a, reach, [&](const Polygon& t) {
    a.polygon = t;
    triangles_about(q.side_b, q.b, reach, [&](const Polygon& u) {
      b.polygon = u;
      offer_meeting(a, b, reach, found);
    });
  });
  return found;
}

/// The motion of one candidate.
PointMotion motion_of(const ContactQuery& q, const Candidate& c, double reach) {
  PointMotion m;
  PointFeature a = c.features.a, b = c.features.b;
  m.normal = motion_of_face_normal(q.at.n, c.normal == NormalOf::kB);
  if (!(c.features.off <= reach)) {
    m.exact = false;
    (is_surface(q.side_a.core.type) ? a : b) = plane_feature(q.at.n);
  } else if (c.normal == NormalOf::kBoth) {
    m.exact = motion_of_common_normal(q.at, a, b, m.normal);
  }
  motion_of_points(q.at, a, b, m);
  if (c.normal == NormalOf::kBoth) m.exact = m.exact && stays_on_features(q.at, a, b, m);
  return m;
}

/// visit(triangle) for those of A or of B about the other shape, as near as the contact.
template <class Visit>
void triangles_near(const ContactQuery& q, bool of_a, Visit visit) {
  const ContactSide &on = of_a ? q.side_a : q.side_b, &other = of_a ? q.side_b : q.side_a;
  const Shape& o = of_a ? q.b : q.a;
  const double reach = std::max(q.at.gap, 0.0) + kReach * bounding_radius(o);
  const Surface surface(of_a ? q.a : q.b);
  surface.overlapping(grown(bounding_box(o, relative(on.X, other.X)), reach), visit);
}

bool has_several_planes(const ContactQuery& q, bool of_a) {
  const Surface surface(of_a ? q.a : q.b);
  int patch = -1;
  bool several = false;
  triangles_near(q, of_a, [&](int id) {
    several = several || (patch >= 0 && surface.patch(id) != patch);
    patch = surface.patch(id);
  });
  return several;
}

/// Is the normal that of a triangle, if not of the one that holds the point?
bool is_of_triangle(const ContactQuery& q, bool of_a) {
  const ContactSide& on = of_a ? q.side_a : q.side_b;
  if (!is_surface(on.core.type)) return false;
  const Surface surface(of_a ? q.a : q.b);
  bool found = false;
  triangles_near(q, of_a, [&](int id) {
    Vec3d v[3];
    surface.corners(id, v);
    found = found || norm(on.X.R * unit_normal(v) - on.outward) <= kOwnNormal;
  });
  return found;
}

/// Lies a face, an edge or a line of the other shape on this one's face? Then other points of the
/// manifold may turn its normal, unless all of it is one plane.
bool is_flush(const ContactQuery& q, const Candidates& found, NormalOf face, double reach) {
  const bool of_a = face == NormalOf::kA;
  const ContactSide& other = of_a ? q.side_b : q.side_a;
  PointFeature lying;
  if (is_surface(other.core.type)) {
    const Candidate& facing = found.of[static_cast<int>(of_a ? NormalOf::kB : NormalOf::kA)];
    const Candidate& both = found.of[static_cast<int>(NormalOf::kBoth)];
    if (both.features.off <= reach) lying = of_a ? both.features.b : both.features.a;
    if (lying.flat == 1 && std::abs(dot(lying.e[0], q.at.n)) > kFlatSine) lying.flat = 0;
    if (facing.features.off <= reach) lying.flat = 2;
  } else {
    touching_feature(other, lying);
  }
  if (lying.flat == 0) return false;
  return !is_surface((of_a ? q.a : q.b).type) || has_several_planes(q, of_a);
}

/// How far the normal is from that of the features [rad].
double off_normal(const ContactQuery& q, const Candidate& c) {
  double off = c.off_normal;
  for (const PointFeature* f : {&c.features.a, &c.features.b}) {
    for (int k = 0; k < f->flat && c.normal == NormalOf::kBoth; ++k)
      off = std::max(off, std::abs(dot(f->e[k], q.at.n)));
  }
  return off;
}

}  // namespace

// A manifold has the normal of its first point, and points whose own ones are near. Where it is
// not that of this point's features, those of another point turn it, and are not known here.
PointMotion surface_point(const ContactQuery& q) {
  const double reach = kOffFeature * q.at.size;
  const bool of_a = is_surface(q.side_a.core.type), of_b = is_surface(q.side_b.core.type);
  const Candidates found = of_a && of_b ? on_surface(q, reach) : on_convex(q, of_b, reach);
  const Candidate* face = &found.of[static_cast<int>(NormalOf::kA)];
  const Candidate& other_face = found.of[static_cast<int>(NormalOf::kB)];
  const Candidate& both = found.of[static_cast<int>(NormalOf::kBoth)];
  if (!(face->features.off <= reach) ||
      (other_face.features.off <= reach && other_face.off_normal < face->off_normal - kOwnNormal))
    face = &other_face;
  const bool has_face = face->features.off <= reach, has_both = both.features.off <= reach;
  const bool own_face = has_face && face->off_normal <= kOwnNormal,
             own_both = has_both && off_normal(q, both) <= kOwnNormal;
  if (!has_face || (own_both && !own_face)) return motion_of(q, both, reach);
  PointMotion m = motion_of(q, *face, reach);
  const bool lines = both.features.a.flat < 2 && both.features.b.flat < 2;
  const bool rival = own_both && lines && motion_of(q, both, reach).exact;
  m.exact = m.exact && face->features.off <= kRounded * q.at.size && !rival &&
            (own_face || is_of_triangle(q, face->normal == NormalOf::kA)) &&
            !is_flush(q, found, face->normal, reach);
  return m;
}

}  // namespace stiction::detail
