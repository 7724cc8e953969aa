#pragma once

#include "stiction/contact/build_problem.hpp"
#include "stiction/solver/solver.hpp"

#include <vector>

namespace stiction {

/// What a step leaves behind until the next one: its contact problem and how it was solved. Of a
/// compliant step that of the rows that stay rigid, in its last sub-step.
struct StepRecord {
  ContactSet contacts;  ///< as the narrow phase found them, sorted by (pair, feature)
  ConstraintRows rows;
  ContactProblem problem;
  std::vector<double> warm_start;  ///< [rows] what the solver started from [N s]
  ContactSolution solution;
  std::vector<double> dv;  ///< [nv] change of v in a rigid step, L^-1 D^-1 (w + Z lambda), axes of
                           ///< its start; 0 of trees asleep
};

}  // namespace stiction
