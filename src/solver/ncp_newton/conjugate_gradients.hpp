#pragma once

#include "stiction/solver/interrupt.hpp"

#include "solver/ncp_newton/loose_sweeps.hpp"

namespace stiction {

struct ConjugateGradientWork {
  LooseSweeps sweeps;
  Buffer<double> impulse, change, direction, velocity, scale;  ///< by row
  Buffer<double> u, before, pushed;  ///< motions: of impulse, before a sweep, of direction

  void reserve(std::size_t rows, std::size_t motions, int sets);
};

struct ConjugateGradientSettings {
  double tolerance = 1e-3;  ///< of Residuals::relative
  int max_iterations = 300;
  Interrupt interrupt = {};
};

/// Nonsmooth conjugate gradients on projected sweeps (Silcowitz, Niebe and Erleben 2010), for an
/// island of many loose bodies. The best iterate, always one right after a sweep and so inside its
/// cones, is left in lambda with its velocity, never worse than the start. Returns its residuals;
/// `iterations` counts the sweeps.
Residuals conjugate_gradients(const Island& island,
                              const ConjugateGradientSettings& settings,
                              const Residuals& before,
                              double* lambda,
                              double* velocity,
                              ConjugateGradientWork& work,
                              int& iterations);

}  // namespace stiction
