#pragma once

#include "stiction/contact/contact_mode.hpp"
#include "stiction/contact/contact_problem.hpp"
#include "stiction/solver/solver.hpp"

#include <Eigen/Core>

#include <vector>

// Which impulses move the sets of a problem with a given velocity. What opens has none, what slides
// has its impulse on the edge of its cone, against the motion, what sticks may have any of its set.

namespace stiction {

/// By set, from velocities [rows]; below `tolerance` [m/s] is rest. Throws std::invalid_argument
/// for a cone of more than three rows that slides.
std::vector<ContactMode> modes_of_motion(const std::vector<ConstraintSet>& sets,
                                         const std::vector<double>& velocity,
                                         double tolerance);

/// Impulses known + T x of given modes, x in `sets`.
struct ImpulseUnknowns {
  Eigen::VectorXd known;  ///< [rows]
  Eigen::MatrixXd T;      ///< [rows x rows], `columns` of them are in use
  std::vector<ConstraintSet> sets;
  std::vector<int> row;  ///< [columns] that is x alone
  int columns = 0;

  /// Each of the next columns is one row.
  void add_rows(int first, int count);
  void add_square(int first, double bound);
};
ImpulseUnknowns unknowns_of(const ContactProblem& problem,
                            const std::vector<double>& velocity,
                            const std::vector<ContactMode>& modes);

/// The impulses [rows] of these modes that leave the least of `needed` - `to_loose` lambda, in
/// `metric` [n x n], and of those nearly the least. The rows of `to_loose` [n x rows] are the dofs
/// without motors. A convex problem: solved directly where no bound holds, else by ccp-admm.
/// Compliant normal rows have the impulse of their law, and friction that sticks stays in a square
/// inside the disk that this leaves.
std::vector<double> explain_motion(const ContactProblem& problem,
                                   const std::vector<double>& velocity,
                                   const std::vector<ContactMode>& modes,
                                   const Eigen::VectorXd& needed,
                                   const Eigen::MatrixXd& to_loose,
                                   const Eigen::MatrixXd& metric);

/// How little a row of the Delassus matrix acts that counts: where nothing is actuated, less is
/// rounding, as of a closure between motors.
double least_action(const ContactProblem& problem);

/// Whether every row is.
bool all_compliant(const ContactProblem& problem);

/// Of rows that are all compliant: c + R lambda obeys the law of the sets, which is a problem by
/// itself.
ContactSolution solution_of_compliance(const ContactProblem& problem,
                                       const std::vector<double>& velocity,
                                       ContactProblem& law);

/// The fastest approach [m/s] of rows that may only open; compliant ones give way by R lambda.
double approach(const ContactProblem& problem,
                const std::vector<double>& velocity,
                const std::vector<double>& impulse);

}  // namespace stiction
