#pragma once

namespace stiction {

/// What a solve of one dense problem ends with.
struct DenseOutcome {
  double primal, dual, complementarity, relative, backward;  ///< Residuals
  int sweeps, steps;                                         ///< taken
};

/// One dense problem by the instance of width 1 for an instruction set; all give the same bits.
/// `memory` holds the arrays of take_dense_problem(), filled, then room for those of
/// take_dense_work(), of which c is left as the velocity of lambda.
using DenseSolver = DenseOutcome (*)(int cones, int scalars, double tolerance, double* memory);

/// The widest that this processor runs.
DenseSolver dense_solver();

}  // namespace stiction
