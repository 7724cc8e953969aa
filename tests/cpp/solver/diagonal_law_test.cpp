#include "solver/ncp_newton/diagonal_law.hpp"

#include "support/random.hpp"
#include <boost/test/unit_test.hpp>

#include <array>
#include <cmath>

using namespace stiction;
using stiction::test::Rng;

namespace {

struct Sample {
  ConstraintSet set;
  double W[6], p[6];
  int dim;
};

Sample sample(Rng& rng) {
  Sample s;
  switch (rng.below(5)) {
    case 0:
      s.set = ConstraintSet::non_negative();
      break;
    case 1: {
      const double l = rng.uniform(-1.0, 0.2);
      s.set = ConstraintSet::box(l, l + rng.uniform(0.0, 1.0));
      break;
    }
    case 2:
      s.set = ConstraintSet::free(3);
      break;
    default: {
      const double mu = rng.below(6) == 0 ? 0.0 : rng.uniform(0.05, 2.0);
      s.set = ConstraintSet::cone({std::array{3, 4, 6}[rng.below(3)], {mu, mu, mu, mu, mu}});
    }
  }
  s.dim = s.set.dim;
  std::fill(s.W, s.W + 6, std::pow(10.0, rng.uniform(-2.0, 2.0)));
  if (s.set.kind != SetKind::kFree || s.dim == 3)
    s.W[s.dim - 1] = std::pow(10.0, rng.uniform(-2.0, 2.0));
  for (double& x : s.p) x = rng.uniform(-1.0, 1.0);
  return s;
}

double tangent(const Sample& s, const double* x) {
  double sum = 0.0;
  for (int r = 0; r < s.dim - 1; ++r) sum += x[r] * x[r];
  return std::sqrt(sum);
}

}  // namespace

BOOST_AUTO_TEST_SUITE(diagonal_law_test)

// l and c = W (l - p) satisfy the set's law, in every branch of it.
BOOST_AUTO_TEST_CASE(laws_hold) {
  Rng rng(1);
  int open = 0, stuck = 0, slides = 0;
  for (int k = 0; k < 20000; ++k) {
    const Sample s = sample(rng);
    for (const Law law : {Law::kCoulomb, Law::kConvex}) {
      double l[6], c[6];
      apply_law(s.set, law, s.W, s.p, s.dim, l, nullptr);
      for (int r = 0; r < s.dim; ++r) c[r] = s.W[r] * (l[r] - s.p[r]);
      if (s.set.kind == SetKind::kCone) {
        const double mu = s.set.friction.mu[0], slip = tangent(s, c);
        const double shift = law == Law::kCoulomb ? mu * slip : 0.0;
        const int n = s.dim - 1;
        const double scale = 1e-12 * (1.0 + s.W[0] + s.W[n]);
        double power = l[n] * (c[n] + shift);
        for (int r = 0; r < n; ++r) power += l[r] * c[r];
        BOOST_TEST(tangent(s, l) <= mu * l[n] + 1e-14);
        BOOST_TEST(c[n] + shift >= mu * slip - scale);  // the dual cone
        BOOST_TEST(std::abs(power) <= scale);
        (l[n] == 0.0 ? open : slip == 0.0 ? stuck : slides) += 1;
      }
      for (int r = 0; r < s.dim && s.set.kind != SetKind::kCone; ++r) {
        const double lower = s.set.kind == SetKind::kNonNegative ? 0.0 : s.set.lower;
        const bool free = s.set.kind == SetKind::kFree;
        BOOST_TEST((free || l[r] >= lower));
        if (c[r] > 0.0) BOOST_TEST((!free && l[r] == lower));
        if (c[r] < 0.0) BOOST_TEST((s.set.kind == SetKind::kBox && l[r] == s.set.upper));
      }
    }
  }
  for (const int count : {open, stuck, slides}) BOOST_TEST(count > 1000);
}

BOOST_AUTO_TEST_CASE(slopes_match_central_differences) {
  Rng rng(2);
  constexpr double kStep = 1e-6;
  int compared = 0;
  for (int k = 0; k < 5000; ++k) {
    const Sample s = sample(rng);
    for (const Law law : {Law::kCoulomb, Law::kConvex}) {
      double l[6], slope[36];
      apply_law(s.set, law, s.W, s.p, s.dim, l, slope);
      for (int c = 0; c < s.dim; ++c) {
        std::array<double, 6> p;
        std::copy(s.p, s.p + 6, p.begin());
        double high[6], low[6], far[36], near[36];
        p[c] = s.p[c] + kStep;
        apply_law(s.set, law, s.W, p.data(), s.dim, high, far);
        p[c] = s.p[c] - kStep;
        apply_law(s.set, law, s.W, p.data(), s.dim, low, near);
        for (int r = 0; r < s.dim; ++r) {
          if (std::abs(far[s.dim * r + c] - near[s.dim * r + c]) > 1e-2 / s.W[c])
            continue;  // a kink
          const double expected = (high[r] - low[r]) / (2.0 * kStep) / s.W[c];
          BOOST_TEST(std::abs(slope[s.dim * r + c] - expected) <= 1e-3 / s.W[c] + 1e-8);
          ++compared;
        }
      }
    }
  }
  BOOST_TEST(compared > 30000);
}

BOOST_AUTO_TEST_SUITE_END()
