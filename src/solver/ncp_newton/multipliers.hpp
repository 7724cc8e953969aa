#pragma once

#include "solver/common/work_account.hpp"
#include "solver/ncp_newton/tree_space.hpp"

namespace stiction {

struct MultiplierWork {
  TreeSpace trees;  ///< prepared for the island
  Buffer<double> scale, W, centre, offset, motion, impulse, best, last, trial;  ///< by row
  Buffer<double> y, start, step, force;  ///< by coordinate; force: F
  Buffer<double> slopes;                 ///< dim x dim for each of trees.rows()

  /// Room for problems of `total` rows with so many coordinates under an island.
  void reserve(std::size_t total, int coordinates);
};

struct MultiplierSettings {
  double tolerance = 1e-8;  ///< of Residuals::relative
  int max_factorisations = 200;
  Interrupt interrupt = {};
  double proximal = 0.1;     ///< largest weight of the proximal term, in units where G has a
                             ///< diagonal near 1
  bool may_run_away = true;  ///< whether impulses that run_away() are an answer
};

/// The proximal method of multipliers (Rockafellar 1976) for the exact friction problem, in the
/// coordinates of the trees: for islands of many contacts between few bodies, hyperstatic as a
/// rule. From lambda, whose residuals are
/// `before`; leaves the best impulses there and their velocity; returns their residuals.
Residuals method_of_multipliers(const Island& island,
                                const MultiplierSettings& settings,
                                const Residuals& before,
                                double* lambda,
                                double* velocity,
                                MultiplierWork& work,
                                WorkAccount& account);

}  // namespace stiction
