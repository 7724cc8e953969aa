#pragma once

#include "stiction/collision/contact.hpp"
#include "stiction/geometry/shape.hpp"

namespace stiction {

/// First-order motion of a contact point and its normal with the relative motion of its bodies,
/// world axes: with u = velocity of B's material at the point relative to A's, w = w_B - w_A, and
/// (u_A, w_A) A's own,
///   d normal = w_A x n + normal_u u + normal_w w,
///   d position = u_A + position_u u + position_w w,   d gap = n . u.
struct ContactDerivatives {
  Mat3d normal_u, normal_w, position_u, position_w;
  bool exact = true;  ///< false: the features do not tell how the point moves
};

/// a, b: the shapes of the contact's geometries with the sizes of the step, X_W their placements.
ContactDerivatives contact_derivatives(const Contact& contact,
                                       const Shape& a,
                                       const Transform& X_WA,
                                       const Shape& b,
                                       const Transform& X_WB);

}  // namespace stiction
