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

double largest_eigenvalue_bound(const double* block, int n, int stride) {
  if (n == 1) return block[0];
  double q = block[0], deviation = 0.0;
  for (int r = 1; r < n; ++r) q += block[(stride + 1) * r];
  q /= n;
  for (int c = 0; c < n; ++c) {
    for (int r = 0; r < n; ++r) {
      const double x = block[stride * c + r] - (r == c ? q : 0.0);
      deviation += x * x;
    }
  }
  return q + (n - 1) * std::sqrt(deviation / (n * (n - 1)));
}

void copy_dense(const Island& island, double* G, double* g) {
  const ContactProblem& p = island.problem;
  const std::size_t n = island.rows();
  std::fill(G, G + n * n, 0.0);
  std::copy(p.g.begin() + island.begin, p.g.begin() + island.end, g);
  for (int i = island.first; i < island.last; ++i) {
    const ConstraintSet& set = p.sets[i];
    p.each_column(i, [&](int j, int at) {
      const double* column = p.values.data() + at;
      std::copy(column, column + set.dim, G + (j - island.begin) * n + (set.offset - island.begin));
    });
  }
}

}  // namespace stiction
