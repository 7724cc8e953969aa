#include "stiction/collision/distance_derivatives.hpp"

#include "support/solids.hpp"
#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <stdexcept>
#include <string>
#include <vector>

using namespace stiction;
using namespace stiction::test;

namespace {

struct Posed {
  Shape a, b;
  Transform X_WA, X_WB;
};

DistanceResult query(const Posed& p) { return distance(p.a, p.X_WA, p.b, p.X_WB); }

DistanceDerivatives derivatives(const Posed& p, const DerivativeSettings& s = {}) {
  return distance_derivatives(p.a, p.X_WA, p.b, p.X_WB, query(p), s);
}

Posed moved(Posed p, int k, double h) {
  Vec3d linear{0, 0, 0}, angular{0, 0, 0};
  (k < 3 ? linear : angular)[k % 3] = h;
  p.X_WB = {small_rotation(angular) * p.X_WB.R, p.X_WB.p + linear};
  return p;
}

/// Distance, normal, witness points.
using Answer = std::array<double, 10>;
Answer answer(const DistanceResult& r) {
  return {r.distance,
          r.normal.x,
          r.normal.y,
          r.normal.z,
          r.witness_a.x,
          r.witness_a.y,
          r.witness_a.z,
          r.witness_b.x,
          r.witness_b.y,
          r.witness_b.z};
}
Answer column(const DistanceDerivatives& d, int k) {
  Answer c{d.distance[k]};
  for (int r = 0; r < 3; ++r) {
    c[1 + r] = d.normal[r][k];
    c[4 + r] = d.witness_a[r][k];
    c[7 + r] = d.witness_b[r][k];
  }
  return c;
}

/// Largest difference over all columns, over 1 + the largest entry.
double difference(const DistanceDerivatives& x, const DistanceDerivatives& y) {
  double most = 0.0, scale = 1.0;
  for (int k = 0; k < 6; ++k) {
    const Answer a = column(x, k), b = column(y, k);
    for (int i = 0; i < 10; ++i) {
      most = std::max(most, std::abs(a[i] - b[i]));
      scale = std::max(scale, 1.0 + std::abs(a[i]));
    }
  }
  return most / scale;
}

/// Central differences of fourth order, the best of three steps; -1 where they do not settle.
double error_of(const Posed& p, const DistanceDerivatives& d) {
  double scale = 1.0, worst = 0.0;
  for (int k = 0; k < 6; ++k) {
    for (const double x : column(d, k)) scale = std::max(scale, 1.0 + std::abs(x));
  }
  for (int k = 0; k < 6; ++k) {
    const Answer c = column(d, k);
    Answer last{};
    double best = HUGE_VAL, apart = HUGE_VAL;
    for (const double h : {1e-3, 1e-4, 1e-5}) {
      Answer f{};
      for (const auto& [at, weight] :
           {std::pair{1.0, 8.0}, {-1.0, -8.0}, {2.0, -1.0}, {-2.0, 1.0}}) {
        const Answer x = answer(query(moved(p, k, at * h)));
        for (int i = 0; i < 10; ++i) f[i] += weight / (12.0 * h) * x[i];
      }
      double error = 0.0, change = 0.0;
      for (int i = 0; i < 10; ++i) {
        error = std::max(error, std::abs(f[i] - c[i]) / scale);
        change = std::max(change, std::abs(f[i] - last[i]) / scale);
      }
      best = std::min(best, error);
      if (h < 1e-3) apart = std::min(apart, change);
      last = f;
    }
    if (best > 1e-7 && apart > 1e-5) return -1.0;
    worst = std::max(worst, best);
  }
  return worst;
}

Posed random_posed(Rng& rng, SolidKind ka, SolidKind kb) {
  static constexpr double kDistances[] = {0.3, 0.03, 1e-3, 0.0, -1e-3, -0.02};
  Posed p{random_solid(rng, ka).shape, random_solid(rng, kb).shape, pose(rng, 1.0), pose(rng, 1.0)};
  p.X_WB.p = p.X_WA.p + unit_vector(rng) * rng.uniform(0.3, 1.0);
  const double wanted = kDistances[rng.below(6)];
  for (int k = 0; k < 3; ++k) {
    const DistanceResult r = query(p);
    p.X_WB.p += r.normal * (wanted - r.distance);
  }
  return p;
}

int rounds() { return std::getenv("STICTION_FUZZ") != nullptr ? 300 : 10; }

DerivativeSettings settings(DerivativeMethod method) {
  DerivativeSettings s;
  s.method = method;
  return s;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(distance_derivatives_test)

// All pairs of kinds of shapes, apart, touching and overlapping.
BOOST_AUTO_TEST_CASE(exact_ones_agree_with_differences) {
  Rng rng(21);
  int pairs = 0, smooth = 0, unsettled = 0, wrong = 0;
  double worst = 0.0;
  for (int ka = 0; ka < kSolidKinds; ++ka) {
    for (int kb = 0; kb < kSolidKinds; ++kb) {
      if (std::min(ka, kb) >= int(SolidKind::kField)) continue;
      for (int t = 0; t < rounds(); ++t, ++pairs) {
        const Posed p = random_posed(rng, SolidKind(ka), SolidKind(kb));
        const DistanceDerivatives d = derivatives(p);
        if (!d.smooth()) continue;
        const double e = error_of(p, d);
        unsettled += e < 0.0;
        smooth += e >= 0.0;
        worst = std::max(worst, e);
        if (e < 1e-7) continue;
        // Of a surface the deepest contact may lie by chance on features of another one.
        ++wrong;
        BOOST_TEST((is_surface(p.a.type) || is_surface(p.b.type)),
                   name(SolidKind(ka)) << " / " << name(SolidKind(kb)) << ", trial " << t
                                       << ", distance " << query(p).distance);
      }
    }
  }
  BOOST_TEST_MESSAGE(pairs << " pairs, " << smooth << " smooth, " << unsettled
                           << " with a kink near by, worst " << worst << ", " << wrong
                           << " wrong on surfaces");
  BOOST_TEST(wrong <= pairs / 10000);
  BOOST_TEST(smooth > 0.9 * pairs);
}

// Hulls that touch with corners and edges alone: the normal has no derivative, and no number of it
// is the quotient of roundings.
BOOST_AUTO_TEST_CASE(touching_corners_have_no_derivative) {
  Rng rng(26);
  int kinks = 0;
  for (int t = 0; t < 2000; ++t) {
    Posed p{random_solid(rng, SolidKind::kHull).shape,
            random_solid(rng, SolidKind::kHull).shape,
            pose(rng, 1.0),
            pose(rng, 1.0)};
    p.X_WB.p = p.X_WA.p + unit_vector(rng) * 2.0;
    for (int k = 0; k < 3; ++k) {
      const DistanceResult r = query(p);
      p.X_WB.p += r.normal * -r.distance;
    }
    const DistanceDerivatives d = derivatives(p);
    kinks += d.status == DerivativeStatus::kKink;
    for (int k = 0; k < 6; ++k) {
      for (const double x : column(d, k)) BOOST_TEST(std::abs(x) < 1e8);
    }
  }
  BOOST_TEST_MESSAGE(kinks << " of 2000 without a derivative");
  BOOST_TEST(kinks > 0);
}

// 12 queries, and the same seed the same bits.
BOOST_AUTO_TEST_CASE(differences_and_samples_are_of_the_query) {
  Rng rng(22);
  int compared = 0;
  for (int ka = 0; ka < int(SolidKind::kConvexMesh); ++ka) {
    for (int kb = 0; kb <= ka; ++kb) {
      const Posed p = random_posed(rng, SolidKind(ka), SolidKind(kb));
      const DistanceDerivatives exact = derivatives(p);
      if (!exact.smooth() || error_of(p, exact) < 0.0) continue;
      ++compared;
      DerivativeSettings s = settings(DerivativeMethod::kFiniteDifferences);
      s.step = 1e-5;
      BOOST_TEST(difference(exact, derivatives(p, s)) < 1e-4);
      s = settings(DerivativeMethod::kGaussian0);
      const DistanceDerivatives x = derivatives(p, s), y = derivatives(p, s);
      BOOST_TEST(std::memcmp(&x, &y, sizeof x.distance) == 0);
      s.seed = 1;
      BOOST_TEST(difference(x, derivatives(p, s)) > 0.0);
      BOOST_TEST((x.status == DerivativeStatus::kSampled));
    }
  }
  BOOST_TEST(compared > 20);
}

// Two ellipsoids, whose derivatives are known: the error of the mean of many seeds falls with the
// square of the spread, that of one seed with the root of the number of samples.
BOOST_AUTO_TEST_CASE(estimators_have_their_bias_and_rate) {
  const Posed p{Shape::ellipsoid({0.5, 0.4, 0.3}),
                Shape::ellipsoid({0.3, 0.5, 0.4}),
                {small_rotation({0.3, 0.2, 0.5}), {0, 0, 0}},
                {small_rotation({-0.4, 0.6, 0.1}), {0.7, 0.5, 0.4}}};
  const DistanceDerivatives exact = derivatives(p);
  BOOST_TEST_REQUIRE(exact.smooth());
  const auto deviation = [&](DerivativeSettings s, int samples, int seeds) {
    double sum = 0.0;
    s.samples = samples;
    for (s.seed = 0; s.seed < std::uint64_t(seeds); ++s.seed) {
      const double e = difference(exact, derivatives(p, s));
      sum += e * e / seeds;
    }
    return std::sqrt(sum);
  };
  for (const DerivativeMethod method :
       {DerivativeMethod::kGaussian0, DerivativeMethod::kGaussian1}) {
    DerivativeSettings s = settings(method);
    s.spread_linear = s.spread_angular = 1e-3;
    s.spread_direction = 1e-2;
    const double few = deviation(s, 50, 40), many = deviation(s, 800, 40);
    BOOST_TEST_MESSAGE(to_string(method) << ": " << few << " with 50, " << many << " with 800");
    BOOST_TEST(few < 0.5);         // differences to the query itself: what is common drops out
    BOOST_TEST(few / many > 3.0);  // 4
    BOOST_TEST(few / many < 5.3);
  }
  const auto check_bias = [&](DerivativeMethod method, int samples, double spread) {
    const auto bias = [&](double size) {
      DerivativeSettings s = settings(method);
      s.spread_direction = s.spread_linear = s.spread_angular = size;
      s.samples = samples;
      return difference(exact, derivatives(p, s));
    };
    const double wide = bias(spread), narrow = bias(0.5 * spread);
    BOOST_TEST_MESSAGE("bias " << wide << " at " << spread << ", " << narrow << " at half of it");
    BOOST_TEST(wide / narrow > 2.5);  // 4 to leading order
    BOOST_TEST(wide / narrow < 5.0);
  };
  check_bias(DerivativeMethod::kGaussian1, 1000000, 0.4);
  check_bias(DerivativeMethod::kGaussian0, 300000, 0.14);
}

// The smoothed Hessian of a hull tends to that of the feature.
BOOST_AUTO_TEST_CASE(gumbel_tends_to_the_exact_one) {
  Rng rng(23);
  int compared = 0;
  for (int ka = 0; ka < int(SolidKind::kConvexMesh); ++ka) {
    for (int kb = 0; kb <= ka; ++kb) {
      for (int t = 0; t < 5; ++t) {
        const Posed p = random_posed(rng, SolidKind(ka), SolidKind(kb));
        const DistanceDerivatives exact = derivatives(p);
        if (!exact.smooth() || std::abs(query(p).distance) < 1e-2) continue;
        DerivativeSettings s = settings(DerivativeMethod::kGumbel);
        s.level = 3;
        double error[2];
        bool smoothed = true;
        for (int k = 0; k < 2; ++k) {
          s.temperature = k == 0 ? 1e-4 : 1e-6;
          const DistanceDerivatives d = derivatives(p, s);
          smoothed = smoothed && d.status == DerivativeStatus::kSmoothed;
          error[k] = difference(exact, d);
        }
        if (!smoothed) continue;
        ++compared;
        BOOST_TEST(error[1] < 1e-3,
                   name(SolidKind(ka))
                       << " / " << name(SolidKind(kb)) << ": " << error[0] << ", " << error[1]);
        BOOST_TEST(error[1] <= 0.1 * error[0] + 1e-9);
      }
    }
  }
  BOOST_TEST(compared > 60);
}

// Mean squared edge over four radii of the shape at the point.
BOOST_AUTO_TEST_CASE(gumbels_temperature_follows_its_rule) {
  const Vec3d half{0.1, 0.2, 0.3};
  const Transform at{small_rotation({0.3, -0.2, 0.5}), {0, 0, 0}};
  const Posed p{Shape::box(half), Shape::sphere(0.1), at, {Mat3d::identity(), {0.5, 0.6, 0.7}}};
  DerivativeSettings rule = settings(DerivativeMethod::kGumbel), own = rule;
  const double edge = 2.0 * (half.x + half.y + half.z) / 3.0;
  own.temperature = edge * edge / (4.0 * norm(half));
  const DistanceDerivatives d = derivatives(p, rule);
  BOOST_TEST((d.status == DerivativeStatus::kSmoothed));
  BOOST_TEST(difference(d, derivatives(p, own)) < 1e-12);
  own.temperature *= 1.1;
  BOOST_TEST(difference(d, derivatives(p, own)) > 1e-4);
}

// Overlapping hulls of many points: by the rule the Hessians exceed the depth; where they do not,
// the derivatives are those of the features, and that is said.
BOOST_AUTO_TEST_CASE(gumbel_of_overlapping_hulls_is_defined) {
  Rng rng(24);
  int smoothed = 0, faces = 0;
  for (int t = 0; t < 200; ++t) {
    Posed p{Shape::convex_mesh(random_points(rng, 240, {0.3, 0.3, 0.3}, true)),
            Shape::convex_mesh(random_points(rng, 240, {0.3, 0.3, 0.3}, true)),
            pose(rng, 0.0),
            pose(rng, 0.0)};
    p.X_WB.p = unit_vector(rng) * 0.5;
    DerivativeSettings s = settings(DerivativeMethod::kGumbel);
    for (const double temperature : {0.0, 1e-2, -1.0}) {
      if (temperature < 0.0) s = settings(DerivativeMethod::kGaussian1), s.samples = 2;
      s.temperature = std::max(temperature, 0.0);
      const DistanceDerivatives d = derivatives(p, s);
      (d.status == DerivativeStatus::kSmoothed ? smoothed : faces) += 1;
      BOOST_TEST((d.status == DerivativeStatus::kSmoothed || d.status == DerivativeStatus::kFace));
      if (d.status == DerivativeStatus::kFace) {
        BOOST_TEST(difference(d, derivatives(p)) == 0.0);
      }
    }
  }
  BOOST_TEST_MESSAGE(smoothed << " smoothed, " << faces << " by features");
  BOOST_TEST(smoothed > 350);
  BOOST_TEST(faces > 10);  // two samples are too few
}

// A rigid motion of A about B's origin is the motion of both less that of B.
BOOST_AUTO_TEST_CASE(witness_points_stay_apart_by_the_distance) {
  Rng rng(25);
  for (int t = 0; t < 300; ++t) {
    const Posed p = random_posed(rng, SolidKind(rng.below(7)), SolidKind(rng.below(7)));
    const DistanceResult r = query(p);
    for (const std::string& method : derivative_methods()) {
      const DerivativeMethod m = derivative_method(method);
      BOOST_TEST(to_string(m) == method);
      if (m == DerivativeMethod::kFiniteDifferences || m == DerivativeMethod::kGaussian0) continue;
      const DistanceDerivatives d = derivatives(p, settings(m));
      double scale = 1.0;
      for (int k = 0; k < 6; ++k) {
        for (const double x : column(d, k)) scale = std::max(scale, std::abs(x));
      }
      for (int k = 0; k < 6; ++k) {
        const Vec3d n{d.normal[0][k], d.normal[1][k], d.normal[2][k]};
        BOOST_TEST(std::abs(dot(n, r.normal)) < 1e-9 * scale);
        if (d.status == DerivativeStatus::kKink) continue;
        for (int i = 0; i < 3; ++i) {
          const double apart = d.witness_b[i][k] - d.witness_a[i][k];
          const double expected = d.distance[k] * r.normal[i] + r.distance * d.normal[i][k];
          BOOST_TEST(std::abs(apart - expected) < 1e-7 * scale,
                     method << " " << int(p.a.type) << " " << int(p.b.type));
        }
      }
    }
  }
}

BOOST_AUTO_TEST_CASE(settings_out_of_range_are_named) {
  const auto says = [](auto change, const std::string& text) {
    DerivativeSettings s;
    change(s);
    BOOST_CHECK_EXCEPTION(s.validate(), std::invalid_argument, [&](const std::exception& e) {
      return std::string(e.what()).find(text) != std::string::npos;
    });
  };
  says([](auto& s) { s.step = 0.0; }, "settings.step = 0");
  says([](auto& s) { s.spread_linear = -1.0; }, "settings.spread_linear = -1");
  says([](auto& s) { s.spread_angular = NAN; }, "settings.spread_angular");
  says([](auto& s) { s.spread_direction = HUGE_VAL; }, "settings.spread_direction");
  says([](auto& s) { s.samples = 0; }, "settings.samples = 0");
  says([](auto& s) { s.level = 0; }, "settings.level = 0");
  says([](auto& s) { s.temperature = -1e-3; }, "settings.temperature");
  BOOST_CHECK_THROW(derivative_method("gaussian"), std::invalid_argument);
  const Transform I = Transform::identity(), far{I.R, {9, 0, 0}};
  const Shape ball = Shape::sphere(0.1),
              box = Shape::convex_mesh({{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0, 0, 1}});
  DistanceSettings near;
  near.max_distance = 0.1;
  const DistanceResult beyond = distance(ball, I, box, far, near);
  BOOST_TEST_REQUIRE((beyond.status == DistanceStatus::kBeyond));
  BOOST_CHECK_THROW(distance_derivatives(ball, I, box, far, beyond), std::invalid_argument);
}

BOOST_AUTO_TEST_SUITE_END()
