#include "math/factor_symmetric.hpp"

#include "stiction/math/constants.hpp"

#include "support/dense.hpp"
#include "support/random.hpp"
#include <Eigen/Core>
#include <boost/test/unit_test.hpp>

using namespace stiction;
using Eigen::MatrixXd;
using Eigen::VectorXd;
using stiction::test::gram;
using stiction::test::Rng;
using stiction::test::solve_semidefinite;
using RowMajor = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

namespace {

constexpr double kLeft = 1e300;  // left of the diagonal: neither read nor written

RowMajor padded(const MatrixXd& A) {
  const int n = static_cast<int>(A.rows());
  RowMajor M = RowMajor::Zero(n, stiction::padded(n));
  M.leftCols(n) = A;
  M.leftCols(n).triangularView<Eigen::StrictlyLower>().setConstant(kLeft);
  return M;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(factor_symmetric_test)

// One factor, several right-hand sides, every size up to and beyond the groups of rows and columns.
BOOST_AUTO_TEST_CASE(many_right_hand_sides_match_eigen) {
  Rng rng(1);
  const auto random = [&] { return rng.uniform(-1.0, 1.0); };
  for (int n = 1; n < 70; ++n) {
    const MatrixXd B = MatrixXd::NullaryExpr(n, n, random);
    const MatrixXd A = gram(B) + 0.1 * MatrixXd::Identity(n, n);
    RowMajor M = padded(A);
    BOOST_REQUIRE(factor_symmetric(M.data(), n, stiction::padded(n)));
    for (int k = 0; k < 3; ++k) {
      VectorXd b = VectorXd::NullaryExpr(n, random);
      const VectorXd expected = solve_semidefinite(A, b);
      substitute_symmetric(M.data(), n, stiction::padded(n), b.data());
      BOOST_TEST((b - expected).norm() <= 1e-12 * A.norm() * expected.norm() / 0.1);
    }
    for (int i = 0; i < n; ++i) {
      for (int j = 0; j < i; ++j) BOOST_TEST(M(i, j) == kLeft);
    }
  }
}

BOOST_AUTO_TEST_CASE(indefinite_and_not_finite_matrices_are_refused) {
  for (int n = 1; n < 20; ++n) {
    for (int bad = 0; bad < n; ++bad) {
      for (const double pivot : {0.0, -1.0, std::numeric_limits<double>::quiet_NaN()}) {
        MatrixXd A = MatrixXd::Identity(n, n);
        A(bad, bad) = pivot;
        RowMajor M = padded(A);
        BOOST_TEST(!factor_symmetric(M.data(), n, stiction::padded(n)));
      }
    }
  }
}

BOOST_AUTO_TEST_SUITE_END()
