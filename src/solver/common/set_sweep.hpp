#pragma once

#include "solver/common/island.hpp"
#include "solver/common/projection.hpp"

#include <algorithm>
#include <cmath>

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

/// One pass over the sets: update(i, c, l) moves l, the impulse of set i, whose velocity with the
/// newest impulses of all is c. Returns the largest change in velocity units, G_rr |dlambda_r|.
template <class Update>
double sweep_sets(const Island& island, double* lambda, Update&& update) {
  const ContactProblem& p = island.problem;
  double change = 0.0;
  for (int i = island.first; i < island.last; ++i) {
    const ConstraintSet& set = p.sets[i];
    double *l = lambda + set.offset, c[kMaxSetDim], old[kMaxSetDim];
    p.velocity(i, lambda, c);
    std::copy(l, l + set.dim, old);
    update(i, c, l);
    for (int r = 0; r < set.dim; ++r)
      change = std::max(change, diagonal(p, i, r) * std::abs(l[r] - old[r]));
  }
  return change;
}

}  // namespace stiction
