#pragma once

#include "collision/derivatives/contact_derivatives.hpp"
#include "collision/scene/touch.hpp"
#include "contact/contact_curvature.hpp"
#include "contact/surface_motion.hpp"
#include "derivatives/row_side.hpp"

namespace stiction {

/// World placement of a shape at the start of the step.
Transform geometry_pose(const DerivativeInput& in, int geometry);

/// What changes by how much the points of a pair come closer within the step, per unit.
struct ApproachChange {
  Vec3d u{0, 0, 0}, w{0, 0, 0};             ///< motion of B's shape, A's at rest; of the point
  Vec3d both_u{0, 0, 0}, both_w{0, 0, 0};   ///< of both shapes with the point
  Vec3d linear{0, 0, 0}, angular{0, 0, 0};  ///< velocity of B relative to A, at the point
};

/// How a contact was moved to where it touches (collision/scene/touch.hpp). It follows the least
/// gap and the fastest approach of all that touches with it, or its own gap.
struct MovingTouch {
  double reach = 0.0;                      ///< touch_reach() [m]
  double shift = 0.0;                      ///< along the normal [m]
  double by_gap = 0.0, by_approach = 0.0;  ///< of the shift
  double least_gap = 0.0, approach = 0.0;  ///< of all that touches together [m]
  Vec3d gap_u{0, 0, 0}, gap_w{0, 0, 0};    ///< of that gap, as in ContactDerivatives
  ApproachChange of_approach;
};

/// What the parameters move of A and of B, and whether they do.
struct MovingSurfaces {
  SurfaceMotion of[2] = {};
  bool any = false;
};

/// Changes of c*_N.
struct GapSlope {
  double by_gap = 0.0;  ///< with the opposite sign
  double by_curvature = 0.0;
};

/// Changes of CurvingContact's maps.
struct MapChanges {
  FeatureMaps<double> motion[6] = {};  ///< by that of B relative to A: shifts, then turns
  FeatureMaps<double> shift{};         ///< of the point along the normal, both shapes at rest
};

/// A contact in the step, and how it moves.
struct MovingContact {
  const DerivativeInput& in;
  const Contact& contact;
  const ConstraintRow& row;
  Contact found;         ///< as the manifold has it
  ContactDerivatives d;  ///< of that point
  MovingTouch touch;
  MovingSides end, start;           ///< with the velocities at the end and the start of the step
  Motion<double> at_end, at_start;  ///< with what the surfaces have themselves
  Vec3d impulse;                    ///< world [N s]
  Vec3d couple;                     ///< on B, world [N m s]
  GapSlope slope;
  double restitution = 0.0;
  Vec3d spring{0, 0, 0};  ///< c* of the tangential spring as a vector of the body of its anchor
  int anchor_side = -1;   ///< that of this body; -1: the world
  MovingSurfaces surfaces{};
  bool curves = false;  ///< c has a share of dt/2 kappa
  CurvingContact curving{};
  MapChanges maps_by{};  ///< where it is on no face

  Vec3d normal() const { return contact.frame.c2; }
  int normal_row() const { return row.set.dim - 1; }
};

/// What the motion of one of the two shapes does to the point, world axes.
struct PointChange {
  Vec3d position, turn;  ///< of the frame, without spin, which changes no force
  double gap;
  FeatureMaps<double> maps{};  ///< of CurvingContact's, where it has any
};
/// Changes of the velocities of B's point relative to A's at the end and at the start of the step,
/// and of the body of the spring's anchor: what moves beside the contact.
struct RowMotion {
  Motion<double> end{{0, 0, 0}, {0, 0, 0}}, start{{0, 0, 0}, {0, 0, 0}};
  Vec3d anchor_turn{0, 0, 0};
  /// Changes of the materials' motion at the start, of A and of B, at the point held in space.
  MaterialMotion<double> a = MaterialMotion<double>::at_rest(),
                         b = MaterialMotion<double>::at_rest();
  Vec3d belt{0, 0, 0};  ///< of SurfaceMotion::belt of B less that of A, likewise
  double radius = 0.0;  ///< of ContactFeature::radius [m]
};
/// Adds a change of A's or B's SurfaceMotion at a point held in space.
void add_surface_change(const SurfaceMotion& change, bool on_a, RowMotion& motion);
/// u, w: of the shape at the point; `on_a`: it is A's; `start`: change of RowMotion::start.
PointChange point_change(const MovingContact& p,
                         bool on_a,
                         const Vec3d& u,
                         const Vec3d& w,
                         const Motion<double>& start = {{0, 0, 0}, {0, 0, 0}});
/// From a change of the velocities of the start alone.
PointChange point_change(const MovingContact& p, const Motion<double>& start);
/// Change of a curving contact's maps with Shape::size[k % 3] of A (k < 3) or B.
FeatureMaps<double> maps_by_size(const MovingContact& p, int k, const ContactChange& found);
/// From changes of the point as the manifold has it, and of its shift.
PointChange point_change(const MovingContact& p, const ContactChange& found, double shift);

/// Change of c at fixed v+, of the point and of B's turning along t1, t2, n, of the force on B, and
/// of its moment about the point's place.
struct RowChange {
  Vec3d velocity, turning, force, moment;
};
/// The rows of c.
void set_velocity(const MovingContact& p, const RowChange& change, double* velocity);
RowChange row_change(const MovingContact& p, const PointChange& moved, const RowMotion& motion);

/// A contact that touches with p as the manifold has it, before it was moved.
Contact found_contact(const MovingContact& p, const Contact& contact);

/// By how much c, which touches with p, comes closer within the step.
double approach_of(const MovingContact& p, const Contact& c);
/// What a change of it as the manifold has it changes of that.
double approach_change(const MovingContact& p, const Contact& c, const ContactChange& found);

/// Change of the shift, where those of the contacts that touch together are of(contact).
template <class Of>
double shift_change(const MovingContact& p, Of&& of) {
  const MovingTouch& touch = p.touch;
  if (touch.by_gap == 0.0 && touch.by_approach == 0.0) return 0.0;
  if (p.contact.witness.swept) return touch.by_gap * of(p.contact).gap;
  double gap = 0.0, approach = 0.0;
  int least = 0, fastest = 0;
  visit_together(p.in.record.contacts, p.row.index, [&](const Contact& c) {
    const bool is_least = c.gap <= touch.least_gap + kTouching,
               is_fastest =
                   touch.by_approach != 0.0 && approach_of(p, c) >= touch.approach - kTouching;
    if (!is_least && !is_fastest) return;
    const ContactChange change = of(c);
    if (is_least) gap += change.gap, ++least;
    if (is_fastest) approach += approach_change(p, c, change), ++fastest;
  });
  return touch.by_gap * gap / least + (fastest > 0 ? touch.by_approach * approach / fastest : 0.0);
}

// Contacts that curve: moving_curvature.cpp.
/// p.curving and its maps, from p.row.
void find_curvature(const DerivativeInput& in, MovingContact& p);
/// out += by x.
void add_maps(const FeatureMaps<double>& x, double by, FeatureMaps<double>& out);
/// Adds what the motion u, w of B's shape relative to A's at the point does to the maps.
void add_maps_change(const MovingContact& p,
                     const Vec3d& u,
                     const Vec3d& w,
                     const Vec3d& turn_of_a,
                     FeatureMaps<double>& out);
/// Change of dt/2 kappa along t1, t2, n.
Vec3d curvature_change(const MovingContact& p, const PointChange& moved, const RowMotion& motion);

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
