#pragma once

#include "contact/constraint_row.hpp"

// What recovery.cpp (contacts, limits, gears) and closure_recovery.cpp share.

namespace stiction {

inline double negligible_speed(const ContactSettings& settings) {
  return negligible_speed(speed_caps(settings));
}

using Speeds = SquaredSpeeds<double>;

/// A tree of the step, with room for the velocities of its bodies.
PlacedTree<double> placed_tree(const RowContext& context, int tree);

/// The fastest that moves with u [nv of the tree], and of `most`.
void add_speeds(const RowContext& context, int tree, const double* u, Speeds& most);

/// What impulses lambda [dim] on the rows [first, first + dim) of a set make move. `offset`: the
/// set's first row.
Speeds speeds_of(const RowContext& context,
                 const ConstraintRow& row,
                 int offset,
                 int first,
                 int dim,
                 const double* lambda);

inline double harmless_share(const ContactSettings& settings, const Speeds& speeds) {
  return harmless_share(speed_caps(settings), speeds);
}

/// The same for a closure or weld, whose rows act together.
void limit_closure(const RowContext& context,
                   const ContactProblem& problem,
                   int set,
                   double negligible_speed,
                   ConstraintRow& row);

}  // namespace stiction
