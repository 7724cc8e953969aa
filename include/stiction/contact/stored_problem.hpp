#pragma once

#include "stiction/contact/contact_problem.hpp"

#include <vector>

namespace stiction {

/// A problem as a simulator made it, taken apart for a file. `from_dense` would add R anew, join
/// islands and leave out blocks of zeros: other roundings, other sums. From these parts the very
/// same problem comes back, and a solver gives the same bits.
struct StoredProblem {
  Eigen::MatrixXd A;  ///< G + diag R as it was rounded [rows x rows]
  Eigen::VectorXd g, R;
  std::vector<ConstraintSet> sets;
  std::vector<int> island_start;             ///< [islands + 1] into sets
  std::vector<int> run_start;                ///< [sets + 1] into the next two
  std::vector<int> run_columns, run_counts;  ///< blocks that are stored, zero or not
  ContactSpace space;                        ///< or none
  Eigen::VectorXd velocity_floor;            ///< [sets], or none
  Eigen::VectorXd arm;                       ///< [sets], or none
  double velocity_scale = 0.0;
  std::vector<int> resting;  ///< [sets] 0 or 1, or none
};

StoredProblem take_apart(const ContactProblem& problem);
/// Throws std::invalid_argument naming the part that does not fit.
ContactProblem put_together(const StoredProblem& parts);

}  // namespace stiction
