#pragma once

#include "stiction/contact/contact_problem.hpp"

#include <algorithm>
#include <cmath>

// Projections of an impulse onto the set of a constraint. mu = 0 needs no case of its own.

namespace stiction {

/// Nearest point of the friction cone ||l_T|| <= mu l_N.
inline void project_cone(double mu, double* l) {
  const double t = std::sqrt(l[0] * l[0] + l[1] * l[1]);
  if (l[2] >= 0.0 && t <= mu * l[2]) return;  // 0 <= 0 * -1 is true
  const double n = (l[2] + mu * t) / (1.0 + mu * mu);
  if (!(n > 0.0)) {
    l[0] = l[1] = l[2] = 0.0;
    return;
  }
  const double k = t > 0.0 ? mu * n / t : 0.0;
  l[0] *= k;
  l[1] *= k;
  l[2] = n;
}

/// Keeps l_N >= 0 and shortens l_T to the disk mu l_N; no normal impulse: zero.
inline void project_disk(double mu, double* l) {
  if (!(l[2] > 0.0)) {
    l[0] = l[1] = l[2] = 0.0;
    return;
  }
  const double t = std::sqrt(l[0] * l[0] + l[1] * l[1]), radius = mu * l[2];
  if (t <= radius) return;
  l[0] *= radius / t;
  l[1] *= radius / t;
}

/// Nearest point of the set of a constraint other than a contact.
inline void project_scalar(const ConstraintSet& set, double* l) {
  if (set.kind == SetKind::kNonNegative) l[0] = std::max(0.0, l[0]);
  if (set.kind == SetKind::kBox) l[0] = std::min(set.upper, std::max(set.lower, l[0]));
}

/// Nearest point of the set.
inline void project(const ConstraintSet& set, double* l) {
  set.kind == SetKind::kCone ? project_cone(set.mu, l) : project_scalar(set, l);
}
/// The same, but a contact keeps its normal impulse.
inline void project_horizontally(const ConstraintSet& set, double* l) {
  set.kind == SetKind::kCone ? project_disk(set.mu, l) : project_scalar(set, l);
}

}  // namespace stiction
