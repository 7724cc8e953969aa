#include "contact/problem_scale.hpp"

#include <algorithm>
#include <cmath>

namespace stiction {

ProblemScale scale_of_island(const ContactProblem& p,
                             int island,
                             const std::vector<double>& impulse) {
  const int first = p.island_start[island], last = p.island_start[island + 1];
  double V = p.velocity_scale, L = 0.0;
  for (int i = first; i < last; ++i) {
    const ConstraintSet& set = p.sets[i];
    for (int r = 0; r < set.dim; ++r) {
      const double G = p.diagonal_entry(i, r), l = impulse[set.offset + r];
      const double made = set.opposed(p.g[set.offset + r]) + G * std::abs(l);
      V = std::max(V, made * set.velocity_unit(r));
      L = std::max(L, std::abs(l) / set.impulse_unit(r));
    }
  }
  // Of the impulses alone: a body that slides fast may carry little. Below rounding nothing counts.
  L = std::max(L, 1e-8 * V / std::max(p.largest_diagonal(first, last), 1e-300));
  return {L, V};
}

}  // namespace stiction
