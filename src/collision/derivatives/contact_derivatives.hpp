#pragma once

#include "stiction/collision/contact.hpp"
#include "stiction/geometry/shape.hpp"

namespace stiction {

/// First-order motion of a contact point and its normal with the relative motion of its bodies,
/// world axes: with u = velocity of B's material at the point relative to A's, w = w_B - w_A, and
/// (u_A, w_A) A's own,
///   d normal = w_A x n + normal_u u + normal_w w,
///   d position = u_A + position_u u + position_w w,   d gap = gap_u . u + gap_w . w.
/// The last is n . u wherever the point slides along what its normal stands on; not where it runs
/// along a tilted edge, face or rim while another shape holds it: clipped corners and edges, three
/// points of a tilted rim, ends of sides.
struct ContactDerivatives {
  Mat3d normal_u, normal_w, position_u, position_w;
  /// False: the features do not tell how the point moves, and the values are those of a point that
  /// rides on one of the bodies or of one choice. So it is with points that were found at a later
  /// moment of the step, but for balls at a flat face that stands still; where faces, edges or
  /// lines that are parallel, or nearly so, leave the point of a distance query free (two capsules
  /// side by side, a face on a face); where the overlap is no strict local minimum of the depth, or
  /// another normal is as deep to 1e-7 of the size; where clipped features cross as near to a
  /// vertex as they are known; on faces of hulls with more than 64 corners; in deep overlaps of
  /// surfaces; and on surfaces where something flat lies across several planes, or the normal is
  /// that of another point of the manifold.
  bool exact = true;
  Vec3d gap_u{0, 0, 0}, gap_w{0, 0, 0};
};

/// a, b: the shapes of the contact's geometries with the sizes of the step, X_W their placements.
/// Does not allocate.
ContactDerivatives contact_derivatives(const Contact& contact,
                                       const Shape& a,
                                       const Transform& X_WA,
                                       const Shape& b,
                                       const Transform& X_WB);

/// First-order change of a contact, world axes.
struct ContactChange {
  Vec3d normal, position;
  double gap;
};

/// What each of Shape::size of A and of B changes while the bodies rest, per metre; zero where a
/// shape has no such size. As exact as contact_derivatives(). Does not allocate.
void contact_changes_by_size(const Contact& contact,
                             const Shape& a,
                             const Transform& X_WA,
                             const Shape& b,
                             const Transform& X_WB,
                             ContactChange (&by_a)[3],
                             ContactChange (&by_b)[3]);

}  // namespace stiction
