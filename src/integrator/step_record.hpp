#pragma once

#include "stiction/contact/uniqueness.hpp"
#include "stiction/solver/solver.hpp"

#include "contact/build_problem.hpp"

#include <vector>

namespace stiction {

/// What a step leaves behind until the next one: its contact problem and how it was solved, each
/// under one name. Of a compliant step that of the rows that stay rigid, in its last sub-step,
/// without `dynamics` and `dv`.
struct StepRecord {
  ContactSet contacts;         ///< as the narrow phase found them, sorted by (pair, feature)
  DynamicsWorkspace dynamics;  ///< factor of M^, free motion w, saturated dofs, who slept
  ConstraintRows rows;         ///< J, Z, c* and the rule that gave it
  ContactProblem problem;
  std::vector<double> warm_start;  ///< [rows] what the solver started from [N s]
  ContactSolution solution;
  std::vector<double> dv;  ///< [nv] change of v in a rigid step, L^-1 D^-1 (w + Z lambda), axes of
                           ///< its start; 0 of trees asleep

  /// By set, at lambda and c: see contact/uniqueness.hpp.
  std::vector<ContactModes> modes(double tolerance = 1e-6) const {
    return stiction::modes(problem, solution.impulse, solution.velocity, tolerance);
  }
};

}  // namespace stiction
