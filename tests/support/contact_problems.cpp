#include "contact_problems.hpp"

#include "dense.hpp"

#include <algorithm>
#include <cmath>

namespace stiction::test {

ContactProblem Data::problem() const { return ContactProblem::from_dense(G, g, sets, R); }

Eigen::VectorXd random_vector(Rng& rng, int n) {
  Eigen::VectorXd x(n);
  for (int i = 0; i < n; ++i) x[i] = rng.uniform(-1.0, 1.0);
  return x;
}

Eigen::MatrixXd random_matrix(Rng& rng, int rows, int cols) {
  Eigen::MatrixXd A(rows, cols);
  for (int j = 0; j < cols; ++j) A.col(j) = random_vector(rng, rows);
  return A;
}

ConstraintSet random_set(Rng& rng, double mu_max) {
  switch (rng.below(6)) {
    case 0:
      return ConstraintSet::non_negative();
    case 1: {
      const double l = rng.uniform(-1.0, 0.2);
      return ConstraintSet::box(l, l + rng.uniform(0.0, 1.0));
    }
    case 2:
      return ConstraintSet::free(1 + rng.below(6));
    case 3:
      return ConstraintSet::cone(0.0);
    default:
      return ConstraintSet::cone(rng.uniform(0.01, mu_max));
  }
}

int count_rows(const std::vector<ConstraintSet>& sets) {
  int rows = 0;
  for (const ConstraintSet& s : sets) rows += s.dim;
  return rows;
}

Data random_problem(Rng& rng, double rank, bool compliant, double mu_max) {
  Data d;
  const int n = 1 + rng.below(8);
  for (int i = 0; i < n; ++i) d.sets.push_back(random_set(rng, mu_max));
  const int rows = count_rows(d.sets), dofs = std::max(1, static_cast<int>(std::ceil(rank * rows)));
  const Eigen::MatrixXd A = random_matrix(rng, rows, dofs);
  d.G = gram(A);
  d.g = A * random_vector(rng, dofs);
  if (compliant) d.R = random_vector(rng, rows).cwiseAbs() * 0.3;
  return d;
}

double velocity_scale(const Data& d, const Eigen::VectorXd& l) {
  double V = 0.0, made = 0.0;
  int row = 0;
  for (const ConstraintSet& set : d.sets) {
    for (int r = 0; r < set.dim; ++r, ++row) {
      const bool cannot_push = set.kind == SetKind::kBox && set.upper <= 0.0;
      const bool cannot_pull =
          set.kind == SetKind::kNonNegative || (set.kind == SetKind::kBox && set.lower >= 0.0);
      const double g = d.g[row], diagonal = d.G(row, row) + (d.R.size() ? d.R[row] : 0.0);
      const double opposed = (g < 0.0 ? cannot_push : cannot_pull) ? 0.0 : std::abs(g);
      V = std::max(V, opposed);
      made = std::max(made, opposed + diagonal * std::abs(l[row]));
    }
  }
  return V > 0.0 ? V : made > 0.0 ? made : 1.0;  // 1: nothing is asked for
}

Data easy_data(Rng& rng) {
  Data d = random_problem(rng, 1.0, false, 0.5);
  const int rows = static_cast<int>(d.g.size());
  const Eigen::MatrixXd A = random_matrix(rng, rows, rows);
  d.G = Eigen::MatrixXd::Identity(rows, rows) + 0.3 / rows * gram(A);
  d.g = random_vector(rng, rows);
  return d;
}

Data chain(Rng& rng) {
  const int bodies = 3 + rng.below(6);
  Data d;
  for (int k = 0; k + 1 < bodies; ++k) d.sets.push_back(random_set(rng, 1.0));
  const int n = count_rows(d.sets);
  Eigen::MatrixXd J = Eigen::MatrixXd::Zero(n, 3 * bodies);
  for (int k = 0, row = 0; k + 1 < bodies; row += d.sets[k++].dim)
    J.block(row, 3 * k, d.sets[k].dim, 6) = random_matrix(rng, d.sets[k].dim, 6);
  d.G = J * J.transpose();
  d.g = J * random_vector(rng, 3 * bodies);
  d.R = Eigen::VectorXd::Zero(n);
  return d;
}

}  // namespace stiction::test
