#pragma once

#include "stiction/collision/contact.hpp"
#include "stiction/geometry/shape.hpp"

#include <vector>

// The moment of touching. A pair that is apart at the start of a step and meets within it takes its
// impulse where its bodies are when they meet. So its points are moved along their normal by what
// the least gap still is, and lie then on the body that moves: on both sides of an impulse is one
// point, which keeps the angular momentum, and of two bodies that move the smaller one would feel a
// wrong lever arm most. All points of a pair go equally far, and so do those of the pairs of two
// bodies that have one normal: the points of a flat foot stay in one plane, also where it is made
// of several boxes. Micrometres between them would let its contacts press against each other. What
// touches at the start, and what does not come closer, stays where it is.

namespace stiction {

class Scene;
struct CollisionWorkspace;

/// Where an impulse acts when its pair touches, as a share of the gap from A to B: 0 on A, 1 on B,
/// midway between two bodies with shapes of one size. Bodies: -1 is the world.
double place_at_touch(int body_a, int body_b, const Shape& a, const Shape& b);
/// The same of geometries with the sizes that the scene was made with: edits move no place.
double place_at_touch(const Scene& scene, int a, int b);

/// How far a point is moved along its normal from A to B: share * reach + fixed [m], with
/// touch_reach(least gap, most that a point comes closer in the step) of all that touches with it.
struct TouchShift {
  double share;  ///< 0 of a point that was found at the moment of meeting
  double fixed;
};
/// For a point of geometries a and b; `swept`: Witness::swept, `gap` its own, `offset` the rest
/// offset of the pair [m].
TouchShift touch_shift(const Scene& scene, int a, int b, bool swept, double gap, double offset);
TouchShift touch_shift(const Scene& scene, const Contact& contact);
double shift_at_touch(const TouchShift& shift, double reach);

/// Whether two pairs touch at one moment, by the first contact of each: they are one pair, or pairs
/// of the same two bodies with one normal.
bool touch_together(const Contact& a, const Contact& b);

/// One past the last contact of the pair that begins at `first`, in contacts sorted by pair.
int end_of_pair(const ContactSet& contacts, int first);

/// visit(contact) of all that touches at the moment of contact i, which is among them.
template <class Visit>
void visit_together(const ContactSet& contacts, int i, Visit&& visit) {
  int own = i;
  while (own > 0 && contacts[own - 1].pair == contacts[i].pair) --own;
  for (int first = 0, last = 0; first < static_cast<int>(contacts.size()); first = last) {
    last = end_of_pair(contacts, first);
    if (!touch_together(contacts[own], contacts[first])) continue;
    for (int k = first; k < last; ++k) visit(contacts[k]);
  }
}

/// Pairs of move_to_touch().
struct TouchWork {
  struct Pair {
    int first, last;         ///< contacts
    int body_a, body_b;      ///< -1: the world
    int older;               ///< last one before of the body with the larger number; -1: none
    double least, approach;  ///< least gap, most that a point comes closer in the step [m]
  };
  std::vector<Pair> pairs;
  std::vector<int> newest;  ///< [bodies] pair; -1: none
};

/// Moves contacts, sorted by pair, to where their impulses act. The workspace has poses and
/// velocities of their geometries.
void move_to_touch(const Scene& scene, double dt, CollisionWorkspace& work, ContactSet& contacts);

}  // namespace stiction
