#pragma once

#include "stiction/solver/solver.hpp"

namespace stiction {

/// c* of a step by row, which g holds with the sign reversed [m/s].
struct ReferenceVelocities {
  const std::vector<double>& all;
  const std::vector<double>& recovery;  ///< those that correct position errors, else 0
};

/// Replaces the impulses of every island that is not solved and whose impulses could do harm by
/// those of the convex problem, regularised and without corrections of position errors
/// (safe_answer.cpp). Returns how many islands that were; velocity and residuals are then exact
/// again. Bounded: kSafeFactorisations and kSafeSweeps an island.
inline constexpr int kSafeFactorisations = 100, kSafeSweeps = 200;
std::int64_t most_safe_factorisations(const ContactProblem& problem);
int make_safe(const ContactProblem& problem,
              const ReferenceVelocities& references,
              const SolverSettings& settings,
              SolverWorkspace& work,
              ContactSolution& solution);

}  // namespace stiction
