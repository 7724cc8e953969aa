#include "math/pivoted_lu.hpp"

#include "math/row_sums.hpp"
#include "support/contact_problems.hpp"
#include "support/dense.hpp"
#include <Eigen/LU>
#include <boost/test/unit_test.hpp>

#include <cmath>
#include <limits>
#include <set>
#include <vector>

using namespace stiction;
using namespace stiction::test;
using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

namespace {

using Rows = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

/// A square matrix of a known rank and its factors.
struct Factored {
  MatrixXd A;
  int rank;
  PivotedLu lu;

  Factored(Rng& rng, bool symmetric) {
    const int n = 1 + rng.below(14);
    rank = rng.below(3) ? n : rng.below(n + 1);
    const MatrixXd left = random_matrix(rng, n, rank);
    A = symmetric ? gram(left) : multiply(left, random_matrix(rng, rank, n));
    if (rank == 0) A.setZero(n, n);
    Eigen::Map<Rows>(lu.resize(n), n, n) = A;
    lu.factor(1e-11, symmetric);
  }
  Index size() const { return A.rows(); }
};

/// Rows of a width and a stride that the lanes ask for.
Rows padded(const MatrixXd& x, Index stride) {
  Rows out = Rows::Constant(x.rows(), stride, 3.0);
  out.leftCols(x.cols()) = x;
  return out;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(pivoted_lu_test)

BOOST_AUTO_TEST_CASE(solves_what_has_a_solution) {
  Rng rng(1);
  int deficient = 0;
  for (int k = 0; k < 600; ++k) {
    Factored f(rng, k % 2);
    const Index n = f.size(), width = 8 * (1 + rng.below(3)), stride = width + 8 * rng.below(2);
    BOOST_REQUIRE(f.lu.rank() == f.rank);
    BOOST_TEST(f.lu.nullity() == n - f.rank);
    deficient += f.rank < n;
    const MatrixXd x = random_matrix(rng, n, width);
    Rows b = padded(multiply(f.A, x), stride), y = Rows::Constant(n, stride, 7.0);
    const MatrixXd asked = b.leftCols(width);
    f.lu.solve(b.data(), stride, width, y.data());
    const MatrixXd found = y.leftCols(width);
    const double size = 1.0 + found.cwiseAbs().maxCoeff();
    BOOST_TEST((multiply(f.A, found) - asked).cwiseAbs().maxCoeff() < 1e-11 * size);
    if (f.rank == n)
      BOOST_TEST((found - solve_dense(f.A, asked)).cwiseAbs().maxCoeff() < 1e-7 * size);
    BOOST_TEST((y.rightCols(stride - width).array() == 7.0).all());
    int zeros = 0;
    for (Index i = 0; i < n; ++i) zeros += (found.row(i).array() == 0.0).all();
    BOOST_TEST(zeros == n - f.rank);
  }
  BOOST_TEST(deficient > 100);
}

/// Nothing where b is in the range of A, else its largest product with the left null vectors.
BOOST_AUTO_TEST_CASE(left_over_is_what_has_no_solution) {
  Rng rng(4);
  int deficient = 0;
  for (int k = 0; k < 400; ++k) {
    Factored f(rng, k % 2);
    const Index n = f.size();
    const VectorXd x = random_matrix(rng, n, 1), other = random_matrix(rng, n, 1);
    VectorXd inside = multiply(f.A, x), outside = other;
    const double size = 1.0 + inside.cwiseAbs().maxCoeff();
    BOOST_TEST(f.lu.left_over(inside.data()) < 1e-11 * size);
    const double left = f.lu.left_over(outside.data());
    if (f.rank == n) BOOST_TEST(left == 0.0);
    if (f.rank == n) continue;
    ++deficient;
    double most = 0.0;
    VectorXd z(n);
    for (int j = 0; j < f.lu.nullity(); ++j) {
      f.lu.left_null_vector(j, z.data());
      most = std::max(most, std::abs(z.dot(other)));
    }
    BOOST_TEST(left > 0.0);
    BOOST_TEST(std::abs(left - most) < 1e-9 * most);
  }
  BOOST_TEST(deficient > 50);
}

/// The basic solution of A^T x = b is the transpose of that of A.
BOOST_AUTO_TEST_CASE(transposed_is_the_transpose) {
  Rng rng(2);
  for (int k = 0; k < 600; ++k) {
    Factored f(rng, k % 2);
    const Index n = f.size(), width = (n + 7) / 8 * 8;
    Rows b = padded(MatrixXd::Identity(n, n), width), inverse(n, width);
    f.lu.solve(b.data(), width, width, inverse.data());
    const VectorXd x = random_vector(rng, n);
    VectorXd z = x;
    f.lu.solve_transposed(z.data());
    const double size = 1.0 + inverse.leftCols(n).cwiseAbs().maxCoeff();
    BOOST_TEST((z - inverse.leftCols(n).transpose() * x).cwiseAbs().maxCoeff() < 1e-13 * n * size);
  }
}

BOOST_AUTO_TEST_CASE(null_vectors_span_the_null_space) {
  Rng rng(3);
  int vectors = 0;
  for (int k = 0; k < 300; ++k) {
    Factored f(rng, k % 2);
    const Index n = f.size();
    std::set<Index> leaders;  // entries that are 1 in one of them and 0 in the others
    MatrixXd N(n, f.lu.nullity());
    for (int j = 0; j < f.lu.nullity(); ++j) f.lu.null_vector(j, N.col(j).data());
    for (Index j = 0; j < N.cols(); ++j) {
      BOOST_TEST((f.A * N.col(j)).norm() < 1e-10 * N.col(j).norm());
      for (Index i = 0; i < n; ++i) {
        if (N(i, j) == 1.0 && N.row(i).cwiseAbs().sum() == 1.0) leaders.insert(i);
      }
    }
    BOOST_TEST(static_cast<Index>(leaders.size()) >= N.cols());
    MatrixXd U(n, N.cols());
    for (int j = 0; j < f.lu.nullity(); ++j) f.lu.left_null_vector(j, U.col(j).data());
    if (U.cols() > 0) {
      BOOST_TEST((U.transpose() * f.A).norm() < 1e-10 * U.norm());
      BOOST_TEST(Eigen::FullPivLU<MatrixXd>(U).rank() == U.cols());
    }
    vectors += f.lu.nullity();
  }
  BOOST_TEST(vectors > 100);
}

BOOST_AUTO_TEST_CASE(pivots_and_threshold) {
  PivotedLu lu;
  for (const bool symmetric : {false, true}) {
    const VectorXd diagonal = (VectorXd(5) << 0.5, 1e-3, 2.0, 1e-12, 0.0).finished();
    Eigen::Map<Rows>(lu.resize(5), 5, 5) = MatrixXd(diagonal.asDiagonal());
    lu.factor(1e-9, symmetric);
    BOOST_TEST(lu.rank() == 3);
    BOOST_TEST(lu.smallest_pivot() == 1e-3);
    lu.resize(3);
    lu.factor(1e-9, symmetric);
    BOOST_TEST(lu.rank() == 0);
    BOOST_TEST(lu.smallest_pivot() == 1.0);
    lu.resize(0);
    lu.factor(1e-9, symmetric);
    BOOST_TEST(lu.rank() == 0);
    Eigen::Map<Rows>(lu.resize(3), 3, 3).setConstant(std::numeric_limits<double>::quiet_NaN());
    lu.factor(1e-9, symmetric);
    BOOST_TEST(lu.rank() == 0);
  }
  // Complete pivoting: rows and columns.
  Eigen::Map<Rows>(lu.resize(2), 2, 2) << 0.125, 0.25, 1.0, 0.5;
  lu.factor(1e-9, false);
  BOOST_TEST(lu.smallest_pivot() == 0.1875);  // 1, then 0.25 - 0.5 * 0.125
}

BOOST_AUTO_TEST_SUITE_END()
