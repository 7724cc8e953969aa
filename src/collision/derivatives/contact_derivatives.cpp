#include "collision/derivatives/contact_derivatives.hpp"

#include "collision/derivatives/contact_query.hpp"
#include "collision/derivatives/size_motion.hpp"
#include "collision/derivatives/ties.hpp"
#include "collision/manifold/manifold_pairs.hpp"
#include "collision/manifold/rim.hpp"
#include "collision/scene/touch.hpp"

namespace stiction {
namespace detail {

double size_of_pair(const Shape& a, const Shape& b) {
  const auto radius = [](const Shape& s) { return s.bounded() ? bounding_radius(s) : 0.0; };
  return radius(a) + radius(b);
}

PointMotion smooth_point(const ContactQuery& q) {
  PointMotion m;
  PointFeature a, b;
  const bool found = touching_feature(q.side_a, a) & touching_feature(q.side_b, b);
  m.exact = motion_of_common_normal(q.at, a, b, m.normal) && found;
  motion_of_points(q.at, a, b, m);
  m.exact = m.exact && stays_on_features(q.at, a, b, m);
  return m;
}

}  // namespace detail

namespace {

using namespace detail;

bool is_plane(const Shape& s) { return !s.bounded() || is_surface(s.type); }

/// take_back() puts the points of a later moment there.
double place_of_swept(const Contact& c, const Shape& a, const Shape& b) {
  return place_at_touch(c.body_a, c.body_b, a, b);
}

/// Share of the gap by which the contact's point lies above A's.
double share_of_gap(const Contact& c, const Shape& a, const Shape& b) {
  const double on_planes = (is_plane(b) ? 0.5 : 0.0) - (is_plane(a) ? 0.5 : 0.0);
  return (c.witness.swept ? place_of_swept(c, a, b) : 0.5) + on_planes;
}

/// A vertex, or the centre of a radius, against a flat face: the normal turns with the face.
ContactDerivatives point_on_face(const Contact& c, double share, bool face_on_b) {
  const Vec3d& n = c.frame.c2;
  const Mat3d turned = cross_with(n);
  const double height = face_on_b ? share : 1.0 - share;  // of the gap, between vertex and point
  ContactDerivatives d{};
  d.normal_w = face_on_b ? turned : kZero;
  d.position_u = outer(n * height, n);
  if (!face_on_b) d.position_u = sum(Mat3d::identity(), scaled(d.position_u, -1.0));
  d.position_w = scaled(turned, c.witness.radius + height * c.distance());
  d.gap_u = n;
  return d;
}

ContactDerivatives of_motion(const PointMotion& m, const Vec3d& n, double gap, double share) {
  const LinearMap p = m.point_a + (m.normal * gap + outer(n, m.gap)) * share;
  return {m.normal.u, m.normal.w, p.u, p.w, m.exact, m.gap.u, m.gap.w};
}

PointMotion rim_on_half_space(const ContactQuery& q, bool plane_on_b) {
  const ContactSide& s = plane_on_b ? q.side_a : q.side_b;
  const PointFeature plane = plane_feature(q.at.n);
  PointFeature rim;
  rim.by_turn = scaled(turn_about_axis(s, s.outward, kLevelRim) * cross_with(s.outward), s.sign());
  PointMotion m;
  m.normal = motion_of_face_normal(q.at.n, plane_on_b);
  motion_of_points(q.at, plane_on_b ? rim : plane, plane_on_b ? plane : rim, m);
  return m;
}

/// The features 1 ... 4 of manifold_sides(): ends of the ridge of the shape whose type comes first,
/// then of the other one.
bool is_ridge_end(const Contact& c, const Shape& a, const Shape& b, bool& of_a) {
  if (!has_side(a) && !has_side(b)) return false;
  of_a = (c.feature <= 2) == (a.type <= b.type);
  return c.feature >= 1 && c.feature <= 4;
}

bool is_surface_core(const ContactSide& s) { return is_surface(s.core.type); }

PointMotion motion_of(const ContactQuery& q) {
  const WitnessKind kind = q.contact.witness.kind;
  if (is_surface_core(q.side_a) || is_surface_core(q.side_b)) return surface_point(q);
  if (kind == WitnessKind::kRim && !(q.a.bounded() && q.b.bounded())) {
    return rim_on_half_space(q, q.a.bounded());
  }
  if (kind == WitnessKind::kRim || kind == WitnessKind::kClipped) {
    return clipped_point(q, kind == WitnessKind::kRim);
  }
  bool of_a;
  if (kind == WitnessKind::kSmooth && is_ridge_end(q.contact, q.a, q.b, of_a)) {
    return ridge_end(q, of_a);
  }
  return smooth_point(q);
}

/// A point of a later moment depends on how its bodies turn until then, and where its features move
/// along each other also on how they shift: but not a ball's at a face that stands still.
bool is_ball_at_fixed_face(const ContactQuery& q, const PointMotion& m) {
  const auto is_flat = [](const ContactSide& face, PointFeature f) {
    return (is_surface_core(face) || touching_feature(face, f)) && f.flat == 2;
  };
  const auto is_ball = [](const ContactSide& s) { return s.core.type == ShapeType::kSphere; };
  return q.at.gap > 0.0 && ((q.contact.body_a < 0 && is_ball(q.side_b) && is_flat(q.side_a, m.a)) ||
                            (q.contact.body_b < 0 && is_ball(q.side_a) && is_flat(q.side_b, m.b)));
}

/// The normal is that of the least depth, and another one is as deep.
bool may_turn(const ContactQuery& q) {
  const WitnessKind kind = q.contact.witness.kind;
  const bool of_face = (kind == WitnessKind::kRim || kind == WitnessKind::kClipped) &&
                       q.contact.witness.normal_of != NormalOf::kBoth;
  if (of_face || is_surface_core(q.side_a) || is_surface_core(q.side_b)) return false;
  DistanceResult at;
  at.distance = q.at.gap;
  at.normal = q.at.n;
  return is_tied(q.a, q.side_a.X, q.b, q.side_b.X, at, nullptr);
}

/// What a contact does with its normal held, and the points of both shapes that hold the normal.
struct HeldNormal {
  ContactDerivatives d;
  bool elsewhere = false;  ///< else those of the contact
  Vec3d at_a{0, 0, 0}, at_b{0, 0, 0};
};

ContactDerivatives find_derivatives(const Contact& contact,
                                    const Shape& a,
                                    const Transform& X_WA,
                                    const Shape& b,
                                    const Transform& X_WB,
                                    HeldNormal* held) {
  const double share = share_of_gap(contact, a, b);
  const auto on_face = [&](bool face_on_b, bool exact) {
    ContactDerivatives d = point_on_face(contact, share, face_on_b);
    d.exact = exact;
    if (held != nullptr) held->d = d;
    return d;
  };
  const bool on_a = contact.witness.on_face_of_a(), on_b = contact.witness.on_face_of_b();
  if (on_a || on_b) return on_face(on_b, !contact.witness.swept);
  // A surface meets a half-space with its corners.
  if (is_surface(a.type) && !b.bounded()) return on_face(true, true);
  if (is_surface(b.type) && !a.bounded()) return on_face(false, true);
  const Shape hull_a = is_convex_surface(a) ? hull_of(a) : Shape{};
  const Shape hull_b = is_convex_surface(b) ? hull_of(b) : Shape{};
  const Shape &A = is_convex_surface(a) ? hull_a : a, &B = is_convex_surface(b) ? hull_b : b;
  const double distance = contact.distance();
  const Vec3d &n = contact.frame.c2, p_a = contact.position - n * (distance * share);
  const TouchingPoints at{
      n, contact.position, p_a, p_a + n * distance, distance, size_of_pair(A, B)};
  const ContactQuery q = contact_query(contact, A, X_WA, B, X_WB, at);
  PointMotion m = motion_of(q);
  const bool swept = contact.witness.swept;
  if (swept && !m.exact) return on_face(place_of_swept(contact, a, b) < 0.5, false);
  m.exact = m.exact && (swept ? is_ball_at_fixed_face(q, m) : !may_turn(q));
  if (held != nullptr) {
    PointMotion still;
    motion_of_points(at, m.a, m.b, still);
    *held = {of_motion(still, n, at.gap, share), m.normal_elsewhere, m.normal_at_a, m.normal_at_b};
  }
  return of_motion(m, n, at.gap, share);
}

}  // namespace

ContactDerivatives contact_derivatives(const Contact& contact,
                                       const Shape& a,
                                       const Transform& X_WA,
                                       const Shape& b,
                                       const Transform& X_WB) {
  return find_derivatives(contact, a, X_WA, b, X_WB, nullptr);
}

// The part that holds the point goes one way, the part that holds the normal another: the contact
// does what all of the normal's motion does, less what this does with the normal held, and more
// what the point's does so. Only a cone's line turns, and all that is on it by as much.
void contact_changes_by_size(const Contact& contact,
                             const Shape& a,
                             const Transform& X_WA,
                             const Shape& b,
                             const Transform& X_WB,
                             ContactChange (&by_a)[3],
                             ContactChange (&by_b)[3]) {
  HeldNormal held;
  const ContactDerivatives d = find_derivatives(contact, a, X_WA, b, X_WB, &held);
  const Vec3d &n = contact.frame.c2, &p = contact.position;
  const double distance = contact.distance();
  const Vec3d p_a = p - n * (distance * share_of_gap(contact, a, b)), p_b = p_a + n * distance;
  for (int k = 0; k < 6; ++k) {
    const bool of_a = k < 3;
    const auto motion = [&](const Vec3d& x) {
      return motion_by_size(of_a ? a : b, of_a ? X_WA : X_WB, x, of_a ? n : -n, k % 3);
    };
    const Vec3d &x = of_a ? p_a : p_b, &y = held.elsewhere ? (of_a ? held.at_a : held.at_b) : x;
    const Motion<double> own = motion(x), turns = motion(y);
    const Vec3d &w = turns.angular, to = own.linear + cross(w, p - x),
                u = turns.linear + cross(w, p - y);
    const double sign = of_a ? -1.0 : 1.0;
    ContactChange& out = of_a ? by_a[k] : by_b[k - 3];
    out.normal = (d.normal_u * u + d.normal_w * w) * sign;
    out.position = (d.position_u * u + d.position_w * w + held.d.position_u * (to - u)) * sign;
    out.gap = (dot(d.gap_u, u) + dot(d.gap_w, w) + dot(held.d.gap_u, to - u)) * sign;
    if (!of_a) continue;
    out.normal += cross(w, n);
    out.position += to;
  }
}

}  // namespace stiction
