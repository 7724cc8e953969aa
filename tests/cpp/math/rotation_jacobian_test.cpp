#include "math/rotation_jacobian.hpp"

#include "support/random.hpp"
#include <Eigen/Core>
#include <boost/test/unit_test.hpp>

#include <cmath>

using namespace stiction;
using namespace stiction::test;

namespace {

using Matrix = Eigen::Matrix<long double, 3, 3>;

/// sum_k (-[x])^k / (k + shift)!: J_r(x) with shift 1, exp(-x) with shift 0.
Matrix series(const Vec3d& x, int shift) {
  Matrix X, term = Matrix::Identity(), sum = term;
  X << 0, -x.z, x.y, x.z, 0, -x.x, -x.y, x.x, 0;
  for (int k = 1; k < 120; ++k) {
    term = (term * -X).eval() / static_cast<long double>(k + shift);
    sum += term;
  }
  return sum;
}

double difference(const Mat3d& A, const Matrix& B) {
  double most = 0.0;
  for (int k = 0; k < 9; ++k)
    most = std::max(most, std::abs(A.column(k / 3)[k % 3] - static_cast<double>(B(k % 3, k / 3))));
  return most;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(rotation_jacobian_test)

/// On both sides of the switch to a series at 0.01 rad, and through turns.
BOOST_AUTO_TEST_CASE(agrees_with_its_series) {
  Rng rng(1);
  for (int k = 0; k < 400; ++k) {
    const double angle = k % 4 ? std::pow(10.0, rng.uniform(-9.0, 1.0)) : rng.uniform(0.009, 0.011);
    const Vec3d x = unit_vector(rng) * angle;
    const double bar = 1e-15 * (2.0 + std::exp(angle) * 1e-3);  // of the series' own rounding
    BOOST_TEST(difference(right_jacobian(x), series(x, 1)) < bar, angle);
    BOOST_TEST(difference(turn_matrix(x), series(x * -1.0, 0)) < bar, angle);
  }
  BOOST_TEST(difference(right_jacobian(Vec3d{0, 0, 0}), Matrix::Identity()) == 0.0);
}

BOOST_AUTO_TEST_SUITE_END()
