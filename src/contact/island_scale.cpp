#include "contact/island_scale.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace stiction {
namespace {

/// Velocities between 2^-200 and 2^200 m/s have products of any four that are normal numbers.
constexpr int kUsual = 200;
/// Faster still, a step that follows overflows anyway: it is better reported.
constexpr int kMost = 600;

/// The exponent of an island's largest velocity, 0 if that is usual or there is none.
int exponent_of(const ContactProblem& p, int island) {
  double largest = p.velocity_scale;
  for (int i = p.island_start[island]; i < p.island_start[island + 1]; ++i) {
    for (int r = 0; r < p.sets[i].dim; ++r)
      largest = std::max(largest, std::abs(p.g[p.sets[i].offset + r]));
  }
  if (!(largest > 0.0) || !std::isfinite(largest)) return 0;
  const int exponent = std::ilogb(largest);
  return std::abs(exponent) <= kUsual || exponent > kMost ? 0 : exponent;
}

}  // namespace

const ContactProblem& IslandScale::take(const ContactProblem& problem) {
  exponent_.clear();
  bool usual = true;
  for (int k = 0; usual && k < problem.num_islands(); ++k) usual = exponent_of(problem, k) == 0;
  if (usual) return problem;
  copy_ = problem;
  exponent_.assign(problem.g.size(), 0);
  int largest = std::numeric_limits<int>::min();
  for (int k = 0; k < problem.num_islands(); ++k) {
    const int exponent = exponent_of(problem, k);
    largest = std::max(largest, exponent);
    for (int i = problem.island_start[k]; i < problem.island_start[k + 1]; ++i) {
      ConstraintSet& set = copy_.sets[i];
      set.lower = std::ldexp(set.lower, -exponent);
      set.upper = std::ldexp(set.upper, -exponent);
      if (!copy_.velocity_floor.empty())
        copy_.velocity_floor[i] = std::ldexp(copy_.velocity_floor[i], -exponent);
      for (int r = set.offset; r < set.offset + set.dim; ++r) {
        copy_.g[r] = std::ldexp(copy_.g[r], -exponent);
        exponent_[r] = exponent;
      }
    }
  }
  copy_.velocity_scale = std::ldexp(copy_.velocity_scale, -largest);
  return copy_;
}

void IslandScale::to_copy(double* x) const {
  for (std::size_t r = 0; r < exponent_.size(); ++r) x[r] = std::ldexp(x[r], -exponent_[r]);
}

void IslandScale::from_copy(double* x) const {
  for (std::size_t r = 0; r < exponent_.size(); ++r) x[r] = std::ldexp(x[r], exponent_[r]);
}

}  // namespace stiction
