#pragma once

#include "solver/ncp_newton/mode_newton.hpp"
#include "solver/ncp_newton/tree_space.hpp"

namespace stiction {

struct SpaceNewtonWork {
  Buffer<double> D, impulse, step, trial, velocity;  ///< by row
  Buffer<double> slopes;  ///< blocks -dl/dc, as TreeSpace::Rows numbers them
  Buffer<double> y;       ///< [coordinates]

  void reserve(std::size_t total, int coordinates);
};

/// Newton on the modes (mode_newton.hpp) in the coordinates of loose bodies, without G and with
/// full steps: merits stall on hyperstatic contact, where the steps themselves converge. Ends after
/// `patience` steps that do not halve the residual. The best projected iterate is left in lambda,
/// never worse than the start; `velocity` is that of lambda.
Residuals newton_in_space(const Island& island,
                          const NewtonSettings& settings,
                          int patience,
                          const Residuals& before,
                          double* lambda,
                          double* velocity,
                          TreeSpace& space,
                          SpaceNewtonWork& work,
                          WorkAccount& account);

}  // namespace stiction
