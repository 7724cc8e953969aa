#include "stiction/collision/manifold.hpp"

#include "collision/convex/general_query.hpp"
#include "collision/manifold/manifold_pairs.hpp"
#include "collision/manifold/manifold_workspace.hpp"
#include "collision/pairs/closed_forms.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>

namespace stiction {

namespace detail {

void manifold_single_point(const Shape& a,
                           const Transform& X_WA,
                           const Shape& b,
                           const Transform& X_WB,
                           double margin,
                           Manifold& m,
                           DistanceCache* cache) {
  m.count = 0;
  const GeneralResult r = query_general(a, X_WA, b, X_WB, {}, std::max(margin, 0.0), cache);
  if (r.beyond || !(r.distance.distance <= margin)) return;
  set_single_point(r.distance, vertex_feature(r), m);
}

}  // namespace detail

namespace {

using namespace detail;

void closed_form_point(const DistanceResult& r, double margin, Manifold& m) {
  m.count = 0;
  if (r.distance <= margin) set_single_point(r, 0, m);
}

/// A ball at a box: where it is over a face, the point of a centre at that face.
void ball_on_box(const Shape& ball,
                 const Transform& X_WA,
                 const Shape& box,
                 const Transform& X_WB,
                 double margin,
                 Manifold& m) {
  closed_form_point(distance_sphere_box(ball, X_WA, box, X_WB), margin, m);
  const Vec3d c = transpose_times(X_WB.R, X_WA.p - X_WB.p);
  const int beside =
      (std::abs(c.x) > box.size.x) + (std::abs(c.y) > box.size.y) + (std::abs(c.z) > box.size.z);
  if (m.count > 0 && beside <= 1) m.points[0].witness = {WitnessKind::kRoundFace, ball.size.x};
}

// A and B exchanged.
void swap_sides(Manifold& m) {
  m.normal = -m.normal;
  for (int i = 0; i < m.count; ++i) m.points[i].witness = m.points[i].witness.swapped();
}

// Shapes in the order of ShapeType.
void ordered_manifold(const Shape& a,
                      const Transform& X_WA,
                      const Shape& b,
                      const Transform& X_WB,
                      double margin,
                      Manifold& m,
                      DistanceCache* cache) {
  if (is_round(a.type) && is_round(b.type)) {
    const bool spheres = b.type == ShapeType::kSphere;
    const DistanceResult r = spheres ? distance_sphere_sphere(a, X_WA, b, X_WB)
                                     : distance_capsule_capsule(a, X_WA, b, X_WB);
    m.count = 0;
    if (has_side(a) && r.distance <= margin) manifold_sides(a, X_WA, b, X_WB, r, margin, m);
    if (m.count == 0) closed_form_point(r, margin, m);
  } else if (b.type == ShapeType::kBox && a.type == ShapeType::kSphere) {
    ball_on_box(a, X_WA, b, X_WB, margin, m);
  } else if (b.type == ShapeType::kBox && a.type == ShapeType::kBox) {
    manifold_box_box(a, X_WA, b, X_WB, margin, m, cache);
  } else if (a.type == ShapeType::kSphere) {
    manifold_single_point(a, X_WA, b, X_WB, margin, m, cache);
    if (m.count > 0) m.points[0].feature = 0;
  } else {
    manifold_faces(a, X_WA, b, X_WB, margin, m, cache);
  }
}

}  // namespace

void contact_manifold(const Shape& a,
                      const Transform& X_WA,
                      const Shape& b,
                      const Transform& X_WB,
                      double margin,
                      Manifold& manifold,
                      DistanceCache* cache) {
  require_finite("contact_manifold: X_WA", X_WA);
  require_finite("contact_manifold: X_WB", X_WB);
  if (is_surface(a.type) || is_surface(b.type)) {
    throw std::invalid_argument(std::string("contact_manifold: ") +
                                to_string(is_surface(a.type) ? a.type : b.type) +
                                " needs several manifolds: use contact_manifolds");
  }
  if (b.type == ShapeType::kHalfSpace) {
    if (!a.bounded()) {
      throw std::invalid_argument("contact_manifold: both shapes have type = half_space");
    }
    manifold_any_half_space(a, X_WA, X_WB, margin, manifold);
  } else if (a.type == ShapeType::kHalfSpace) {
    manifold_any_half_space(b, X_WB, X_WA, margin, manifold);
    swap_sides(manifold);
  } else if (a.type <= b.type) {
    ordered_manifold(a, X_WA, b, X_WB, margin, manifold, cache);
  } else {
    ordered_manifold(b, X_WB, a, X_WA, margin, manifold, cache);
    swap_sides(manifold);
  }
}

}  // namespace stiction
