#pragma once

#include "stiction/model/state.hpp"

#include "collision/scene/collide.hpp"

#include <vector>

// What contact points remember from step to step, State::contacts.

namespace stiction {

/// The entry of a contact in a list sorted by (pair, feature), or null.
const ContactMemory* find_memory(const std::vector<ContactMemory>& memory, const Contact& contact);

/// Whether the anchors of a contact's springs lie on B: B is a half-space, height field or triangle
/// mesh and A is none. Else on A.
bool b_carries_anchor(const Scene& scene, const Contact& contact);

}  // namespace stiction
