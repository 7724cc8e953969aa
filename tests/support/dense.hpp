#pragma once

#include <Eigen/Core>

// Decompositions and products of Eigen that take seconds to compile, compiled once.

namespace stiction::test {

/// A^-1 B by elimination with pivots.
Eigen::MatrixXd solve_dense(const Eigen::MatrixXd& A, const Eigen::MatrixXd& B);
/// A^-1 B of a symmetric A >= 0, by LDL^T with pivots.
Eigen::MatrixXd solve_semidefinite(const Eigen::MatrixXd& A, const Eigen::MatrixXd& B);
/// Of a symmetric matrix, by symmetric_eigen(), which has a test of its own.
double largest_eigenvalue(const Eigen::MatrixXd& A);
Eigen::MatrixXd multiply(const Eigen::MatrixXd& A, const Eigen::MatrixXd& B);
/// A A^T
Eigen::MatrixXd gram(const Eigen::MatrixXd& A);

}  // namespace stiction::test
