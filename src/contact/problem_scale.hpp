#pragma once

#include "stiction/contact/contact_problem.hpp"

#include <vector>

namespace stiction {

/// The largest impulse and velocity of an island: what is small beside them counts as zero.
struct ProblemScale {
  double impulse;   ///< [N s]
  double velocity;  ///< V of `Residuals::backward` [m/s]

  ProblemScale operator*(double tolerance) const {
    return {impulse * tolerance, velocity * tolerance};
  }
};
ProblemScale scale_of_island(const ContactProblem& problem,
                             int island,
                             const std::vector<double>& impulse);

}  // namespace stiction
