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

/// Half as much again as the problem needs: a pile that grows does not come here in every step.
void NcpNewtonWork::reserve(const ContactProblem& problem) {
  ContactProblem& soft = compliant;
  if (soft.stored.values.capacity() >= problem.stored.values.size() &&
      soft.g.capacity() >= problem.g.size() &&
      soft.stored.runs.capacity() >= problem.stored.runs.size())
    return;
  const auto half_more = [](auto size) { return size + size / 2; };
  soft.stored.values.reserve(half_more(problem.stored.values.size()));
  soft.stored.runs.reserve(half_more(problem.stored.runs.size()));
  soft.g.reserve(half_more(problem.g.size()));
  soft = problem;
  const std::size_t total = half_more(problem.g.size());
  int rows = 0;
  for (int k = 0; k < problem.num_islands(); ++k) {
    const Island island(problem, problem.island_start[k], problem.island_start[k + 1]);
    rows = std::max(rows, island.rows());
    TreeSpace& trees = multipliers.trees;
    const bool fits = trees.prepare(island, problem.space, most_coordinates(island));
    const int coordinates = half_more(trees.num_coordinates());
    const int sets = half_more(island.last - island.first);
    if (fits) multipliers.reserve(total, coordinates);
    if (!island.is_loose()) continue;
    space.reserve(total, coordinates);
    gradients.reserve(total, problem.space.num_trees(), sets);
    interior_space.reserve(total, sets, coordinates);
  }
  rows = half_more(rows);
  dense.reserve();
  modes.reserve(total, std::min(rows, kMaxNewtonRows));
  interior.reserve(total, std::min(rows, kMaxInteriorRows));
  given.locals.grow(half_more(problem.num_sets()));
  relaxed.locals.grow(half_more(problem.num_sets()));
  relaxed.best.grow(total);
  grow(total, given.first, given.scale);
}

std::int64_t most_factorisations(const ContactProblem& problem, const SolverSettings& settings) {
  std::int64_t sum = 0;
  for (int k = 0; k < problem.num_islands(); ++k) {
    const Island island(problem, problem.island_start[k], problem.island_start[k + 1]);
    sum += settings.max_factorisations > 0
               ? settings.max_factorisations
               : 2 * dense_factorisations(island.rows()) + kSparseFactorisations;
    sum += BilateralElimination::applies(island) ? kEliminationSolves : 0;
  }
  return sum;
}

}  // namespace stiction
