#pragma once

#include "stiction/contact/contact_problem.hpp"

#include <vector>

namespace stiction {

/// A problem whose islands are scaled by exact powers of two, where their velocities are so small
/// or so large that products of them would underflow or overflow: (G, s g) with bounds times s has
/// the solution s lambda, to the bit.
class IslandScale {
 public:
  /// The problem itself where all islands are of usual size; else a copy, which lasts until the
  /// next call.
  const ContactProblem& take(const ContactProblem& problem);
  bool copied() const { return !exponent_.empty(); }
  /// Impulses or velocities of the problem to those of the copy, and back.
  void to_copy(double* x) const;
  void from_copy(double* x) const;

 private:
  ContactProblem copy_;
  std::vector<int> exponent_;  ///< [rows] of the power; empty: no copy
};

}  // namespace stiction
