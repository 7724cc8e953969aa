#pragma once

#include "stiction/contact/contact_problem.hpp"
#include "stiction/math/spatial.hpp"

// The rows [t1 t2 n], [t1 t2 tau n] or [t1 t2 tau rho1 rho2 n] of a contact as vectors of its frame
// R_WC = [t1 t2 n]: forces along the three axes, tau the couple about n, rho1 and rho2 those about
// t1 and t2.

namespace stiction {

/// Row of the force along an axis.
inline int point_row(int dim, int axis) { return axis < 2 ? axis : dim - 1; }
/// Axis of the couple of row r, 2 <= r < dim - 1.
inline int couple_axis(int r) { return r == 2 ? 2 : r - 3; }

/// The row of the couple about an axis, where the set has it.
inline int couple_row(int axis) { return axis == 2 ? 2 : axis + 3; }

/// Of impulses the force, of velocities that of the point.
inline Vec3d force_of(const ConstraintSet& set, const double* x) {
  return {x[0], x[1], x[set.dim - 1]};
}
/// Of impulses the couple, of velocities the angular one, about the axes that have a row.
inline Vec3d couple_of(const ConstraintSet& set, const double* x) {
  Vec3d out{0, 0, 0};
  for (int r = 2; r < set.dim - 1; ++r) out[couple_axis(r)] = x[r];
  return out;
}

}  // namespace stiction
