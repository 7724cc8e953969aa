#pragma once

#include "solver/common/work_account.hpp"
#include "solver/ncp_newton/newton_system.hpp"

namespace stiction {

/// The canonical scale of each row of the island (mode_newton.cpp); D is indexed by the problem's
/// rows.
void scale_rows(const Island& island, double* D);

/// By global row. classified: impulses where their modes hold them; trial: impulses tried, or the
/// velocity at which the modes were found; velocity: of the best.
struct ModeNewtonWork {
  Buffer<double> D, l, trial, step, classified, velocity;
  Buffer<RowMode> modes;
  Buffer<int> columns, stretch, end;
  Buffer<double> dense;  ///< the linear system
  double weakest = 0.0;  ///< least pivot of the last one

  /// Room for problems of `total` rows with islands of at most `rows`.
  void reserve(std::size_t total, int rows);
};

struct NewtonSettings {
  double tolerance = 1e-8;  ///< of Residuals::relative
  int max_iterations = 20;
  Interrupt interrupt = {};
  double proximal = 1e-6;  ///< weight of the proximal term, in units where G has a diagonal near 1
  /// R beside that of the problem, in the same units: with it the impulses nearest to none.
  double compliance = 0.0;
};

/// Semismooth Newton on the Alart-Curnier form of one island, started from lambda (Alart and
/// Curnier 1991; scaling, proximal term and line search as in docs/solvers.md). Local: a few sweeps
/// must have found the modes of most contacts. `before` and `velocity` are those of the start. The
/// best projected iterate is left in lambda, never worse than the start; returns its residuals.
/// `velocity` is that of lambda.
Residuals newton_on_modes(const Island& island,
                          const NewtonSettings& settings,
                          const Residuals& before,
                          double* lambda,
                          double* velocity,
                          ModeNewtonWork& work,
                          WorkAccount& account);

/// velocity += R lambda of NewtonSettings::compliance, D the canonical scale.
void add_compliance(
    const Island& island, double share, const double* D, const double* lambda, double* velocity);

/// Largest reduced system it takes.
inline constexpr int kMaxNewtonRows = 1000;

}  // namespace stiction
