#pragma once

#include <cstdint>

namespace stiction {

/// What a contact point, or a constraint, does.
enum class ContactMode : std::uint8_t {
  kOpen,   ///< impulse zero, of other constraints than contacts at a bound: the velocity is free
  kStick,  ///< impulse inside its set, or bilateral: the velocity is held
  kSlide,  ///< on the cone, moving: impulse tied to the direction of motion
};
const char* to_string(ContactMode mode);

}  // namespace stiction
