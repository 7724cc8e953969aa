#include "batch/contact_wrenches.hpp"

#include "collision/scene/touch.hpp"

namespace stiction {

Vec3d ContactWrenches::place_of(const ContactMemory& contact, const Vec3d& otherwise) const {
  Vec3d sum{0, 0, 0};
  int points = 0;
  for (const Contact& c : found_) {
    if (c.pair != contact.pair) continue;
    if (c.feature == contact.feature) return c.position;
    sum += c.position;
    ++points;
  }
  return points > 0 ? sum * (1.0 / points) : otherwise;
}

const std::vector<AppliedContact>& ContactWrenches::find(const Parameters& p,
                                                         const FrameMotion& before) {
  out_.clear();
  if (state_.contacts.empty()) return out_;
  state_.queries.clear();  // those of the end of the step
  collide(
      scene_, p, before.dynamics(), settings_.collision, settings_.dt, state_, collision_, found_);
  move_to_touch(scene_, settings_.dt, collision_, found_);
  for (const ContactMemory& c : state_.contacts) {
    if (squared_norm(c.impulse_A) == 0.0 && squared_norm(c.moment_A) == 0.0) continue;
    const int a = static_cast<int>(c.pair >> 32), b = static_cast<int>(c.pair & 0xffffffffu);
    const Transform X_WA = before.pose({scene_.geometries()[a].body});
    out_.push_back({a,
                    b,
                    place_of(c, X_WA.p),
                    X_WA.R * c.impulse_A * (1.0 / settings_.dt),
                    X_WA.R * c.moment_A * (1.0 / settings_.dt)});
  }
  return out_;
}

}  // namespace stiction
