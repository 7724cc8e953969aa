#pragma once

#include "stiction/collision/contact.hpp"

#include "collision/derivatives/outline.hpp"

// A contact with its two sides, and the motion of its points by the kind of witness.

namespace stiction::detail {

/// Of the size of a pair: how far a point may lie from the features that hold it. Points count as
/// over a face when they are beside it by kFlush.
inline constexpr double kOffFeature = 3e-5;

struct ContactQuery {
  const Contact& contact;
  const Shape &a, &b;
  ContactSide side_a, side_b;
  TouchingPoints at;
};
inline ContactQuery contact_query(const Contact& contact,
                                  const Shape& a,
                                  const Transform& X_WA,
                                  const Shape& b,
                                  const Transform& X_WB,
                                  const TouchingPoints& at) {
  const ContactSide A{core_of(a), X_WA, at.n, at.p_a, false},
      B{core_of(b), X_WB, -at.n, at.p_b, true};
  return {contact, a, b, A, B, at};
}

/// [m] Sum of the bounding radii, of a half-space 0.
double size_of_pair(const Shape& a, const Shape& b);

/// A point of two features that share their normal, as a distance query finds it.
PointMotion smooth_point(const ContactQuery& q);
/// Faces clipped against each other. `rim`: a point of a rim or an end of a line on a side.
PointMotion clipped_point(const ContactQuery& q, bool rim);
/// An end of a side or edge above a side or an edge; `of_a`: an end of A's.
PointMotion ridge_end(const ContactQuery& q, bool of_a);
/// A height field or triangle mesh against anything but a half-space.
PointMotion surface_point(const ContactQuery& q);

}  // namespace stiction::detail
