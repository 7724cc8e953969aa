#include "solver/ncp_newton/ncp_newton.hpp"

namespace stiction {

bool solve_few_rows(const Island& island,
                    const SolverSettings& settings,
                    DenseIslandWork& work,
                    double* lambda,
                    double* velocity,
                    int& sweeps,
                    ContactSolution& solution) {
  const int most = settings.max_factorisations;
  if (settings.centred_loads || settings.max_iterations < kMostDenseSweeps ||
      (most > 0 && most < kMostDenseSteps) || settings.interrupt.requested() ||
      !is_dense_island(island))
    return false;
  const DenseAnswer answer = solve_dense_island(island, settings.tolerance, work, lambda, velocity);
  sweeps = answer.sweeps;
  solution.factorisations += answer.steps;
  const bool solved = answer.residuals.relative <= settings.tolerance;
  if (solution.record_stages)
    solution.stages.push_back(
        {"few rows", island.first, answer.steps, answer.residuals.relative, solved});
  if (solved) solution.residuals = answer.residuals;
  return solved;
}

}  // namespace stiction
