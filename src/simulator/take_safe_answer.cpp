#include "stiction/simulator/simulator.hpp"

#include "solver/common/safe_answer.hpp"

namespace stiction {

/// The published algorithms keep their own answer, whatever it is.
void Simulator::take_safe_answer() {
  const SolveStatus status = solution_.status;
  if (status <= SolveStatus::kRoundingLimited || status == SolveStatus::kNotFinite ||
      settings_.solver.name != "ncp-newton")
    return;
  references_.resize(problem_.g.size());
  recovery_.resize(problem_.g.size());
  int k = 0;
  for (const ConstraintRow& row : rows_.rows) {
    for (int r = 0; r < row.set.dim; ++r, ++k) {
      references_[k] = row.reference[r];
      recovery_[k] = recovers(row) ? row.reference[r] : 0.0;
    }
  }
  safe_islands_ =
      make_safe(problem_, {references_, recovery_}, settings_.solver, solver_, solution_).islands;
}

}  // namespace stiction
