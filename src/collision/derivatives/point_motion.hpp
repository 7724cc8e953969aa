#pragma once

#include "stiction/math/constants.hpp"

#include "collision/derivatives/linear_map.hpp"

// How the points of a contact and its normal move. In the frame of A's motion, at rest in A: with
// (u, w) the motion of B's material at the contact's point, V_A = 0, V_B(x) = u + w x (x - p), a
// point on a feature of the body X moves by
//   dp_X = V_X(p_X) + by_normal (dn - w_X x n) + by_turn w + sum e_k a_k
// with free numbers a_k along the flat directions e_k of the feature. The points stay one above the
// other, p_B - p_A = gap n, and so
//   P (dp_B - dp_A) = gap dn,   d gap = n . (dp_B - dp_A).
// A normal that is that of both features is orthogonal to their flat directions, dn.e = (w_X x
// n).e; across the rest T of its plane by_normal is the Hessian H of A's support function, -H of
// B's, and T^T (H_A + H_B + gap) dn = T^T (V_B - V_A + H_A (w_A x n) + H_B (w_B x n)).

namespace stiction::detail {

struct PointFeature {
  int flat = 0;
  Vec3d e[2] = {};  ///< world; unit
  Mat3d by_normal = kZero;
  Mat3d by_turn = kZero;
  double room = kInfinity;  ///< of the point from the ends of what is flat [m]
  double lean = kInfinity;  ///< of the normal from those of other features [rad]
};

/// Flat along the plane normal to n (unit, world).
PointFeature plane_feature(const Vec3d& n);

struct TouchingPoints {
  Vec3d n, p;      ///< unit normal from A to B, the contact's point, world
  Vec3d p_a, p_b;  ///< p_b - p_a = gap n
  double gap;      ///< [m]
  double size;     ///< of the pair [m]
};

struct PointMotion {
  LinearMap normal, point_a, point_b;
  LinearForm gap;
  bool exact = true;
  double slide_a = 0.0, slide_b = 0.0;  ///< along what is flat, by a unit motion of the pair's size
  PointFeature a, b;                    ///< what holds the points
  /// Another point of both shapes, of whose features the normal is.
  bool normal_elsewhere = false;
  Vec3d normal_at_a{0, 0, 0}, normal_at_b{0, 0, 0};
};

/// The normal of a flat face of A or of B.
LinearMap motion_of_face_normal(const Vec3d& n, bool on_b);

/// The normal of both features. False where they do not tell: more flat directions than the
/// tangent plane has room for, or H_A + H_B + gap is not positive definite: corners that touch have
/// no normal of their own.
bool motion_of_common_normal(const TouchingPoints& at,
                             const PointFeature& a,
                             const PointFeature& b,
                             LinearMap& normal);

/// The points, for the motion of the normal in `motion`; clears `exact` where the features leave
/// them free, or hold them twice.
void motion_of_points(const TouchingPoints& at,
                      const PointFeature& a,
                      const PointFeature& b,
                      PointMotion& motion);

/// Whether motions by kNear of the pair's size, or in radians, leave points and normal on their
/// features: not where the point is at the end of an edge or line that is normal to the normal, or
/// runs there as lines cross that are nearly parallel.
bool stays_on_features(const TouchingPoints& at,
                       const PointFeature& a,
                       const PointFeature& b,
                       const PointMotion& motion);
inline constexpr double kNear = 1e-6;

}  // namespace stiction::detail
