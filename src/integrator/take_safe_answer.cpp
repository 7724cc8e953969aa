#include "integrator/take_safe_answer.hpp"

#include "contact/recovery.hpp"
#include "solver/common/safe_answer.hpp"

namespace stiction {

int take_safe_answer(const ConstraintRows& rows,
                     const ContactProblem& problem,
                     const SolverSettings& settings,
                     SolverWorkspace& solver,
                     SafeAnswerRows& work,
                     ContactSolution& solution) {
  const SolveStatus status = solution.status;
  if (status <= SolveStatus::kRoundingLimited || status == SolveStatus::kNotFinite ||
      settings.name != "ncp-newton")
    return 0;
  work.references.resize(problem.g.size());
  work.recovery.resize(problem.g.size());
  int k = 0;
  for (const ConstraintRow& row : rows.rows) {
    for (int r = 0; r < row.set.dim; ++r, ++k) {
      work.references[k] = row.reference[r] - curvature_in_row(row, r);
      work.recovery[k] = recovers(row) ? row.reference[r] : 0.0;
    }
  }
  return make_safe(problem, {work.references, work.recovery}, settings, solver, solution).islands;
}

}  // namespace stiction
