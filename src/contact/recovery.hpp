#pragma once

#include "constraint_row.hpp"

#include <algorithm>

// What recovery.cpp (contacts, limits, gears) and closure_recovery.cpp share.

namespace stiction {

/// [m/s or rad/s, of 1] A correction that is slower in this measure is left alone: only a lever of
/// less than 1 um could make 1 rad/s of 1 um/s. Contacts at rest and in steady motion, whose errors
/// are of rounding and of second order in dt, cost nothing that way.
inline constexpr double kNegligible = 1e-6;
inline double negligible_speed(const ContactSettings& settings) {
  return kNegligible * std::min(settings.recovery_speed, settings.recovery_angular_speed);
}

/// The fastest that moves.
struct Speeds {
  double linear = 0.0, angular = 0.0;
};

/// What impulses lambda [dim] on the rows [first, first + dim) of a set make move. `offset`: the
/// set's first row.
Speeds speeds_of(const RowContext& context,
                 const ConstraintRow& row,
                 int offset,
                 int first,
                 int dim,
                 const double* lambda);

/// The share of a motion that is within the caps.
double harmless_share(const ContactSettings& settings, const Speeds& speeds);

/// The same for a closure or weld, whose rows act together.
void limit_closure(const RowContext& context,
                   const ContactProblem& problem,
                   int set,
                   double negligible_speed,
                   ConstraintRow& row);

}  // namespace stiction
