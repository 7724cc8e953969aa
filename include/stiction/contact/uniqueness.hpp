#pragma once

#include "stiction/contact/contact_mode.hpp"
#include "stiction/contact/contact_problem.hpp"

#include <vector>

namespace stiction {

/// Whether a solution of the nonlinear complementarity problem is alone in its neighbourhood.
struct Uniqueness {
  bool locally_unique = true;  ///< the reduced Jacobian is nonsingular: null_dimension is 0
  /// Of the impulses that may be added without leaving the equations: 1 for four frictionless feet
  /// on a plane, whose three equations of equilibrium leave one distribution of load open.
  int null_dimension = 0;
  /// Of the contact velocities that these impulses change; 0: c is unique although lambda is not.
  int velocity_dimension = 0;
  int num_at_switch =
      0;  ///< sets between two modes: unloaded, not leaving; or on the cone, at rest
  std::vector<ContactMode> modes;  ///< [sets]; of one at the switch the one that moves less
  /// Singular values of the reduced Jacobian, relative to the largest of their island: the smallest
  /// that counts as non-zero and the largest that counts as zero. Far apart, the rank is certain.
  double smallest_kept = 1.0, largest_dropped = 0.0;
};

/// The modes of all sets at an impulse and its velocity [rows]. What is zero within `tolerance` of
/// the largest impulse and velocity of its island (V of `Residuals::backward`) counts as zero.
std::vector<ContactModes> modes(const ContactProblem& problem,
                                const std::vector<double>& impulse,
                                const std::vector<double>& velocity,
                                double tolerance);

/// Linearises the problem at `impulse` [rows, N s], a solution of it, in the modes of its sets
/// (docs/compare.md):
///   open   d lambda = 0
///   stick  d c = 0
///   slide  d c_N = 0,  d lambda_T + mu e d lambda_N + (mu lambda_N / |c_T|) (I - e e^T) d c_T = 0,
///          e = c_T / |c_T|
/// with d c = (G + R) d lambda, and counts singular values, per island, rows and columns of each
/// set in units of (mean diag G_ii)^-1/2, at most `threshold` times the largest. Sets at the switch
/// are taken both ways, all as those that stick and all as those that slide or open, and the larger
/// dimension counts: one-sided, hence on the safe side. `tolerance`: of modes(). Not part of a
/// step: it allocates; n^3. Throws std::invalid_argument naming the argument and its value.
Uniqueness uniqueness(const ContactProblem& problem,
                      const std::vector<double>& impulse,
                      double threshold = 1e-9,
                      double tolerance = 1e-6);

}  // namespace stiction
