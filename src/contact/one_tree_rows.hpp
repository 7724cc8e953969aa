#pragma once

#include "contact/constraint_row.hpp"

// Where one tree carries every set, as for a robot on the ground, its rows are kept dense by dof:
// Y = D^-1/2 L^-T J^T, [dofs x width], so that one dof of a chain works on eight rows at once.
// Zeros are skipped by chain and by blocks of eight rows.

namespace stiction {

/// The tree of all sets, or -1 if there is none or more than one.
int common_tree(const ConstraintRows& rows);

/// Y of the tree Y.tree from J^T; `problem` has its sets numbered.
void whiten_one_tree(const DynamicsWorkspace& dynamics,
                     int nv,
                     const ContactProblem& problem,
                     const ConstraintRows& rows,
                     OneTreeRows& Y);

/// Panels of G = Y^T Y, each one run over all rows.
void assemble_one_tree(const DynamicsWorkspace& dynamics,
                       const ConstraintRows& rows,
                       RowScratch& scratch,
                       ContactProblem& problem);

/// g += Y^T D^-1/2 w, the velocity that the whitened free motion w of the tree adds.
void add_free_velocity(const double* w,
                       const OneTreeRows& Y,
                       RowScratch& scratch,
                       std::vector<double>& g);

/// w += D^1/2 Y lambda.
void add_impulses(const std::vector<double>& lambda,
                  const OneTreeRows& Y,
                  RowScratch& scratch,
                  double* w);

}  // namespace stiction
