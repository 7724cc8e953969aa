#pragma once

#include "contact/build_problem.hpp"

namespace stiction {

/// Marks the rows of islands in which contacts act on loose bodies alone, whose dofs have neither
/// damping nor armature: G of such an island is assembled when it is asked for (ContactSpace). Rows
/// are numbered.
void find_loose_islands(const Scene& scene,
                        const Parameters& parameters,
                        const DynamicsWorkspace& dynamics,
                        const ContactProblem& problem,
                        ConstraintRows& rows);

/// The sides of loose rows in `space`, whose trees are known, and their own blocks in the problem.
void append_loose_side(const ConstraintRow& row, const ConstraintRows& rows, ContactSpace& space);
void fill_loose_blocks(const ConstraintRows& rows, ContactProblem& problem);

}  // namespace stiction
