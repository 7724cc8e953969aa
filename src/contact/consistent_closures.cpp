#include "contact/consistent_closures.hpp"

#include "contact/bilateral_factor.hpp"

#include <algorithm>

namespace stiction {

void make_references_consistent(ConstraintRows& rows,
                                ContactProblem& problem,
                                ClosedLoopWorkspace& work) {
  if (!work.any) return;
  const auto repeats = [](const ClosedLoopWorkspace::Island& x) { return x.rank < x.rows; };
  if (std::none_of(work.islands.begin(), work.islands.end(), repeats)) return;
  work.reference.assign(problem.g.size(), 0.0);
  double* reference = work.reference.data();
  for (const int set : work.sets) {
    const ConstraintRow& row = rows.rows[set];
    std::copy_n(row.reference, row.set.dim, reference + problem.sets[set].offset);
  }
  bring_into_range(problem, work, reference);
  for (const int set : work.sets) {
    ConstraintRow& row = rows.rows[set];
    const int offset = problem.sets[set].offset;
    for (int k = 0; k < row.set.dim; ++k) {
      problem.g[offset + k] += row.reference[k] - reference[offset + k];
      row.reference[k] = reference[offset + k];
    }
  }
}

}  // namespace stiction
