#pragma once

namespace stiction {

/// A servo that acts freely at the start of a step may exceed its effort limit by so much at its
/// end before the step is solved again with the limit: a load that arrives within the step.
inline constexpr double kEffortExcess = 0.25;

}  // namespace stiction
