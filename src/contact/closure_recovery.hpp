#pragma once

#include "recovery.hpp"

#include <algorithm>

namespace stiction {

/// [m/s or rad/s] What is slower is left alone.
inline double negligible_speed(const ContactSettings& settings) {
  return kNoHarm * std::min(settings.recovery_speed, settings.recovery_angular_speed);
}

/// Whether the c* = -Phi / dt of a closure takes back no more than drift, or too little to matter.
/// The dynamics hold velocities and their bias accelerations.
bool is_drift(const RowContext& context, double negligible_speed, const ConstraintRow& row);

}  // namespace stiction
