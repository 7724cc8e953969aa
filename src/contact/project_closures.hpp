#pragma once

#include "stiction/contact/closed_loops.hpp"

namespace stiction {

// Closed loops that keep their energy. With J = dPhi/dq at the start of the step, M there and h =
// dt, a step of the option project_closures is RATTLE (Andersen 1983) with symplectic Euler for the
// forces,
//
//   M v' = M v + h (tau - b(q, v^)) + J^T lambda,   Phi(q + h v') = 0,   q+ = q + h v',
//   M+ v+ = M+ v' + J+^T mu,                        J+ v+ = 0,
//
// the bias of articulated trees at v^ = v + (v' - v) / 2, the middle of the kick, and the flight of
// loose bodies from node to node with lambda at its start (loose_body.hpp). Read backwards in time
// it is the same step, so that energy errors are of second order and do not add up. Without the
// option J v' = -Phi / h is lagged by a step, and b(q, v) by half a kick: first order.

/// The first half, after build_problem(): from a step of the closures alone, v' with J v' = 0, the
/// bias of the trees they touch is changed as above (dynamics, problem.g), and what Phi(q + h
/// v') - Phi asks of J v' is added to c* of the closures. Contacts and closures stay one problem.
void foresee_closures(const Scene& scene,
                      const Parameters& parameters,
                      const Control& control,
                      const State& state,
                      double dt,
                      DynamicsWorkspace& dynamics,
                      ConstraintRows& rows,
                      ContactProblem& problem,
                      ClosedLoopWorkspace& work);

/// The end of the step: moves q onto the closures and gears, dq = -M^-1 J^T (J M^-1 J^T)^+ Phi
/// until |Phi| <= 1e-13 or four rounds, and v onto their tangent space, J v = 0, in the metric of
/// M. `flight`: dt of a step that foresee_closures() began; 0: of another kind of step.
void project_closures(const Scene& scene,
                      const Parameters& parameters,
                      double flight,
                      ClosedLoopWorkspace& work,
                      State& state);

}  // namespace stiction
