#pragma once

#include "collision/derivatives/contact_derivatives.hpp"
#include "derivatives/row_side.hpp"

namespace stiction {

/// A contact in the step, and how it moves.
struct MovingContact {
  const DerivativeInput& in;
  const Contact& contact;
  const ConstraintRow& row;
  ContactDerivatives d;
  MovingSides end, start;  ///< with the velocities at the end and the start of the step
  Motion<double> at_end, at_start;
  Vec3d impulse;       ///< world [N s]
  double slope = 0.0;  ///< -dc*_N / dgap
  double restitution = 0.0;
  Vec3d spring{0, 0, 0};  ///< c* of the tangential spring as a vector of the body that carries it
  int carrier = -1;       ///< its side

  Vec3d normal() const { return contact.frame.c2; }
};

/// What the motion of one of the two shapes does to the point, world axes.
struct PointChange {
  Vec3d position, turn;  ///< of the frame, without spin, which changes no force
  double gap;
};
/// u, w: of the shape at the point; `on_a`: it is A's.
PointChange point_change(const MovingContact& p, bool on_a, const Vec3d& u, const Vec3d& w);

/// Of a set of the problem; counts in `rows` what is not smooth.
MovingContact moving_contact(const DerivativeInput& in, int set, MovingRows& rows);

}  // namespace stiction
