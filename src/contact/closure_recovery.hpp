#pragma once

#include "contact/recovery.hpp"

namespace stiction {

/// Whether the c* = -Phi / dt of a closure takes back no more than drift, or too little to matter.
/// The dynamics hold velocities and their bias accelerations.
bool is_drift(const RowContext& context, double negligible_speed, const ConstraintRow& row);

/// Leaves of velocities c [rows of the set] those that its bodies can have: in the others nothing
/// moves, and nothing is asked for.
void drop_rigid(const ContactProblem& problem, int set, double* c);

}  // namespace stiction
