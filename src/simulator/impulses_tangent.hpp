#pragma once

#include "simulator/explain_motion.hpp"

#include <functional>

// The impulses of explain_motion() differentiated, modes held: lambda = known(c) + T(c) x, x the
// least of those that minimise |b - A x| in the metric W, A = F T, b = needed - F known. With G =
// A^T W A, r = b - A x, P on the range of G, and x = A^T z:
//   G dx = A^T W (db - dA x) + dA^T W r + A^T dW r,   (1 - P) dx = (1 - P) dA^T z.

namespace stiction {

/// What changes along each of `directions`, with what explain_motion() was given.
struct ImpulsesTangentInput {
  const ContactProblem& problem;
  const std::vector<double>& velocity;    ///< [rows] c
  const std::vector<ContactMode>& modes;  ///< by set
  const std::vector<double>& impulse;     ///< [rows] what explain_motion() found
  Eigen::VectorXd needed;                 ///< [n]
  Eigen::MatrixXd to_loose, metric;       ///< F [n x rows], W [n x n]
  const Eigen::MatrixXd& dc;              ///< [rows x directions]
  Eigen::MatrixXd change;                 ///< [n x directions] d needed - dF lambda, lambda held
  double scale;                           ///< [N s] of all that moves
  /// [rows x directions] dF^T y and [n x directions] dW y of a y [n].
  std::function<Eigen::MatrixXd(const Eigen::VectorXd&)> turned, metric_change;
};

struct ImpulsesTangent {
  Eigen::MatrixXd by;     ///< [rows x directions] d lambda
  int num_at_bounds = 0;  ///< sets whose x just reaches a bound: one-sided
  double smallest = 1.0;  ///< eigenvalue of G that counts, relative to their mean
};

/// Throws std::invalid_argument where the bound of a set holds an impulse back.
ImpulsesTangent impulses_tangent(const ImpulsesTangentInput& in);

/// The same of solution_of_compliance().
ImpulsesTangent compliant_impulses_tangent(const ContactProblem& problem,
                                           const std::vector<double>& velocity,
                                           const Eigen::MatrixXd& dc);

}  // namespace stiction
