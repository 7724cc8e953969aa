#pragma once

#include "stiction/contact/contact_problem.hpp"

namespace stiction {

/// A problem in N s and m/s: with lambda = S x and S c the velocity of x, S diagonal, every cone is
/// circular and the solutions are the same. Rows whose impulse is zero, as their mu is, have S = 0.
/// What solvers work on.
class CircularForm {
 public:
  /// The problem itself if its cones are circular; else a copy that lives here.
  const ContactProblem& take(const ContactProblem& problem);
  /// Of the last problem: whether it was copied.
  bool copied() const { return !unit_.empty(); }
  /// x from lambda and back, in place [rows].
  void to_circular(double* impulse) const;
  void from_circular(double* impulse) const;
  /// Compliance [rows], S^2 R; and back, 0 where S is.
  void compliance_to_circular(double* R) const;
  void compliance_from_circular(double* R) const;
  /// Velocities [rows]: S c.
  void velocity_to_circular(double* c) const;

 private:
  ContactProblem circular_;
  std::vector<double> unit_;  ///< S, or nothing
};

}  // namespace stiction
