#pragma once

#include "collision/derivatives/contact_derivatives.hpp"
#include "collision/scene/touch.hpp"
#include "derivatives/row_side.hpp"

namespace stiction {

/// World placement of a shape at the start of the step.
Transform geometry_pose(const DerivativeInput& in, int geometry);

/// How a contact was moved to where its pair touches (collision/scene/touch.hpp): by a share of the
/// least gap of the pair, or of its own.
struct MovingTouch {
  double shift = 0.0;                    ///< along the normal [m]
  double share = 0.0;                    ///< 0: the gap does not matter
  Vec3d gap_u{0, 0, 0}, gap_w{0, 0, 0};  ///< of that gap, as in ContactDerivatives
};

/// A contact in the step, and how it moves.
struct MovingContact {
  const DerivativeInput& in;
  const Contact& contact;
  const ConstraintRow& row;
  Contact found;         ///< as the manifold has it
  ContactDerivatives d;  ///< of that point
  MovingTouch touch;
  MovingSides end, start;  ///< with the velocities at the end and the start of the step
  Motion<double> at_end, at_start;
  Vec3d impulse;       ///< world [N s]
  Vec3d couple;        ///< on B, world [N m s]
  double slope = 0.0;  ///< -dc*_N / dgap
  double restitution = 0.0;
  Vec3d spring{0, 0, 0};  ///< c* of the tangential spring as a vector of the body of its anchor
  int anchor_side = -1;   ///< that of this body; -1: the world

  Vec3d normal() const { return contact.frame.c2; }
  int normal_row() const { return row.set.dim - 1; }
};

/// What the motion of one of the two shapes does to the point, world axes.
struct PointChange {
  Vec3d position, turn;  ///< of the frame, without spin, which changes no force
  double gap;
};
/// u, w: of the shape at the point; `on_a`: it is A's.
PointChange point_change(const MovingContact& p, bool on_a, const Vec3d& u, const Vec3d& w);
/// Of changes of the point as the manifold has it, and of the gap of MovingTouch.
PointChange point_change(const MovingContact& p, const ContactChange& found, double touch_gap);

/// Changes of the velocities of B's point relative to A's at the end and at the start of the step,
/// and of the body of the spring's anchor: what moves beside the contact.
struct RowMotion {
  Vec3d end{0, 0, 0}, start{0, 0, 0};
  Vec3d turning{0, 0, 0};  ///< of the angular velocity at the end
  Vec3d anchor_turn{0, 0, 0};
};
/// Change of c at fixed v+, of the point and of B's turning along t1, t2, n, of the force on B, and
/// of its moment about the point's place.
struct RowChange {
  Vec3d velocity, turning, force, moment;
};
/// The rows of c.
void set_velocity(const MovingContact& p, const RowChange& change, double* velocity);
RowChange row_change(const MovingContact& p, const PointChange& moved, const RowMotion& motion);

/// Contact i of the step as the manifold has it, before it was moved by `shift`.
Contact found_contact(const DerivativeInput& in, int i, double& shift);

/// The mean of of(k) over the contacts whose gap the place of contact i follows: those with the
/// least one of its pair.
template <class Of>
double mean_of_least(const ContactSet& contacts, int i, Of&& of) {
  if (contacts[i].witness.swept) return of(i);
  const PairContacts pair = contacts_of_pair(contacts, i);
  double sum = 0.0;
  int count = 0;
  for (int k = pair.first; k < pair.last; ++k) {
    if (contacts[k].gap > pair.least_gap + kTouching) continue;
    sum += of(k);
    ++count;
  }
  return sum / count;
}

/// Of a set of the problem; counts in `rows` what is not smooth.
MovingContact moving_contact(const DerivativeInput& in, int set, MovingRows& rows);

/// [m/s] How far a closing contact is from bouncing where it does not, or from not bouncing where
/// it does: there v+ jumps. Infinite of what has no restitution, or so little that its recovery
/// asks for more.
double speed_to_bounce(const DerivativeInput& in, int set);
/// Of the restitution threshold: contacts as near to it are at a switch.
inline constexpr double kAtThreshold = 1e-4;
double bounce_threshold(const DerivativeInput& in);

}  // namespace stiction
