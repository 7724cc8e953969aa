#include "math/phi_functions.hpp"

#include "math/elementary.hpp"
#include "support/random.hpp"
#include "support/test_data.hpp"
#include <boost/test/unit_test.hpp>

#include <cmath>
#include <fstream>
#include <limits>
#include <sstream>
#include <string>
#include <vector>

using namespace stiction;
using stiction::test::Rng;

namespace {

struct Case {
  double c, k, t, value[6], envelope[6];
};

/// Made by tests/data/oscillator_functions.py with mpmath.
std::vector<Case> stored_cases() {
  std::ifstream file(test::test_data("oscillator_functions.csv"));
  std::vector<Case> cases;
  for (std::string line; std::getline(file, line);) {
    std::istringstream cells(line);
    double x[15];
    for (double& number : x) {
      std::string cell;
      std::getline(cells, cell, ',');
      number = std::strtod(cell.c_str(), nullptr);
    }
    Case one{x[0], x[1], x[2], {}, {}};
    std::copy(x + 3, x + 9, one.value);
    std::copy(x + 9, x + 15, one.envelope);
    cases.push_back(one);
  }
  return cases;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(phi_functions_test)

BOOST_AUTO_TEST_CASE(exponential_is_the_c_librarys_within_two_ulp) {
  Rng rng(3);
  for (int i = 0; i < 200000; ++i) {
    const double x = i % 2 ? rng.uniform(-700.0, 700.0) : rng.uniform(-1.0, 1.0), y = std::exp(x);
    BOOST_REQUIRE_LE(std::abs(exponential(x) - y), 2.0 * (std::nextafter(y, 1e308) - y));
  }
  BOOST_TEST(exponential(0.0) == 1.0);
  BOOST_TEST(exponential(-800.0) == 0.0);
  BOOST_TEST(exponential(800.0) == std::numeric_limits<double>::infinity());
  BOOST_TEST(std::isnan(exponential(std::nan(""))));
}

BOOST_AUTO_TEST_CASE(every_regime_matches_mpmath) {
  const std::vector<Case> cases = stored_cases();
  BOOST_TEST_REQUIRE(cases.size() > 500u);
  double worst[6] = {};
  for (const Case& one : cases) {
    const OscillatorFunctions f = oscillator_functions(one.c, one.k, one.t);
    const double got[6] = {f.rate, f.S[0], f.S[1], f.S[2], f.S[3], f.S[4]};
    const double phase = std::sqrt(one.k) * one.t * std::numeric_limits<double>::epsilon();
    for (int j = 0; j < 6; ++j) {
      const double scale = std::max(std::abs(one.value[j]), one.envelope[j]);
      // What decays below 1e-200 has no digits to speak of.
      const double error = std::abs(got[j] - one.value[j]) / std::max(scale, 1e-200);
      worst[j] = std::max(worst[j], error - phase);
      BOOST_TEST(error <= 1e-12 + phase,
                 "S" << j - 1 << " of c " << one.c << " k " << one.k << " t " << one.t << ": "
                     << got[j] << " for " << one.value[j] << ", error " << error);
    }
  }
  BOOST_TEST_MESSAGE("worst errors " << worst[0] << ' ' << worst[1] << ' ' << worst[2] << ' '
                                     << worst[3] << ' ' << worst[4] << ' ' << worst[5]);
}

// Oscillators of one regime and of several beside each other, in groups of four.
BOOST_AUTO_TEST_CASE(several_oscillators_are_as_many_single_ones) {
  Rng rng(6);
  for (int i = 0; i < 2000; ++i) {
    const int count = 4 * (1 + i % 3);
    const double t = std::pow(10.0, rng.uniform(-4.0, 0.5)), widest = i % 2 ? 0.3 : 3.0;
    std::vector<double> c(count), k(count), out(6 * count);
    for (int m = 0; m < count; ++m) {
      const double w = std::pow(10.0, rng.uniform(-2.0, widest)) / t;
      c[m] = m % 5 == 0 ? 0.0 : 2.0 * w * std::pow(10.0, rng.uniform(-3.0, 1.0));
      k[m] = m % 7 == 0 ? 0.0 : w * w;
    }
    oscillator_functions(c.data(), k.data(), t, count, out.data());
    for (int m = 0; m < count; ++m) {
      const OscillatorFunctions f = oscillator_functions(c[m], k[m], t);
      BOOST_REQUIRE_SMALL(out[m] - f.rate, 1e-15);
      for (int j = 0; j < 5; ++j)
        BOOST_REQUIRE_SMALL((out[(j + 1) * count + m] - f.S[j]) / std::pow(t, j + 1), 1e-15);
    }
  }
}

// The equation itself, s'' by the equation's own first derivative, and S_j' = S_(j-1) as the sum
// rule over two half steps, for random coefficients of every size.
BOOST_AUTO_TEST_CASE(two_half_steps_are_one_step) {
  Rng rng(5);
  for (int i = 0; i < 20000; ++i) {
    const double t = std::pow(10.0, rng.uniform(-4.0, 0.5));
    const double w = std::pow(10.0, rng.uniform(-2.0, 3.0)) / t;
    const double c = i % 5 == 0 ? 0.0 : 2.0 * w * std::pow(10.0, rng.uniform(-3.0, 2.0));
    const double k = i % 7 == 0 ? 0.0 : w * w;
    const OscillatorFunctions f = oscillator_functions(c, k, 0.5 * t),
                              g = oscillator_functions(c, k, t);
    const double u = 0.5 * t, s = f.S[0], rounding = 1e-12 * (1.0 + w * t);
    BOOST_REQUIRE_SMALL(g.rate - (f.rate * f.rate - k * s * s),
                        rounding * (f.rate * f.rate + k * s * s + std::abs(g.rate)));
    double power[5] = {1.0, u, u * u / 2.0, u * u * u / 6.0, u * u * u * u / 24.0};
    for (int j = 1; j < 5; ++j) {
      double sum = s * (f.S[j - 1] + c * f.S[j]) + f.rate * f.S[j];
      double size = std::abs(s) * (std::abs(f.S[j - 1]) + c * f.S[j]) + std::abs(f.rate) * f.S[j];
      for (int m = 1; m <= j; ++m) {
        sum += f.S[m] * power[j - m];
        size += f.S[m] * power[j - m];
      }
      BOOST_REQUIRE_SMALL((g.S[j] - sum) / size, rounding);
    }
    // s'' + c s' + k s = 0, integrated one to four times.
    BOOST_REQUIRE_SMALL(g.rate + c * g.S[0] + k * g.S[1] - 1.0, rounding);
    for (int j = 2; j < 5; ++j) {
      const double whole = std::pow(t, j - 1) / std::tgamma(j);
      BOOST_REQUIRE_SMALL((g.S[j - 2] + c * g.S[j - 1] + k * g.S[j]) / whole - 1.0, rounding);
    }
  }
}

BOOST_AUTO_TEST_CASE(derivative_of_each_integral_is_the_one_before) {
  Rng rng(6);
  for (int i = 0; i < 2000; ++i) {
    const double t = rng.uniform(0.5, 2.0), w = std::pow(10.0, rng.uniform(-1.0, 1.3));
    const double c = 2.0 * w * rng.uniform(0.0, 2.0), step = 1e-3 / (1.0 + w + c);
    OscillatorFunctions f[5];
    for (int m = 0; m < 5; ++m) f[m] = oscillator_functions(c, w * w, t + (m - 2) * step);
    for (int j = 0; j < 5; ++j) {  // fourth-order central difference
      const double slope =
          (f[0].S[j] - 8.0 * f[1].S[j] + 8.0 * f[3].S[j] - f[4].S[j]) / (12.0 * step);
      const double expected = j == 0 ? f[2].rate : f[2].S[j - 1];
      BOOST_REQUIRE_SMALL(slope - expected, 1e-8 * (1.0 + std::abs(expected)));
    }
  }
}

BOOST_AUTO_TEST_CASE(free_motion_and_rest_are_exact) {
  const OscillatorFunctions f = oscillator_functions(0.0, 0.0, 2.0);
  BOOST_TEST(f.rate == 1.0);
  const double expected[5] = {2.0, 2.0, 8.0 / 6.0, 16.0 / 24.0, 32.0 / 120.0};
  for (int j = 0; j < 5; ++j)
    BOOST_TEST(f.S[j] == expected[j], boost::test_tools::tolerance(1e-15));
  const OscillatorFunctions g = oscillator_functions(3.0, 5.0, 0.0);
  BOOST_TEST(g.rate == 1.0);
  for (const double S : g.S) BOOST_TEST(S == 0.0);
}

BOOST_AUTO_TEST_SUITE_END()
