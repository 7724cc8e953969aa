#include "math/solve_linear.hpp"

#include "stiction/math/constants.hpp"

#include "support/dense.hpp"
#include "support/random.hpp"
#include <Eigen/Core>
#include <boost/test/unit_test.hpp>

#include <limits>
#include <vector>

using namespace stiction;
using Eigen::MatrixXd;
using Eigen::VectorXd;
using stiction::test::Rng;
using stiction::test::solve_semidefinite;

namespace {

using RowMajor = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

/// A profile that grows by random steps: blocks, arrows and full matrices among them.
std::vector<int> random_profile(Rng& rng, int n) {
  std::vector<int> end(n);
  int reach = 0;
  for (int k = 0; k < n; ++k) {
    reach = std::max(reach, k + 1);
    if (rng.below(3) == 0) reach = std::min(n, reach + rng.below(12));
    end[k] = reach;
  }
  return end;
}

/// Random entries within the symmetric profile.
MatrixXd random_matrix(Rng& rng, const std::vector<int>& end) {
  const int n = static_cast<int>(end.size());
  MatrixXd A = MatrixXd::Zero(n, n);
  for (int k = 0; k < n; ++k) {
    for (int j = k; j < end[k]; ++j) {
      A(k, j) = rng.uniform(-1.0, 1.0);
      A(j, k) = rng.uniform(-1.0, 1.0);
    }
  }
  return A;
}

/// Not a number wherever the solvers must not look.
RowMajor unread(int n) {
  return RowMajor::Constant(n, padded(n), std::numeric_limits<double>::quiet_NaN());
}

}  // namespace

BOOST_AUTO_TEST_SUITE(solve_linear_test)

BOOST_AUTO_TEST_CASE(symmetric_matches_eigen) {
  Rng rng(1);
  for (int n = 1; n < 70; ++n) {
    const std::vector<int> end = random_profile(rng, n);
    MatrixXd A = random_matrix(rng, end);
    A = (A + A.transpose()).eval();
    A.diagonal().array() += 3.0 * n;
    RowMajor M = unread(n);  // nor what lies left of the diagonal
    for (int k = 0; k < n; ++k) {
      M.row(k).segment(k, used_columns(end.data(), n, k) - k).setZero();
      M.row(k).segment(k, end[k] - k) = A.row(k).segment(k, end[k] - k);
    }
    VectorXd b = VectorXd::NullaryExpr(n, [&] { return rng.uniform(-1.0, 1.0); });
    const VectorXd expected = solve_semidefinite(A, b);
    BOOST_REQUIRE(solve_symmetric(M.data(), n, padded(n), end.data(), b.data()));
    BOOST_TEST((b - expected).norm() <= 1e-12 * expected.norm());
  }
}

BOOST_AUTO_TEST_CASE(general_matches_eigen) {
  Rng rng(2);
  for (int n = 1; n < 70; ++n) {
    const std::vector<int> end = random_profile(rng, n);
    const MatrixXd A = random_matrix(rng, end);  // needs pivots
    RowMajor M = unread(n);
    for (int k = 0, first = 0; k < n; ++k) {
      while (end[first] <= k) ++first;
      M.row(k).segment(first, used_columns(end.data(), n, k) - first).setZero();
      M.row(k).segment(first, end[k] - first) = A.row(k).segment(first, end[k] - first);
    }
    VectorXd b = VectorXd::NullaryExpr(n, [&] { return rng.uniform(-1.0, 1.0); });
    const VectorXd copy = b;
    BOOST_REQUIRE(solve_linear(M.data(), n, padded(n), end.data(), b.data()));
    BOOST_TEST((A * b - copy).norm() <= 1e-10 * (1.0 + b.norm()));
  }
}

BOOST_AUTO_TEST_CASE(singular_matrices_are_refused) {
  const int end[] = {2, 2};
  double zero[16] = {}, b[2] = {1, 1};
  BOOST_TEST(!solve_linear(zero, 2, 2, end, b));
  double negative[16] = {1, 2, 0, 0, 0, 0, 0, 0, 0, 1};  // [[1, 2], [2, 1]]
  BOOST_TEST(!solve_symmetric(negative, 2, 8, end, b));
}

BOOST_AUTO_TEST_SUITE_END()
