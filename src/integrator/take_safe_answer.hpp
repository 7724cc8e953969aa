#pragma once

#include "stiction/solver/solver.hpp"

#include "contact/constraint_row.hpp"

namespace stiction {

/// c* by row, of all rows and of those that correct position errors.
struct SafeAnswerRows {
  std::vector<double> references, recovery;
};

/// Where ncp-newton did not solve the rows of a step, make_safe() of its problem; the number of
/// islands replaced. The published algorithms keep their own answer, whatever it is.
int take_safe_answer(const ConstraintRows& rows,
                     const ContactProblem& problem,
                     const SolverSettings& settings,
                     SolverWorkspace& solver,
                     SafeAnswerRows& work,
                     ContactSolution& solution);

}  // namespace stiction
