#pragma once

#include "stiction/solver/solver.hpp"

namespace stiction {

/// c* of a step by row, which g holds with the sign reversed [m/s].
struct ReferenceVelocities {
  const std::vector<double>& all;
  const std::vector<double>& recovery;  ///< those that correct position errors, else 0
};

/// What make_safe() did.
struct SafeAnswer {
  int islands = 0;      ///< replaced
  double growth = 0.0;  ///< the fastest at which a gap of theirs still closes beyond what it may,
                        ///< or a bilateral row drifts [m/s]
};

/// Replaces the impulses of every island that is not solved and whose impulses could do harm by
/// those of the convex problem, regularised and without corrections of position errors
/// (safe_answer.cpp); velocity and residuals are then exact again. Bounded: kSafeFactorisations and
/// kSafeSweeps an island.
inline constexpr int kSafeFactorisations = 100, kSafeSweeps = 200;
std::int64_t most_safe_factorisations(const ContactProblem& problem);
SafeAnswer make_safe(const ContactProblem& problem,
                     const ReferenceVelocities& references,
                     const SolverSettings& settings,
                     SolverWorkspace& work,
                     ContactSolution& solution);

}  // namespace stiction
