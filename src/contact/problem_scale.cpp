#include "contact/problem_scale.hpp"

#include <algorithm>
#include <cmath>

namespace stiction {

ProblemScale scale_of_island(const ContactProblem& p,
                             int island,
                             const std::vector<double>& impulse) {
  const int first = p.island_start[island], last = p.island_start[island + 1];
  double V = 0.0, L = 0.0;
  for (int i = first; i < last; ++i) {
    for (int r = 0; r < p.sets[i].dim; ++r) {
      const double G = p.diagonal_entry(i, r), l = impulse[p.sets[i].offset + r];
      V = std::max(V, std::abs(p.g[p.sets[i].offset + r]) + G * std::abs(l));
      L = std::max(L, std::abs(l));
    }
  }
  // Of the impulses alone: a body that slides fast may carry little. Below rounding nothing counts.
  L = std::max(L, 1e-8 * V / std::max(p.largest_diagonal(first, last), 1e-300));
  return {L, V};
}

}  // namespace stiction
