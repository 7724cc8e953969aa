#include "solver/diagonal_law.hpp"

#include "support/random.hpp"
#include <boost/test/unit_test.hpp>

#include <array>
#include <cmath>

using namespace stiction;
using stiction::test::Rng;

namespace {

struct Sample {
  ConstraintSet set;
  double W[3], p[3];
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
    default:
      s.set = ConstraintSet::cone(rng.below(6) == 0 ? 0.0 : rng.uniform(0.05, 2.0));
  }
  s.dim = s.set.dim;
  s.W[0] = s.W[1] = std::pow(10.0, rng.uniform(-2.0, 2.0));
  s.W[2] = std::pow(10.0, rng.uniform(-2.0, 2.0));
  for (double& x : s.p) x = rng.uniform(-1.0, 1.0);
  return s;
}

double tangent(const double* x) { return std::hypot(x[0], x[1]); }

}  // namespace

BOOST_AUTO_TEST_SUITE(diagonal_law_test)

// l and c = W (l - p) satisfy the set's law, in every branch of it.
BOOST_AUTO_TEST_CASE(laws_hold) {
  Rng rng(1);
  int open = 0, stuck = 0, slides = 0;
  for (int k = 0; k < 20000; ++k) {
    const Sample s = sample(rng);
    for (const Law law : {Law::kCoulomb, Law::kConvex}) {
      double l[3], c[3];
      apply_law(s.set, law, s.W, s.p, s.dim, l, nullptr);
      for (int r = 0; r < s.dim; ++r) c[r] = s.W[r] * (l[r] - s.p[r]);
      if (s.set.kind == SetKind::kCone) {
        const double mu = s.set.mu, shift = law == Law::kCoulomb ? mu * tangent(c) : 0.0;
        const double scale = 1e-12 * (1.0 + s.W[0] + s.W[2]);
        BOOST_TEST(tangent(l) <= mu * l[2] + 1e-14);
        BOOST_TEST(c[2] + shift >= mu * tangent(c) - scale);  // the dual cone
        BOOST_TEST(std::abs(l[0] * c[0] + l[1] * c[1] + l[2] * (c[2] + shift)) <= scale);
        (l[2] == 0.0 ? open : tangent(c) == 0.0 ? stuck : slides) += 1;
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
      double l[3], slope[9];
      apply_law(s.set, law, s.W, s.p, s.dim, l, slope);
      for (int c = 0; c < s.dim; ++c) {
        std::array<double, 3> p{s.p[0], s.p[1], s.p[2]};
        double high[3], low[3], far[9], near[9];
        p[c] = s.p[c] + kStep;
        apply_law(s.set, law, s.W, p.data(), s.dim, high, far);
        p[c] = s.p[c] - kStep;
        apply_law(s.set, law, s.W, p.data(), s.dim, low, near);
        for (int r = 0; r < s.dim; ++r) {
          if (std::abs(far[3 * r + c] - near[3 * r + c]) > 1e-2 / s.W[c]) continue;  // a kink
          const double expected = (high[r] - low[r]) / (2.0 * kStep) / s.W[c];
          BOOST_TEST(std::abs(slope[3 * r + c] - expected) <= 1e-3 / s.W[c] + 1e-8);
          ++compared;
        }
      }
    }
  }
  BOOST_TEST(compared > 30000);
}

BOOST_AUTO_TEST_SUITE_END()
