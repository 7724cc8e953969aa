#pragma once

#include "stiction/contact/contact_problem.hpp"

#include <algorithm>

// Projections of an impulse onto the set of a constraint.

namespace stiction {

/// Nearest point of the set of a constraint other than a contact.
inline void project_scalar(const ConstraintSet& set, double* l) {
  if (set.kind == SetKind::kNonNegative) l[0] = std::max(0.0, l[0]);
  if (set.kind == SetKind::kBox) l[0] = std::min(set.upper, std::max(set.lower, l[0]));
}

/// Nearest point of the set.
inline void project(const ConstraintSet& set, double* l) {
  set.is_cone() ? project(set.friction, l) : project_scalar(set, l);
}
/// The same, but a contact keeps its normal impulse.
inline void project_horizontally(const ConstraintSet& set, double* l) {
  set.is_cone() ? project_disk(set.friction, l) : project_scalar(set, l);
}

}  // namespace stiction
