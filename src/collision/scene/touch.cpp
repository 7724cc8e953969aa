#include "collision/scene/touch.hpp"

#include "stiction/model/scene.hpp"

#include "collision/scene/collide.hpp"
#include "collision/scene/seams.hpp"
#include "collision/scene/touch_rule.hpp"

#include <algorithm>

namespace stiction {

double place_at_touch(int body_a, int body_b, const Shape& a, const Shape& b) {
  if (body_a < 0 || body_b < 0) return body_a < 0 ? 1.0 : 0.0;
  const double radius_a = bounding_radius(a), radius_b = bounding_radius(b);
  if (radius_a == radius_b) return 0.5;
  return radius_a < radius_b ? 0.0 : 1.0;
}

double place_at_touch(const Scene& scene, int a, int b) {
  const Geometry &A = scene.geometries()[a], &B = scene.geometries()[b];
  return place_at_touch(A.body, B.body, A.shape, B.shape);
}

TouchShift touch_shift(const Scene& scene, int a, int b, bool swept, double gap, double offset) {
  const double plane = shift_to_plane(scene, a, b), place = place_at_touch(scene, a, b);
  if (!swept) return {place - 0.5 - plane, 0.0};
  return {0.0, -plane * gap + (0.5 - place) * offset};
}

TouchShift touch_shift(const Scene& scene, const Contact& c) {
  return touch_shift(
      scene, c.geometry_a, c.geometry_b, c.witness.swept, c.gap, c.material.rest_offset);
}

double shift_at_touch(const TouchShift& shift, double reach) {
  return shift.share * reach + shift.fixed;
}

bool touch_together(const Contact& a, const Contact& b) {
  constexpr double kOneNormal = 1.0 - 1e-12;
  if (a.pair == b.pair) return true;
  const bool same = a.body_a == b.body_a && a.body_b == b.body_b,
             swapped = a.body_a == b.body_b && a.body_b == b.body_a;
  if (!same && !swapped) return false;
  const double cosine = dot(a.frame.c2, b.frame.c2);
  return (same ? cosine : -cosine) >= kOneNormal;
}

int end_of_pair(const ContactSet& contacts, int first) {
  const int count = static_cast<int>(contacts.size());
  int last = first + 1;
  while (last < count && contacts[last].pair == contacts[first].pair) ++last;
  return last;
}

/// By how much the point comes closer within the step, at the velocities of its start [m].
static double approach_of(const CollisionWorkspace& work, double dt, const Contact& c) {
  const auto velocity = [&](int body, int g) {
    if (body < 0) return Vec3d{0, 0, 0};
    const Vec3d arm = c.position - work.poses[g] * work.centre[g];
    return work.linear[g] + cross(work.angular[g], arm);
  };
  return dt * dot(c.frame.c2, velocity(c.body_a, c.geometry_a) - velocity(c.body_b, c.geometry_b));
}

static void add_pair(const CollisionWorkspace& work,
                     double dt,
                     const ContactSet& contacts,
                     int first,
                     TouchWork& touch) {
  const Contact& c = contacts[first];
  int& newest = touch.newest[std::max(c.body_a, c.body_b)];
  TouchWork::Pair pair{
      first, end_of_pair(contacts, first), c.body_a, c.body_b, newest, c.gap, -kInfinity};
  newest = static_cast<int>(touch.pairs.size());
  for (int k = first; k < pair.last; ++k) pair.least = std::min(pair.least, contacts[k].gap);
  for (int k = first; pair.least >= 0.0 && k < pair.last; ++k)
    pair.approach = std::max(pair.approach, approach_of(work, dt, contacts[k]));
  touch.pairs.push_back(pair);
}

/// touch_reach() of all that touches with a pair; none of it was moved yet.
static double reach_together(const TouchWork& touch,
                             const ContactSet& contacts,
                             const TouchWork::Pair& pair) {
  double least = pair.least, approach = pair.approach;
  const auto bodies = std::minmax(pair.body_a, pair.body_b);
  for (int k = touch.newest[bodies.second]; k >= 0 && least >= 0.0; k = touch.pairs[k].older) {
    const TouchWork::Pair& other = touch.pairs[k];
    if (std::minmax(other.body_a, other.body_b) != bodies ||
        !touch_together(contacts[pair.first], contacts[other.first]))
      continue;
    least = std::min(least, other.least);
    approach = std::max(approach, other.approach);
  }
  return least >= 0.0 ? touch_reach(least, approach) : -1.0;
}

void move_to_touch(const Scene& scene, double dt, CollisionWorkspace& work, ContactSet& contacts) {
  TouchWork& touch = work.touch;
  const int count = static_cast<int>(contacts.size());
  touch.pairs.clear();
  touch.newest.assign(scene.num_bodies(), -1);
  for (int first = 0; first < count; first = touch.pairs.back().last)
    add_pair(work, dt, contacts, first, touch);
  for (const TouchWork::Pair& pair : touch.pairs) {
    const double reach = reach_together(touch, contacts, pair);
    if (!(reach >= 0.0)) continue;
    for (int i = pair.first; i < pair.last; ++i) {
      Contact& c = contacts[i];
      const double shift = shift_at_touch(touch_shift(scene, c), reach);
      if (shift != 0.0) c.position += c.frame.c2 * shift;
    }
  }
}

}  // namespace stiction
