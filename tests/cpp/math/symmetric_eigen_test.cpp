#define BOOST_TEST_MODULE symmetric_eigen
#include "stiction/math/symmetric_eigen.hpp"

#include "support/dense.hpp"
#include "support/random.hpp"
#include <Eigen/Core>
#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <limits>
#include <vector>

using namespace stiction;
using Eigen::MatrixXd;
using Eigen::VectorXd;
using stiction::test::gram;
using stiction::test::multiply;
using stiction::test::Rng;

namespace {

void check(const MatrixXd& A) {
  const int n = static_cast<int>(A.rows());
  MatrixXd copy = A, vectors(n, n);
  VectorXd values(n), scratch(n);
  BOOST_REQUIRE(symmetric_eigen(copy.data(), n, values.data(), vectors.data(), scratch.data()));
  // `vectors` holds eigenvectors by rows, Eigen stores by columns: it is V itself. With V
  // orthogonal and V diag(w) V^T = A to rounding, w are all the eigenvalues to rounding (Weyl).
  const double rounding = 1e-14 * n * std::max(A.norm(), 1e-300);
  BOOST_TEST((gram(vectors.transpose()) - MatrixXd::Identity(n, n)).norm() <= 1e-14 * n);
  BOOST_TEST((multiply(vectors * values.asDiagonal(), vectors.transpose()) - A).norm() <= rounding);
}

}  // namespace

BOOST_AUTO_TEST_CASE(random_matrices_of_every_size_and_rank) {
  Rng rng(1);
  const auto random = [&] { return rng.uniform(-1.0, 1.0); };
  for (int n = 1; n <= 40; ++n) {
    for (const int rank : {0, 1, n / 2, n, 2 * n}) {
      const MatrixXd B = MatrixXd::NullaryExpr(n, std::max(rank, 1), random);
      check(rank == 0 ? MatrixXd(MatrixXd::Zero(n, n)) : MatrixXd(1e5 * gram(B)));
    }
    const MatrixXd B = MatrixXd::NullaryExpr(n, n, random);
    check(B + B.transpose());
  }
}

BOOST_AUTO_TEST_CASE(diagonal_repeated_and_graded_matrices) {
  for (int n = 1; n <= 24; ++n) {
    check(MatrixXd::Identity(n, n));
    VectorXd graded(n);
    for (int i = 0; i < n; ++i) graded[i] = std::pow(10.0, -i);
    check(graded.asDiagonal());
    check(MatrixXd::Ones(n, n) + MatrixXd(graded.asDiagonal()));
  }
}

BOOST_AUTO_TEST_CASE(what_is_not_finite_is_said) {
  for (int n = 1; n <= 9; ++n) {
    for (const double bad : {std::numeric_limits<double>::quiet_NaN(), HUGE_VAL}) {
      MatrixXd A = MatrixXd::Identity(n, n), vectors(n, n);
      A(n / 2, 0) = A(0, n / 2) = bad;
      VectorXd values(n), scratch(n);
      BOOST_TEST(!symmetric_eigen(A.data(), n, values.data(), vectors.data(), scratch.data()));
    }
  }
}
