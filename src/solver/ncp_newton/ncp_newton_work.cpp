#include "solver/ncp_newton/ncp_newton.hpp"

#include <algorithm>
#include <limits>

namespace stiction {

int most_coordinates(const Island& island) {
  constexpr int kSmall = 100;
  if (island.is_loose() || island.rows() <= kMinMultiplierRows)
    return std::numeric_limits<int>::max();
  return island.rows() < kSmall ? island.rows() / 2 : std::numeric_limits<int>::max();
}

void NcpNewtonWork::reserve(const ContactProblem& problem) {
  ContactProblem& soft = compliant;
  if (soft.stored.values.capacity() >= problem.stored.values.size() &&
      soft.g.capacity() >= problem.g.size() &&
      soft.stored.runs.capacity() >= problem.stored.runs.size())
    return;
  soft = problem;
  int rows = 0;
  for (int k = 0; k < problem.num_islands(); ++k) {
    const Island island(problem, problem.island_start[k], problem.island_start[k + 1]);
    rows = std::max(rows, island.rows());
    TreeSpace& trees = multipliers.trees;
    if (trees.prepare(island, most_coordinates(island)))
      multipliers.reserve(problem.g.size(), trees.num_coordinates());
    if (!island.is_loose()) continue;
    space.reserve(problem.g.size(), trees.num_coordinates());
    gradients.reserve(problem.g.size(), problem.space.num_trees(), island.last - island.first);
    interior_space.reserve(problem.g.size(), island.last - island.first, trees.num_coordinates());
  }
  dense.reserve();
  modes.reserve(problem.g.size(), std::min(rows, kMaxNewtonRows));
  interior.reserve(problem.g.size(), std::min(rows, kMaxInteriorRows));
  given.locals.grow(problem.num_sets());
  relaxed.locals.grow(problem.num_sets());
  relaxed.best.grow(problem.g.size());
}

std::int64_t most_factorisations(const ContactProblem& problem, const SolverSettings& settings) {
  std::int64_t sum = 0;
  for (int k = 0; k < problem.num_islands(); ++k) {
    const Island island(problem, problem.island_start[k], problem.island_start[k + 1]);
    sum += settings.max_factorisations > 0
               ? settings.max_factorisations
               : 2 * dense_factorisations(island.rows()) + kSparseFactorisations;
  }
  return sum;
}

}  // namespace stiction
