#include "dense.hpp"

#include "math/symmetric_eigen.hpp"
#include <Eigen/Cholesky>
#include <Eigen/LU>

#include <limits>

namespace stiction::test {

Eigen::MatrixXd solve_dense(const Eigen::MatrixXd& A, const Eigen::MatrixXd& B) {
  return A.partialPivLu().solve(B);
}

Eigen::MatrixXd solve_semidefinite(const Eigen::MatrixXd& A, const Eigen::MatrixXd& B) {
  return A.ldlt().solve(B);
}

double largest_eigenvalue(const Eigen::MatrixXd& A) {
  const int n = static_cast<int>(A.rows());
  Eigen::MatrixXd copy = A, vectors(n, n);
  Eigen::VectorXd values(n), scratch(7 * n + 24);
  if (!symmetric_eigen(copy.data(), n, values.data(), vectors.data(), scratch.data()))
    return std::numeric_limits<double>::quiet_NaN();
  return values.maxCoeff();
}

Eigen::MatrixXd multiply(const Eigen::MatrixXd& A, const Eigen::MatrixXd& B) { return A * B; }

Eigen::MatrixXd gram(const Eigen::MatrixXd& A) { return A * A.transpose(); }

}  // namespace stiction::test
