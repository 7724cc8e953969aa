#pragma once

#include "derivatives/linearisation.hpp"

namespace stiction {

/// Cotangents of one island: a scalar l of the step's end changes by force . rhs - velocity . H +
/// impulse . lambda_off + position . dq for the changes of Columns.
struct IslandCotangents {
  std::vector<double> position, velocity_end;  ///< [dofs] first dl/dq+, dl/dv+; then of dq, of dv
  std::vector<double> kick;        ///< [dofs] of the velocity that kicked bodies are left with
  std::vector<double> on_impulse;  ///< [rows] dl/dlambda at fixed q+ and v+; empty: zero
  std::vector<double> force;       ///< [dofs] of the right-hand side of M^ dv+
  std::vector<double> velocity;    ///< [rows] of minus the change of c at fixed v+
  std::vector<double> impulse;     ///< [rows] of the change of lambda at fixed y
  std::vector<double> unknown;     ///< [unknowns] scratch
  std::vector<double> by_q, by_v;  ///< [dofs of a tree] scratch
};

/// dl/dq+ and dl/dv+ taken back through the step.
void pull_back(const DerivativeInput& in,
               Linearisation& linear,
               const DerivativeIsland& island,
               IslandCotangents& x);

/// Adds dl/dq, dl/dv, dl/dtorque [dofs of the island], after pull_back().
void state_gradient(const DerivativeInput& in,
                    Linearisation& linear,
                    const DerivativeIsland& island,
                    IslandCotangents& x,
                    double* q,
                    double* v,
                    double* torque);

}  // namespace stiction
