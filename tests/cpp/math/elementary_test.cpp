#include "math/elementary.hpp"

#include "support/random.hpp"
#include <boost/test/unit_test.hpp>

#include <cmath>
#include <limits>

using namespace stiction;
using namespace stiction::test;

namespace {

/// |x - y| in units in the last place of y.
double ulps(double x, double y) {
  const double size = std::abs(y);
  return std::abs(x - y) / (std::nextafter(size, std::numeric_limits<double>::infinity()) - size);
}

}  // namespace

BOOST_AUTO_TEST_SUITE(elementary_test)

BOOST_AUTO_TEST_CASE(agree_with_the_c_library) {
  Rng rng(1);
  const auto wide = [&](double decades) {
    return (rng.below(2) ? 1.0 : -1.0) * std::pow(10.0, rng.uniform(-decades, decades));
  };
  for (int k = 0; k < 100000; ++k) {
    const double x = wide(100.0), y = wide(100.0), a = wide(3.0), b = wide(3.0);
    BOOST_TEST(ulps(arc_tangent(y, x), std::atan2(y, x)) <= 4.0, y << " / " << x);
    BOOST_TEST(ulps(arc_tangent(a, b), std::atan2(a, b)) <= 4.0, a << " / " << b);
    const double c = rng.uniform(-1.0, 1.0), near = 1.0 - std::pow(10.0, rng.uniform(-16.0, 0.0));
    BOOST_TEST(ulps(arc_cosine(c), std::acos(c)) <= 4.0, c);
    BOOST_TEST(ulps(arc_cosine(near), std::acos(near)) <= 4.0, near);
    const double far = std::abs(wide(300.0)), one = rng.uniform(0.5, 2.0);
    BOOST_TEST(ulps(logarithm(far), std::log(far)) <= 2.0, far);
    BOOST_TEST(ulps(logarithm(one), std::log(one)) <= 2.0, one);
    const double p = rng.uniform(-1.0, 1.0), base = std::abs(wide(20.0));
    BOOST_TEST(std::abs(power(base, p) / std::pow(base, p) - 1.0) <= 1e-13, base << " ^ " << p);
  }
}

BOOST_AUTO_TEST_CASE(keep_signs_and_axes) {
  for (const double y : {0.0, -0.0, 1.0, -1.0}) {
    for (const double x : {0.0, -0.0, 1.0, -1.0}) {
      const double angle = arc_tangent(y, x), known = std::atan2(y, x);
      BOOST_TEST(ulps(angle, known) <= 1.0, y << " / " << x);
      BOOST_TEST(std::signbit(angle) == std::signbit(known), y << " / " << x);
    }
  }
  BOOST_TEST(arc_cosine(1.0) == 0.0);
  BOOST_TEST(arc_cosine(-1.0) == std::acos(-1.0));
  BOOST_TEST(logarithm(1.0) == 0.0);
  BOOST_TEST(power(3.0, 0.0) == 1.0);
}

BOOST_AUTO_TEST_SUITE_END()
