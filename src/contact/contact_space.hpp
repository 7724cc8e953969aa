#pragma once

#include "stiction/contact/contact_problem.hpp"

// Islands of loose bodies without G. A loose body has the velocity of its centre of mass and its
// angular velocity in principal axes as coordinates: its mass matrix is diagonal and Z = J, in rows
// of eight. With the motion of the bodies u = inertia^-1 Z lambda,
//
//   c = Z^T u + R lambda + g.
//
// [first, last) are sets of one or more such islands; lambda and c are indexed by row, u is
// [trees x 8].

namespace stiction {

/// Whether every set acts on the same tree: it has no free bodies, and panels of G beside it.
inline bool in_one_tree(const ContactSpace& space) {
  return space.known() && space.inverse.empty();
}

/// u and c of lambda.
void loose_velocities(
    const ContactProblem& problem, int first, int last, const double* lambda, double* u, double* c);
/// u of lambda.
void loose_motion(
    const ContactProblem& problem, int first, int last, const double* lambda, double* u);
/// c [dim] of one set.
void loose_velocity(
    const ContactProblem& problem, int set, const double* lambda, const double* u, double* c);
/// The change of u by a change [dim] of the impulse of a set.
void add_loose_change(const ContactProblem& problem, int set, const double* change, double* u);

/// max_i (|Z|^T inertia^-1 |Z| + R) |lambda| over the rows, in units of N s and m/s: what sums are
/// made of.
double largest_loose_term(const ContactProblem& problem, int first, int last, const double* lambda);

/// The panels of an island.
void assemble_loose_panels(const ContactProblem& problem,
                           int first,
                           int last,
                           ContactProblem::Panels& panels);

}  // namespace stiction
