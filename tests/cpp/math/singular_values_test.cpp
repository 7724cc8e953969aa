#include "math/singular_values.hpp"

#include "support/dense.hpp"
#include "support/random.hpp"
#include <Eigen/Core>
#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <cmath>
#include <limits>

using namespace stiction;
using Eigen::MatrixXd;
using Eigen::VectorXd;
using stiction::test::gram;
using stiction::test::multiply;
using stiction::test::Rng;

namespace {

struct Parts {
  MatrixXd US, V;
  VectorXd values;
};
Parts parts_of(const MatrixXd& A) {
  const int m = static_cast<int>(A.rows()), n = static_cast<int>(A.cols());
  Parts out{A, MatrixXd(n, n), VectorXd(n)};
  BOOST_REQUIRE(singular_values(out.US.data(), m, n, out.values.data(), out.V.data()));
  VectorXd alone(n);
  MatrixXd copy = A;
  BOOST_REQUIRE(singular_values(copy.data(), m, n, alone.data()));
  BOOST_TEST((alone == out.values));
  return out;
}

/// A = U S V^T with V orthogonal and columns of U S at right angles to rounding: then `values` are
/// the singular values to rounding of the largest (Weyl).
void check(const MatrixXd& A) {
  const Parts p = parts_of(A);
  const int n = static_cast<int>(A.cols());
  const double rounding = 1e-14 * n, largest = std::max(A.norm(), 1e-300);
  BOOST_TEST((gram(p.V.transpose()) - MatrixXd::Identity(n, n)).norm() <= rounding);
  BOOST_TEST((multiply(p.US, p.V.transpose()) - A).norm() <= rounding * largest);
  const MatrixXd squares = gram(p.US.transpose());
  const MatrixXd expected = p.values.cwiseAbs2().asDiagonal();
  BOOST_TEST((squares - expected).norm() <= rounding * largest * largest);
  BOOST_TEST(std::is_sorted(p.values.begin(), p.values.end(), std::greater<>()));
}

}  // namespace

BOOST_AUTO_TEST_SUITE(singular_values_test)

BOOST_AUTO_TEST_CASE(random_matrices_of_every_size_and_rank) {
  Rng rng(1);
  const auto random = [&] { return rng.uniform(-1.0, 1.0); };
  for (int n = 1; n <= 40; ++n) {
    for (const int rank : {1, (n + 1) / 2, n}) {
      const MatrixXd A = MatrixXd::NullaryExpr(n, rank, random),
                     B = MatrixXd::NullaryExpr(rank, n, random);
      const MatrixXd AB = multiply(A, B);
      check(1e3 * AB);
      const VectorXd values = parts_of(AB).values;
      BOOST_TEST(values[rank - 1] > 1e-8 * values[0]);
      if (rank < n) BOOST_TEST(values[rank] < 1e-14 * n * values[0]);
    }
    check(MatrixXd::NullaryExpr(2 * n + 1, n, random));
    check(MatrixXd::NullaryExpr((n + 1) / 2, n, random));  // fewer rows than columns
    check(MatrixXd::Zero(n, n));
  }
}

// Values known beforehand, from 1 to 1e-12: Q1 diag(s) Q2 with products of reflections.
BOOST_AUTO_TEST_CASE(known_values) {
  Rng rng(2);
  for (const int n : {3, 8, 17, 60}) {
    VectorXd s(n);
    for (int i = 0; i < n; ++i) s[i] = std::pow(10.0, -12.0 * i / (n - 1));
    MatrixXd A = s.asDiagonal();
    for (int k = 0; k < n; ++k) {
      for (const bool left : {true, false}) {
        const VectorXd v =
            VectorXd::NullaryExpr(n, [&] { return rng.uniform(-1.0, 1.0); }).normalized();
        if (left) {
          A -= 2.0 * v * (v.transpose() * A).eval();
        } else {
          A -= (A * v).eval() * (2.0 * v.transpose());
        }
      }
    }
    check(A);
    BOOST_TEST((parts_of(A).values - s).cwiseAbs().maxCoeff() < 1e-14 * n);
  }
}

BOOST_AUTO_TEST_CASE(diagonal_repeated_and_graded_matrices) {
  for (int n = 1; n <= 24; ++n) {
    check(MatrixXd::Identity(n, n));
    VectorXd graded(n);
    for (int i = 0; i < n; ++i) graded[i] = std::pow(10.0, -i);
    check(graded.asDiagonal());
    // Each to its own last digits.
    BOOST_TEST((parts_of(graded.asDiagonal()).values - graded).cwiseQuotient(graded).norm() <
               1e-14);
    check(MatrixXd::Ones(n, n) + MatrixXd(graded.asDiagonal()));
    check(MatrixXd::Ones(n, n));
  }
}

BOOST_AUTO_TEST_CASE(what_is_not_finite_is_said) {
  for (int n = 1; n <= 9; ++n) {
    for (const double bad : {std::numeric_limits<double>::quiet_NaN(), HUGE_VAL, 1e200}) {
      MatrixXd A = MatrixXd::Identity(n, n);
      A(n / 2, 0) = bad;
      VectorXd values(n);
      BOOST_TEST(!singular_values(A.data(), n, n, values.data()));
    }
  }
}

BOOST_AUTO_TEST_SUITE_END()
