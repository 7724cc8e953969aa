#include "math/matrix_exponential.hpp"

#include "support/allocation_guard.hpp"
#include "support/quad_exponential.hpp"
#include "support/random.hpp"
#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <cmath>
#include <vector>

using namespace stiction;
using stiction::test::quad_exponential;
using stiction::test::Rng;

namespace {

std::vector<double> random_matrix(Rng& rng, int n, double size) {
  std::vector<double> A(n * n);
  for (double& a : A) a = size * rng.uniform(-1.0, 1.0) / n;
  return A;
}

std::vector<double> identity(int n) {
  std::vector<double> X(n * n, 0.0);
  for (int i = 0; i < n; ++i) X[i * n + i] = 1.0;
  return X;
}

double largest(const std::vector<double>& a) {
  double m = 0.0;
  for (const double x : a) m = std::max(m, std::abs(x));
  return m;
}

double difference(const std::vector<double>& a, const std::vector<double>& b) {
  double m = 0.0;
  for (std::size_t i = 0; i < a.size(); ++i) m = std::max(m, std::abs(a[i] - b[i]));
  return m / largest(b);
}

}  // namespace

BOOST_AUTO_TEST_SUITE(matrix_exponential_test)

// Every order of approximation and every size of tile, against 34 digits.
BOOST_AUTO_TEST_CASE(every_norm_and_size_matches_quadruple_precision) {
  Rng rng(1);
  MatrixExponential exponential;
  for (int n = 1; n <= 34; ++n) {
    for (const double size : {1e-3, 0.1, 0.8, 1.8, 5.0, 20.0, 60.0}) {
      const std::vector<double> A = random_matrix(rng, n, size);
      const std::vector<double> expected = quad_exponential(A, n);
      for (const bool balancing : {false, true}) {
        std::vector<double> X = identity(n);
        exponential.apply(A.data(), n, X.data(), n, {-1, balancing});
        BOOST_TEST(difference(X, expected) <= 1e-14 * (1.0 + size) * n);
        std::vector<double> column(n, 1.0), sum(n, 0.0);
        for (int i = 0; i < n * n; ++i) sum[i / n] += expected[i];
        exponential.apply(A.data(), n, column.data(), 1, {-1, balancing});
        BOOST_TEST(difference(column, sum) <= 1e-14 * (1.0 + size) * n * n);
      }
    }
  }
}

// (1,1) (2,2) (3,3) (5,5) (7,7): the error of [m/m] is A^(2m+1) (m!)^2 / ((2m)! (2m+1)!).
BOOST_AUTO_TEST_CASE(capped_orders_have_their_error_and_their_number_of_products) {
  Rng rng(2);
  MatrixExponential exponential;
  const int degrees[] = {1, 2, 3, 5, 7}, n = 6;
  for (int cap = 0; cap <= 4; ++cap) {
    const int m = degrees[cap];
    const std::vector<double> A = random_matrix(rng, n, 4.0);
    double error[2];
    for (int half = 0; half < 2; ++half) {
      std::vector<double> B = A, X = identity(n);
      const double scale = half ? 0.5 : 1.0;
      for (double& b : B) b *= scale;
      exponential.apply(B.data(), n, X.data(), n, {cap, true});
      BOOST_TEST(exponential.squarings() == 0);
      error[half] = difference(X, quad_exponential(B, n));
      if (!half) BOOST_TEST(exponential.products() == cap);
    }
    if (cap < 4) {
      BOOST_TEST(std::log2(error[0] / error[1]) >= 2 * m);
    } else {
      BOOST_TEST(error[1] <= 1e-13);
    }
  }
}

// Powers of two in a diagonal similarity are taken out exactly: no squaring is left to do.
BOOST_AUTO_TEST_CASE(balancing_undoes_a_bad_choice_of_units) {
  Rng rng(3);
  MatrixExponential exponential;
  const int n = 9;
  std::vector<double> A = random_matrix(rng, n, 1.0), B = A;
  for (int i = 0; i < n; ++i) {
    for (int j = 0; j < n; ++j) B[i * n + j] = std::ldexp(A[i * n + j], 4 * (i % 5) - 4 * (j % 5));
  }
  std::vector<double> X = identity(n), Y = identity(n);
  exponential.apply(A.data(), n, X.data(), n);
  exponential.apply(B.data(), n, Y.data(), n, {-1, true});
  BOOST_TEST(exponential.squarings() == 0);
  for (int i = 0; i < n; ++i) {
    for (int j = 0; j < n; ++j)
      BOOST_TEST(std::abs(std::ldexp(Y[i * n + j], 4 * (j % 5) - 4 * (i % 5)) - X[i * n + j]) <=
                 1e-14);
  }
  exponential.apply(B.data(), n, Y.data(), n, {-1, false});
  BOOST_TEST(exponential.squarings() > 5);
}

BOOST_AUTO_TEST_CASE(a_warm_call_allocates_nothing_and_repeats_its_bits) {
  Rng rng(4);
  MatrixExponential exponential;
  const std::vector<double> big = random_matrix(rng, 150, 30.0),
                            small = random_matrix(rng, 27, 9.0);
  std::vector<double> X(150 * 3, 1.0), Y(27 * 3, 1.0), first;
  exponential.apply(big.data(), 150, X.data(), 3);
  exponential.apply(small.data(), 27, Y.data(), 3);
  first = Y;
  std::fill(X.begin(), X.end(), 1.0);
  std::fill(Y.begin(), Y.end(), 1.0);
  const long before = stiction::test::allocation_count();
  exponential.apply(big.data(), 150, X.data(), 3);
  exponential.apply(small.data(), 27, Y.data(), 3);
  BOOST_TEST(stiction::test::allocation_count() - before == 0);
  BOOST_TEST(Y == first);
}

BOOST_AUTO_TEST_CASE(settings_refuse_and_what_is_not_finite_stays_visible) {
  BOOST_CHECK_THROW(MatrixExponentialSettings({-2, true}).validate(), std::invalid_argument);
  MatrixExponential exponential;
  for (const double bad : {std::nan(""), HUGE_VAL}) {
    double A[4] = {0.0, bad, 1.0, 0.0}, X[2] = {1.0, 1.0};
    exponential.apply(A, 2, X, 1);
    BOOST_TEST(!(std::isfinite(X[0]) && std::isfinite(X[1])));
  }
}

BOOST_AUTO_TEST_SUITE_END()
