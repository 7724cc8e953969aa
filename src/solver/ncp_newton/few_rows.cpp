#include "solver/dense/dense_problem.hpp"
#include "solver/ncp_newton/ncp_newton.hpp"

namespace stiction {

bool solve_few_rows(const Island& island,
                    const SolverSettings& settings,
                    Budget budget,
                    DenseIslandWork& work,
                    double* lambda,
                    double* velocity,
                    int& sweeps,
                    ContactSolution& solution) {
  if (settings.max_iterations < kMostDenseSweeps || budget.exhausted() ||
      (!budget.by_formula() && budget.left() < kMostDenseSteps) || !is_dense_island(island))
    return false;
  const DenseOutcome x = solve_dense_island(island, settings.tolerance, work, lambda, velocity);
  sweeps = x.sweeps;
  budget.work().factorisations += x.steps;
  budget.work().charge(dense_work(island.rows(), x));
  const bool solved = x.relative <= settings.tolerance;
  if (solution.record_stages)
    solution.stages.push_back({"few rows", island.first, x.steps, x.relative, solved});
  if (solved) solution.residuals = {x.primal, x.dual, x.complementarity, x.relative, x.backward};
  return solved;
}

}  // namespace stiction
