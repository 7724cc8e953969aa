#pragma once

#include "contact/closed_loops.hpp"
#include "contact/constraint_row.hpp"

namespace stiction {

// Closed loops that keep their energy. With J = dPhi/dq at the start of the step, M there and h =
// dt, a step of the option project_closures is RATTLE (Andersen 1983) with symplectic Euler for the
// forces,
//
//   M v' = M v + h (tau - b(q, v^)) + J^T lambda,   Phi(q + h v') = 0,   q+ = q + h v',
//   M+ v+ = M+ v' + J+^T mu,                        J+ v+ = 0,
//
// the bias of articulated trees at v^ = v + (v' - v) / 2, the middle of the kick, and the flight of
// loose bodies from node to node with lambda at its start (loose_body.hpp). Kick, then drift: read
// backwards in time it is the adjoint step, drift then kick, and half a kick takes one into a step
// that is symmetric. So the energy of the nodes swings at first order in h and does not drift (a
// pendulum of 1 m and 1 kg: by 0.0540, 0.0270, 0.0135, 0.0067 J at 4, 2, 1, 0.5 ms); without forces
// there is no kick, and errors are of second order. Without the option J v' = -Phi / h is lagged by
// a step, and b(q, v) by half a kick: energy drifts at first order.

/// The first half, after build_problem() and factor_bilateral(): from a step of the closures alone,
/// v' with J v' = 0, the bias of the trees they touch is changed as above (dynamics, problem.g),
/// and what Phi(q + h v') - Phi asks of J v' is added to c* of the closures: what is drift is then
/// no recovery any more. Contacts and closures stay one problem. `dynamics`: those of the context.
void add_closure_curvature(const RowContext& context,
                           const Control& control,
                           DynamicsWorkspace& dynamics,
                           ContactProblem& problem,
                           ClosedLoopWorkspace& work);

}  // namespace stiction
