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

PairContacts contacts_of_pair(const ContactSet& contacts, int i) {
  const int count = static_cast<int>(contacts.size());
  const auto same = [&](int k) { return contacts[k].pair == contacts[i].pair; };
  PairContacts out{i, i, contacts[i].gap};
  while (out.first > 0 && same(out.first - 1)) --out.first;
  while (out.last < count && same(out.last)) ++out.last;
  for (int k = out.first; k < out.last; ++k)
    out.least_gap = std::min(out.least_gap, contacts[k].gap);
  return out;
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

void move_to_touch(const CollisionWorkspace& work,
                   const Scene& scene,
                   double dt,
                   ContactSet& contacts) {
  const int count = static_cast<int>(contacts.size());
  PairContacts pair{0, 0, 0.0};
  for (int first = 0; first < count; first = pair.last) {
    pair = contacts_of_pair(contacts, first);
    if (!(pair.least_gap >= 0.0)) continue;
    double approach = -kInfinity;
    for (int i = first; i < pair.last; ++i)
      approach = std::max(approach, approach_of(work, dt, contacts[i]));
    const double reach = touch_reach(pair.least_gap, approach);
    for (int i = first; i < pair.last; ++i) {
      Contact& c = contacts[i];
      const double shift = shift_at_touch(touch_shift(scene, c), reach);
      if (shift != 0.0) c.position += c.frame.c2 * shift;
    }
  }
}

}  // namespace stiction
