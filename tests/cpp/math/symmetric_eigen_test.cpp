#include "math/symmetric_eigen.hpp"

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
  VectorXd values(n), scratch(7 * n + 24);
  BOOST_REQUIRE(symmetric_eigen(copy.data(), n, values.data(), vectors.data(), scratch.data()));
  // `vectors` holds eigenvectors by rows, Eigen stores by columns: it is V itself. With V
  // orthogonal and V diag(w) V^T = A to rounding, w are all the eigenvalues to rounding (Weyl).
  const double rounding = 1e-14 * n * std::max(A.stableNorm(), 1e-300);
  BOOST_TEST((gram(vectors.transpose()) - MatrixXd::Identity(n, n)).norm() <= 1e-14 * n);
  BOOST_TEST((multiply(vectors * values.asDiagonal(), vectors.transpose()) - A).stableNorm() <=
             rounding);
}

}  // namespace

BOOST_AUTO_TEST_SUITE(symmetric_eigen_test)

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

// Where shifts hit eigenvalues and cosines vanish: paths, whose spectrum is symmetric about zero;
// Wilkinson's pairs of eigenvalues that agree to rounding, singly and glued; blocks; any scale.
BOOST_AUTO_TEST_CASE(tridiagonal_and_clustered_matrices_of_every_scale) {
  Rng rng(2);
  for (int n = 2; n <= 43; ++n) {
    MatrixXd path = MatrixXd::Zero(n, n), wilkinson = path, glued = path, blocks = path;
    for (int i = 0; i < n; ++i) {
      wilkinson(i, i) = std::abs(0.5 * (n - 1) - i);
      glued(i, i) = std::abs(5 - i % 11);
      blocks(i, i) = i / 3;
      if (i + 1 == n) break;
      const double sign = rng.uniform(-1.0, 1.0) > 0.0 ? 1.0 : -1.0;
      path(i, i + 1) = path(i + 1, i) = sign;
      wilkinson(i, i + 1) = wilkinson(i + 1, i) = sign;
      glued(i, i + 1) = glued(i + 1, i) = i % 11 == 10 ? 1e-9 : 1.0;
      if (i % 3 < 2) blocks(i, i + 1) = blocks(i + 1, i) = -1e-3;
    }
    for (const double scale : {1e-100, 1e-3, 1.0, 1e100})
      for (const MatrixXd& A : {path, wilkinson, glued, blocks}) check(scale * A);
    // The same for a few legs of a kind on one body: equal blocks and what couples them.
    const MatrixXd leg = MatrixXd::NullaryExpr(3, 3, [&] { return rng.uniform(-1.0, 1.0); });
    const MatrixXd body = MatrixXd::NullaryExpr(n, 6, [&] { return rng.uniform(-1.0, 1.0); });
    MatrixXd legs =
        rng.uniform(0.0, 1.0) > 0.5 ? MatrixXd(MatrixXd::Zero(n, n)) : MatrixXd(1e-7 * gram(body));
    for (int i = 0; i + 2 < n; i += 3) legs.block(i, i, 3, 3) += gram(leg);
    check(1e6 * legs);
  }
}

BOOST_AUTO_TEST_CASE(what_is_not_finite_is_said) {
  for (int n = 1; n <= 9; ++n) {
    for (const double bad : {std::numeric_limits<double>::quiet_NaN(), HUGE_VAL}) {
      MatrixXd A = MatrixXd::Identity(n, n), vectors(n, n);
      A(n / 2, 0) = A(0, n / 2) = bad;
      VectorXd values(n), scratch(7 * n + 24);
      BOOST_TEST(!symmetric_eigen(A.data(), n, values.data(), vectors.data(), scratch.data()));
    }
  }
}

BOOST_AUTO_TEST_SUITE_END()
