#pragma once

#include "contact/constraint_row.hpp"

// Where one tree carries every set, as for a robot on the ground, its rows are kept dense by dof:
// Y = D^-1/2 L^-T J^T, [dofs x width], so that one dof of a chain works on eight rows at once.
// Zeros are skipped by chain and by blocks of eight rows.

namespace stiction {

/// The tree of all sets, or -1 if there is none or more than one.
int common_tree(const ConstraintRows& rows);

/// Y of the tree Y.tree from J^T; `problem` has its sets numbered.
void whiten_rows_by_dof(const DynamicsWorkspace& dynamics,
                        int nv,
                        const ContactProblem& problem,
                        const ConstraintRows& rows,
                        RowsByDof& Y);

/// Room for panels of one run over all rows each, set after set.
void lay_out_panels_by_dof(ContactProblem& problem);

/// Panels of G = Y^T Y, each one run over all rows.
void assemble_rows_by_dof(const DynamicsWorkspace& dynamics,
                          const ConstraintRows& rows,
                          RowScratch& scratch,
                          ContactProblem& problem);

/// Whether one tree carries so many rows that its coordinates are the fewer unknowns by far.
bool worth_tree_space(int rows, int nv);
/// The factors of G in ContactSpace: Y, whose coordinates have unit inertia.
void fill_space_by_dof(const Scene& scene,
                       const DynamicsWorkspace& dynamics,
                       const ConstraintRows& rows,
                       RowScratch& scratch,
                       ContactProblem& problem);

/// g += Y^T D^-1/2 w, the velocity that the whitened free motion w of the tree adds.
void add_free_velocity(const double* w,
                       const RowsByDof& Y,
                       RowScratch& scratch,
                       std::vector<double>& g);

/// responses <- M^-1 J^T of the tree, laid out like Y: where many forces act on the same rows.
void find_responses(const DynamicsWorkspace& dynamics,
                    const RowsByDof& Y,
                    std::vector<double>& responses);
/// out [nv of the tree] <- M^-1 J^T f.
void respond(const RowsByDof& Y,
             const std::vector<double>& responses,
             const std::vector<double>& f,
             RowScratch& scratch,
             double* out);

/// u += D^-1/2 Y lambda = D^-1 L^-T J^T lambda, of the tree.
void add_impulses(const std::vector<double>& lambda,
                  const std::vector<ConstraintRow>& rows,
                  const RowsByDof& Y,
                  RowScratch& scratch,
                  double* u);

}  // namespace stiction
