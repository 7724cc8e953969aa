#pragma once

#include "stiction/solver/solver.hpp"

namespace stiction {

/// The point of the central path of the NCP at `epsilon` > 0 [J], a smooth function of the problem.
/// With l = (lambda_T, mu lambda_N) and the velocity c of a cone (in N s and m/s, where it is
/// circular), o the product of the Lorentz cone's algebra and e its unit,
///   l o y = epsilon e,   c = (y_T, mu (y_N - s(y_T))),   s = sqrt(||y_T||^2 + v^2) - v,
/// v = epsilon / (1 N s); of other sets (lambda - lower) y = (upper - lambda) z = epsilon, c = y -
/// z; bilateral c = 0. It acts at a distance, lambda_N c_N ~ epsilon, and tends to a solution of
/// the NCP as epsilon falls. Contacts and limits that nothing moves are left out, y = 0.
///
/// Of `settings` it reads tolerance and interrupt. In `solution`: path_energy and path_velocity;
/// model_residuals.relative is the residual of the equations above and gives the status, residuals
/// certify the impulses as a solution of the NCP. Dense, by island; nothing depends on a warm
/// start. Throws std::invalid_argument if epsilon is not positive and finite.
void solve_on_path(const ContactProblem& problem,
                   double epsilon,
                   const SolverSettings& settings,
                   SolverWorkspace& work,
                   ContactSolution& solution);

}  // namespace stiction
