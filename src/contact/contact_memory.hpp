#pragma once

#include "stiction/model/state.hpp"

#include "collision/scene/collide.hpp"

#include <vector>

// What contact points remember from step to step, State::contacts.

namespace stiction {

/// As a state keeps it: which sign a zero has says nothing, and must not tell one state from
/// another.
inline double kept_number(double x) { return x + 0.0; }
inline Vec3d kept_vector(const Vec3d& x) { return x + Vec3d{0, 0, 0}; }
/// What is remembered of every contact; couples and springs have more.
inline ContactMemory kept_contact(std::uint64_t pair, std::uint32_t feature, const Vec3d& impulse) {
  return {pair, feature, kept_vector(impulse)};
}

/// The entry of a contact in a list sorted by (pair, feature), or null.
const ContactMemory* find_memory(const std::vector<ContactMemory>& memory, const Contact& contact);

/// Whether the anchors of a contact's springs lie on B: B is a half-space, height field or triangle
/// mesh and A is none. Else on A.
bool b_carries_anchor(const Scene& scene, const Contact& contact);

}  // namespace stiction
