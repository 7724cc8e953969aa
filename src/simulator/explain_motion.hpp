#pragma once

#include "stiction/contact/contact_mode.hpp"
#include "stiction/contact/contact_problem.hpp"

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

/// Of rows that are all compliant: c + R lambda obeys the law of the sets.
std::vector<double> impulses_of_compliance(const ContactProblem& problem,
                                           const std::vector<double>& velocity);

/// The fastest approach [m/s] of rows that may only open; compliant ones give way by R lambda.
double approach(const ContactProblem& problem,
                const std::vector<double>& velocity,
                const std::vector<double>& impulse);

}  // namespace stiction
