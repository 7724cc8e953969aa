#pragma once

#include "stiction/solver/interrupt.hpp"

#include "solver/common/work_account.hpp"
#include "solver/ncp_newton/contact_packs.hpp"

namespace stiction {

struct ConjugateGradientWork {
  ContactPacks packs;
  Buffer<double> impulse, change, direction, unit;  ///< packed
  Buffer<double> trial, velocity;                   ///< by row
  Buffer<double> u, before, pushed;  ///< motions: of impulse, before a sweep, of direction

  void reserve(std::size_t rows, int trees, int sets);
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
                              WorkAccount& account,
                              int& iterations);

}  // namespace stiction
