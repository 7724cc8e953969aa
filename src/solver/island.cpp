#include "island.hpp"

#include <algorithm>
#include <cmath>

namespace stiction {

void velocities(const Island& island, const double* lambda, double* velocity) {
  const ContactProblem& p = island.problem;
  for (int i = island.first; i < island.last; ++i)
    p.velocity(i, lambda, velocity + p.sets[i].offset);
}

double velocity_scale(const Island& island) {
  double scale = 0.0;
  for (int r = island.begin; r < island.end; ++r)
    scale = std::max(scale, std::abs(island.problem.g[r]));
  return scale;
}

double mean_diagonal(const Island& island) {
  double sum = 0.0;
  for (int i = island.first; i < island.last; ++i) {
    for (int r = 0; r < island.problem.sets[i].dim; ++r) sum += diagonal(island.problem, i, r);
  }
  return sum > 0.0 ? sum / island.rows() : 1.0;
}

void copy_dense(const Island& island, double* G, double* g) {
  const ContactProblem& p = island.problem;
  const std::size_t n = island.rows();
  std::fill(G, G + n * n, 0.0);
  std::copy(p.g.begin() + island.begin, p.g.begin() + island.end, g);
  for (int i = island.first; i < island.last; ++i) {
    const ConstraintSet& set = p.sets[i];
    const int stride = ContactProblem::stride(set.dim);
    const double* column = p.values.data() + p.panel_start[i];
    for (int k = p.run_start[i]; k < p.run_start[i + 1]; ++k) {
      const ContactProblem::Run& run = p.runs[k];
      for (int c = 0; c < run.count; ++c, column += stride) {
        double* out = G + (run.column + c - island.begin) * n + (set.offset - island.begin);
        std::copy(column, column + set.dim, out);
      }
    }
  }
}

}  // namespace stiction
