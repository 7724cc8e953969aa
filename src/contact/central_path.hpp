#pragma once

#include "stiction/contact/contact_problem.hpp"

#include <cmath>

// The central path of stiction/solver/central_path.hpp, as the derivatives of its points see it.

namespace stiction {

/// Smooths ||y_T|| [m/s]. Of the energy alone: what hung on G would move with the configuration.
inline double path_slip(double energy) { return energy; }

/// A point of the path; energy 0: none.
struct PathPoint {
  double energy = 0.0;        ///< [J]
  const double* y = nullptr;  ///< [rows] ContactSolution::path_velocity
};

/// -dy / dlambda and dz / dlambda of a row with bounds. The two of a box are y^2 / energy and z^2 /
/// energy; what is nearly at a bound is known by its velocity c alone.
struct BoundRates {
  double lower, upper;
};
inline BoundRates bound_rates(const ConstraintSet& set, double c, double y, double energy) {
  const double width = set.upper - set.lower;
  if (set.kind == SetKind::kNonNegative) return {y * y / energy, 0.0};
  if (std::isinf(width)) {
    const double rate = y * y / energy;
    return std::isinf(set.lower) ? BoundRates{0.0, rate} : BoundRates{rate, 0.0};
  }
  const double z = c < 0.0 ? y - c : energy / (width - energy / y);
  return {y * y / energy, z * z / energy};
}

}  // namespace stiction
