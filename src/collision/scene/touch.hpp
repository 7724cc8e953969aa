#pragma once

#include "stiction/collision/contact.hpp"
#include "stiction/geometry/shape.hpp"

// The moment of touching. A pair that is apart at the start of a step and meets within it takes its
// impulse where its bodies are when they meet. So its points are moved along their normal by what
// the least gap of the pair still is, and lie then on the body that moves: on both sides of an
// impulse is one point, which keeps the angular momentum, and of two bodies that move the smaller
// one would feel a wrong lever arm most. All points of a pair go equally far, so that those of a
// flat foot stay in one plane. What touches at the start, and what does not come closer, stays
// where it is.

namespace stiction {

class Scene;
struct CollisionWorkspace;

/// Where an impulse acts when its pair touches, as a share of the gap from A to B: 0 on A, 1 on B,
/// midway between two bodies with shapes of one size. Bodies: -1 is the world.
double place_at_touch(int body_a, int body_b, const Shape& a, const Shape& b);
/// The same of geometries with the sizes that the scene was made with: edits move no place.
double place_at_touch(const Scene& scene, int a, int b);

/// How far a point is moved along its normal from A to B: share * reach + fixed [m], with
/// touch_reach(least gap of the pair, most that one of its points comes closer in the step).
struct TouchShift {
  double share;  ///< 0 of a point that was found at the moment of meeting
  double fixed;
};
/// For a point of geometries a and b; `swept`: Witness::swept, `gap` its own, `offset` the rest
/// offset of the pair [m].
TouchShift touch_shift(const Scene& scene, int a, int b, bool swept, double gap, double offset);
TouchShift touch_shift(const Scene& scene, const Contact& contact);
double shift_at_touch(const TouchShift& shift, double reach);

/// Contacts first ... last - 1 of one pair.
struct PairContacts {
  int first, last;
  double least_gap;  ///< [m]
};
/// The pair of contact i, in contacts that are sorted by pair.
PairContacts contacts_of_pair(const ContactSet& contacts, int i);

/// Moves contacts, sorted by pair, to where their impulses act. The workspace has poses and
/// velocities of their geometries.
void move_to_touch(const CollisionWorkspace& work,
                   const Scene& scene,
                   double dt,
                   ContactSet& contacts);

}  // namespace stiction
