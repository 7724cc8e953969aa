#include "stiction/collision/distance_derivatives.hpp"

#include "support/solids.hpp"
#include <boost/test/unit_test.hpp>

#include <cmath>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <stdexcept>
#include <string>
#include <vector>

// Derivatives of distances where several features are as near, of answers that belong elsewhere,
// and of many pairs at once.

namespace stiction::test {
namespace {

struct Ends {
  DistanceResult near, far;
  Vec3d p, q;  ///< of B's origin
};

int trials() { return std::getenv("STICTION_FUZZ") != nullptr ? 60 : 6; }

DistanceResult query(const Shape& a, const Shape& b, const Mat3d& R, const Vec3d& p) {
  return distance(a, Transform::identity(), b, {R, p});
}

double apart(const Ends& e) { return norm(e.near.normal - e.far.normal); }

/// Halves the way between two places where the normals differ; keeps the half where they do more.
Ends narrowed(const Shape& a, const Shape& b, const Mat3d& R, Vec3d p, Vec3d q) {
  Ends e{query(a, b, R, p), query(a, b, R, q), p, q};
  for (int k = 0; k < 36; ++k) {
    const Vec3d m = (e.p + e.q) * 0.5;
    const DistanceResult r = query(a, b, R, m);
    const bool first = norm(r.normal - e.near.normal) > norm(r.normal - e.far.normal);
    (first ? e.q : e.p) = m;
    (first ? e.far : e.near) = r;
  }
  return e;
}

DistanceDerivatives derivatives(
    const Shape& a, const Shape& b, const Mat3d& R, const Vec3d& p, const DistanceResult& at) {
  return distance_derivatives(a, Transform::identity(), b, {R, p}, at);
}

}  // namespace

BOOST_AUTO_TEST_SUITE(nearest_features_test)

// The normal jumps between features that are equally deep or near: neither side is smooth there.
BOOST_AUTO_TEST_CASE(a_jump_of_the_normal_is_a_kink) {
  Rng rng(31);
  int jumps = 0, kinds = 0;
  for (int ka = 0; ka < int(SolidKind::kBlocks); ++ka) {
    for (int kb = 0; kb < int(SolidKind::kBlocks); ++kb) {
      int of_kind = 0;
      for (int t = 0; t < trials(); ++t) {
        const Shape a = random_solid(rng, SolidKind(ka)).shape,
                    b = random_solid(rng, SolidKind(kb)).shape;
        const Mat3d R = pose(rng, 1.0).R;
        const Ends e = narrowed(a, b, R, unit_vector(rng) * 0.05, unit_vector(rng) * 0.05);
        if (!(apart(e) > 0.02) || e.near.distance > 0.0) continue;
        ++of_kind;
        BOOST_TEST(!derivatives(a, b, R, e.p, e.near).smooth(), ka << " in " << kb);
        BOOST_TEST(!derivatives(a, b, R, e.q, e.far).smooth(), ka << " in " << kb);
      }
      jumps += of_kind;
      kinds += of_kind > 0;
    }
  }
  BOOST_TEST_MESSAGE(jumps << " jumps in " << kinds << " pairs of kinds");
  BOOST_TEST(kinds > 40);
}

BOOST_AUTO_TEST_CASE(symmetric_overlaps_are_kinks) {
  const Mat3d I = Mat3d::identity(), turned{{0, 0, -1}, {0, 1, 0}, {1, 0, 0}};
  const auto kink = [](const Shape& a, const Shape& b, const Mat3d& R, const Vec3d& p) {
    return derivatives(a, b, R, p, query(a, b, R, p)).status == DerivativeStatus::kKink;
  };
  const Shape capsule = Shape::capsule(0.1, 0.5), ball = Shape::sphere(0.1),
              cube = Shape::box({0.2, 0.2, 0.2}), tube = Shape::cylinder(0.2, 0.5);
  BOOST_TEST(kink(capsule, capsule, turned, {0, 0, 0}));
  BOOST_TEST(kink(cube, ball, I, {0, 0, 0}));
  BOOST_TEST(kink(cube, ball, I, {0.15, 0.15, 0}));
  BOOST_TEST(kink(Shape::ellipsoid({0.2, 0.2, 0.3}), ball, I, {0, 0, 0}));
  BOOST_TEST(kink(Shape::ellipsoid({0.3, 0.3, 0.2}), ball, I, {0, 0, 0}));
  BOOST_TEST(kink(tube, ball, I, {0.1, 0, 0.4}));
  BOOST_TEST(kink(ball, ball, I, {0, 0, 0}));
  BOOST_TEST(!kink(cube, ball, I, {0.15, 0.14, 0}));
  BOOST_TEST(!kink(Shape::ellipsoid({0.3, 0.4, 0.2}), ball, I, {0, 0.01, 0.01}));
  BOOST_TEST(!kink(tube, ball, I, {0.1, 0, 0.41}));
  BOOST_TEST(!kink(capsule, capsule, turned, {0, 0.01, 0}));
}

BOOST_AUTO_TEST_CASE(answers_of_other_placements_are_refused) {
  Rng rng(32);
  int refused = 0;
  for (int t = 0; t < 200; ++t) {
    const Shape a = random_solid(rng, SolidKind(rng.below(7))).shape,
                b = random_solid(rng, SolidKind(rng.below(7))).shape;
    const Mat3d R = pose(rng, 1.0).R;
    const Vec3d p = unit_vector(rng) * 1.5;
    const DistanceResult at = query(a, b, R, p);
    for (const DerivativeMethod method : {DerivativeMethod::kExact, DerivativeMethod::kGumbel}) {
      DerivativeSettings s;
      s.method = method;
      BOOST_CHECK_NO_THROW(distance_derivatives(a, Transform::identity(), b, {R, p}, at, s));
      try {
        distance_derivatives(a, Transform::identity(), b, {R, p + at.normal * 0.01}, at, s);
      } catch (const std::invalid_argument& e) {
        refused += std::string(e.what()).find("at: is no answer") != std::string::npos &&
                   std::string(e.what()).find("witness_b") != std::string::npos;
      }
    }
  }
  BOOST_TEST(refused == 400);
}

BOOST_AUTO_TEST_CASE(many_pairs_at_once_are_single_calls) {
  Rng rng(33);
  std::vector<Shape> shapes;
  for (int k = 0; k < 10; ++k) shapes.push_back(random_solid(rng, SolidKind(k % 9)).shape);
  std::vector<PlacedPair> pairs;
  for (int t = 0; t < 200; ++t)
    pairs.push_back({&shapes[t % 10], pose(rng, 1.0), &shapes[rng.below(10)], pose(rng, 1.0)});
  const int count = static_cast<int>(pairs.size());
  std::vector<DistanceResult> at(count);
  std::vector<DistanceDerivatives> out(count);
  for (const std::string& method : derivative_methods()) {
    DerivativeSettings s;
    s.method = derivative_method(method);
    distance_derivatives_of_pairs(pairs.data(), count, s, at.data(), out.data());
    for (int i = 0; i < count; ++i) {
      const PlacedPair& p = pairs[i];
      DistanceCache cache;
      const DistanceResult r = distance(*p.a, p.X_WA, *p.b, p.X_WB, {}, &cache);
      const DistanceDerivatives d = distance_derivatives(*p.a, p.X_WA, *p.b, p.X_WB, r, s, &cache);
      BOOST_TEST(r.distance == at[i].distance);
      BOOST_TEST((d.status == out[i].status));
      BOOST_TEST(std::memcmp(&d, &out[i], offsetof(DistanceDerivatives, status)) == 0);
    }
  }
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace stiction::test
