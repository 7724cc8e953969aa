#pragma once

#include "solver/ncp_newton/tree_space.hpp"

#include <chrono>

namespace stiction {

struct MultiplierSettings {
  double tolerance = 1e-8;  ///< of Residuals::relative
  int max_factorisations = 200;
  std::chrono::steady_clock::time_point deadline = std::chrono::steady_clock::time_point::max();
  Interrupt interrupt = {};
  double proximal = 3e-2;  ///< largest weight of the proximal term, in units where G has a
                           ///< diagonal near 1
};

/// The proximal method of multipliers (Rockafellar 1976) for the exact friction problem, in the
/// coordinates of the trees: for islands of many contacts between few bodies, hyperstatic as a
/// rule. SolverWorkspace::trees is prepared for the island. From lambda, whose residuals are
/// `before`; leaves the best impulses there and their velocity; returns their residuals.
Residuals method_of_multipliers(const Island& island,
                                const MultiplierSettings& settings,
                                const Residuals& before,
                                double* lambda,
                                double* velocity,
                                SolverWorkspace& work);

/// Doubles of SolverWorkspace::tree_real for problems of `total` rows with `n` coordinates under an
/// island.
std::size_t multiplier_storage(std::size_t total, int n);

}  // namespace stiction
