#pragma once

#include "solver/common/projection.hpp"

namespace stiction {

/// Gauss-Seidel through the rows of a set other than a contact: row r moves by step(r), which reads
/// c[r], the velocity that the rows before it have left; then onto its interval.
template <class Step>
void sweep_rows(const ContactProblem& p, int i, double* c, double* l, Step&& step) {
  const ConstraintSet& set = p.sets[i];
  const int stride = ContactProblem::stride(set.dim);
  const double* block = p.values.data() + p.diagonal_start[i];
  for (int r = 0; r < set.dim; ++r) {
    const double moved = step(r);
    l[r] += moved;
    for (int k = r + 1; k < set.dim; ++k) c[k] += block[stride * r + k] * moved;
  }
  project_scalar(set, l);
}

}  // namespace stiction
