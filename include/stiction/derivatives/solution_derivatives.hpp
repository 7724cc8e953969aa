#pragma once

#include "stiction/contact/contact_mode.hpp"
#include "stiction/contact/contact_problem.hpp"
#include "stiction/solver/solver.hpp"

#include <Eigen/Core>

#include <vector>

namespace stiction {

/// How a solution of a contact problem moves with the problem: d lambda and dc, to first order.
struct SolutionDerivatives {
  Eigen::MatrixXd by_g;         ///< [rows x rows] d lambda / dg [N s / (m/s)]
  Eigen::MatrixXd by_friction;  ///< [rows x sets] d lambda / dmu; of other sets than cones 0. mu is
                                ///< the first coefficient of a cone, the others keep their ratio
  std::vector<ContactMode> modes;  ///< by set
  std::vector<double> margin;      ///< by set, see GradientReport
  int unknowns = 0, rank = 0;  ///< of the reduced systems; rank < unknowns: lambda is not unique
  int num_at_switch = 0;       ///< sets between two modes: one-sided
  int num_undecided = 0;       ///< sets whose mode the residual leaves open, see GradientReport
};

/// Of `solution`, as solve() left it, in the modes of its sets. A change of G or R acts as dg = dG
/// lambda. Where lambda is not unique: of a step of Newton's method from `solution` if
/// something slides, else a basic one. `tolerance`: what counts as zero beside the largest impulse
/// and velocity of an island; ten times solution.model_residuals.relative if that is more.
/// Allocates; n^3 by island. Throws std::invalid_argument if the solution does not fit the problem,
/// or is of a model other than ncp and ccp.
SolutionDerivatives solution_derivatives(const ContactProblem& problem,
                                         const ContactSolution& solution,
                                         double tolerance = 1e-7);

}  // namespace stiction
