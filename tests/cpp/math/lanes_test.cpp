#include "stiction/math/lanes.hpp"

#include "support/random.hpp"
#include <boost/test/unit_test.hpp>

#include <cmath>

using namespace stiction;
using namespace stiction::test;

BOOST_AUTO_TEST_SUITE(lanes_test)

// sincos is within 2 ulp of libm over the range joints live in.
BOOST_AUTO_TEST_CASE(sincos_is_accurate) {
  Rng rng(5);
  for (int i = 0; i < 200000; ++i) {
    const double x = rng.uniform(-1.0, 1.0) * std::pow(10.0, rng.uniform(-8.0, 4.0));
    double s, c;
    stiction::sincos(x, s, c);
    BOOST_REQUIRE_SMALL(s - std::sin(x), 2.3e-16 * 2);
    BOOST_REQUIRE_SMALL(c - std::cos(x), 2.3e-16 * 2);
  }
}

// Masks of two lanes, all four of them, and roots by lane.
BOOST_AUTO_TEST_CASE(masks_and_roots_go_by_lane) {
  for (int bits = 0; bits < 4; ++bits) {
    Pack<2> x(4.0), y(1.0);
    for (int i = 0; i < 2; ++i) y.v[i] = bits >> i & 1 ? 9.0 : 1.0;
    const Mask<Pack<2>> less = x < y;
    BOOST_TEST(lane_bits(less) == bits);
    BOOST_TEST(any(less) == (bits != 0));
    BOOST_TEST(all(less) == (bits == 3));
    BOOST_TEST(lane_bits(negated(less)) == 3 - bits);
    for (int i = 0; i < 2; ++i) BOOST_TEST(square_root(y).v[i] == (bits >> i & 1 ? 3.0 : 1.0));
  }
  BOOST_TEST(negated(true & true) == false);
}

BOOST_AUTO_TEST_SUITE_END()
