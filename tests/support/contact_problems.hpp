#pragma once

#include "stiction/solver/solver.hpp"

#include "random.hpp"

#include <vector>

// Random contact problems for the tests of solvers.

namespace stiction::test {

/// The arrays a problem is made of.
struct Data {
  Eigen::MatrixXd G;
  Eigen::VectorXd g, R;
  std::vector<ConstraintSet> sets;

  ContactProblem problem() const;
};

Eigen::VectorXd random_vector(Rng& rng, int n);
Eigen::MatrixXd random_matrix(Rng& rng, int rows, int cols);
ConstraintSet random_set(Rng& rng, double mu_max);
int count_rows(const std::vector<ConstraintSet>& sets);

/// G = A A^T of the given share of the full rank and g = A w, as from a mechanism with velocity w.
Data random_problem(Rng& rng, double rank, bool compliant, double mu_max = 1.5);

/// V of `Residuals` at the impulses l, from its definition.
double velocity_scale(const Data& data, const Eigen::VectorXd& l);

/// Well conditioned, with little friction and little coupling, so that the solution is unique.
Data easy_data(Rng& rng);

/// Sets in a row, each coupled to its neighbours alone: where one between opens, what is left of G
/// falls apart.
Data chain(Rng& rng);

}  // namespace stiction::test
