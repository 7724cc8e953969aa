#pragma once

#include "contact/contact_space.hpp"
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
  const double* block = p.block(i);
  for (int r = 0; r < set.dim; ++r) {
    const double moved = step(r);
    l[r] += moved;
    for (int k = r + 1; k < set.dim; ++k) c[k] += block[stride * r + k] * moved;
  }
  project_scalar(set, l);
}

/// Velocities of the sets of an island, one after the other, while their impulses change.
class NewestVelocity {
 public:
  NewestVelocity(const Island& island, const double* lambda)
      : problem_(island.problem), lambda_(lambda), loose_(island.is_loose()) {
    if (loose_)
      loose_motion(problem_, island.first, island.last, lambda, problem_.space.motion.data());
    else
      problem_.panels(island.first, island.last);
  }
  /// c[dim] of a set with the newest impulses.
  void find(int set, double* c) const {
    if (loose_)
      loose_velocity(problem_, set, lambda_, problem_.space.motion.data(), c);
    else
      problem_.velocity(set, lambda_, c);
  }
  /// The impulse of a set was `old`.
  void moved(int set, const double* old) const {
    if (!loose_) return;
    const ConstraintSet& s = problem_.sets[set];
    double change[kMaxSetDim];
    for (int r = 0; r < s.dim; ++r) change[r] = lambda_[s.offset + r] - old[r];
    add_loose_change(problem_, set, change, problem_.space.motion.data());
  }

 private:
  const ContactProblem& problem_;
  const double* lambda_;
  const bool loose_;
};

/// One pass over the sets: update(i, c, l) moves l, the impulse of set i, whose velocity with the
/// newest impulses of all is c. Returns the largest change in velocity units, G_rr |dlambda_r|.
template <class Update>
double sweep_sets(const Island& island, double* lambda, Update&& update) {
  const ContactProblem& p = island.problem;
  const NewestVelocity newest(island, lambda);
  double change = 0.0;
  for (int i = island.first; i < island.last; ++i) {
    const ConstraintSet& set = p.sets[i];
    double *l = lambda + set.offset, c[kMaxSetDim], old[kMaxSetDim];
    newest.find(i, c);
    std::copy(l, l + set.dim, old);
    update(i, c, l);
    newest.moved(i, old);
    for (int r = 0; r < set.dim; ++r)
      change = std::max(change, p.diagonal_entry(i, r) * std::abs(l[r] - old[r]));
  }
  return change;
}

}  // namespace stiction
