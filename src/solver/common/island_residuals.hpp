#pragma once

#include "solver/common/island.hpp"

#include <algorithm>

namespace stiction {

/// The residuals of a model on one island; `velocity` gets c = (G + R) lambda + g.
inline Residuals island_residuals(ContactModel model,
                                  const Island& island,
                                  const SolverSettings& settings,
                                  const double* lambda,
                                  double* velocity) {
  velocities(island, lambda, velocity);
  return model_residuals(
      model, settings.facets, island.problem, lambda, velocity, island.first, island.last);
}

/// Iterations until the residual, which costs about as much as one, is evaluated again: overhead
/// and delay stay a fraction of the iterations done.
inline int check_interval(int iterations) { return std::clamp(iterations / 4, 1, 16); }

}  // namespace stiction
