#include "collision/pairs/closed_forms.hpp"

#include "support/shapes.hpp"
#include <boost/test/unit_test.hpp>

namespace stiction::test {

BOOST_AUTO_TEST_SUITE(closed_forms_test)

// Two spheres: centre distance minus radii, at 1 mm, 1 m, 1 km.
BOOST_AUTO_TEST_CASE(spheres) {
  for (const double s : {1e-3, 1.0, 1e3}) {
    const Shape a = Shape::sphere(0.5 * s), b = Shape::sphere(0.25 * s);
    const Transform A = Transform::identity(), B{A.R, {0.6 * s, 0.8 * s, 0}};
    const DistanceResult r = distance(a, A, b, B);
    BOOST_TEST(std::abs(r.distance - 0.25 * s) <= 1e-15 * s);
    BOOST_TEST(norm(r.normal - Vec3d{0.6, 0.8, 0}) <= 1e-15);
    BOOST_TEST(norm(r.witness_a - Vec3d{0.3 * s, 0.4 * s, 0}) <= 1e-15 * s);
  }
}

// Capsules: the least distance of a dense sampling of both segments is never below the answer and
// approaches it.
BOOST_AUTO_TEST_CASE(capsules_against_sampled_segments) {
  Rng rng(1);
  for (int t = 0; t < 300; ++t) {
    PosedPair p = random_pair(rng, Kind::kCapsule, Kind::kCapsule);
    if (t % 3 == 0) p.X_WB.R = p.X_WA.R;  // parallel
    if (t % 3 == 1) p.X_WB.R = p.X_WA.R * small_rotation(uniform_vector(rng, 1e-7));
    const DistanceResult r = distance(p.a, p.X_WA, p.b, p.X_WB);
    double least = HUGE_VAL;
    for (int i = -50; i <= 50; ++i) {
      const Vec3d x = p.X_WA.p + p.X_WA.R.c2 * (p.a.size.y * i / 50.0);
      const Vec3d d = x - p.X_WB.p;
      const double z = std::clamp(dot(d, p.X_WB.R.c2), -p.b.size.y, p.b.size.y);
      least = std::min(least, norm(d - p.X_WB.R.c2 * z));
    }
    least -= p.a.size.x + p.b.size.x;
    BOOST_TEST(r.distance <= least + 1e-12);
    BOOST_TEST(r.distance >= least - 0.02);
  }
}

// Segments that cross: the normal is their common perpendicular and the depth the sum of radii.
BOOST_AUTO_TEST_CASE(crossing_capsules) {
  Rng rng(2);
  for (int t = 0; t < 100; ++t) {
    const Shape a = Shape::capsule(0.1, 1.0), b = Shape::capsule(0.2, 1.0);
    const Transform A = pose(rng, 1.0);
    const Transform B{rotation(rng), A.p + A.R.c2 * rng.uniform(-0.9, 0.9)};
    const DistanceResult r = distance(a, A, b, B);
    BOOST_TEST(std::abs(r.distance + 0.3) <= 1e-12);
    BOOST_TEST(std::abs(dot(r.normal, A.R.c2)) <= 1e-9);
    BOOST_TEST(std::abs(dot(r.normal, B.R.c2)) <= 1e-9);
  }
}

// Parallel capsules touch in the middle of their common part.
BOOST_AUTO_TEST_CASE(parallel_capsules) {
  const Shape a = Shape::capsule(0.1, 1.0), b = Shape::capsule(0.1, 0.5);
  const Transform A = Transform::identity(), B{A.R, {0.3, 0, 0.8}};
  const DistanceResult r = distance(a, A, b, B);
  BOOST_TEST(std::abs(r.distance - 0.1) <= 1e-15);
  BOOST_TEST(norm(r.witness_a - Vec3d{0.1, 0, 0.65}) <= 1e-15);
}

// A sphere whose centre is inside a box leaves through the nearest face, ties to the lowest axis.
BOOST_AUTO_TEST_CASE(sphere_inside_a_box) {
  const Shape ball = Shape::sphere(0.1), box = Shape::box({1, 2, 3});
  const Transform O = Transform::identity();
  const DistanceResult r = distance(ball, {O.R, {0.2, 1.9, -1}}, box, O);
  BOOST_TEST(std::abs(r.distance + 0.2) <= 1e-15);
  BOOST_TEST(norm(r.normal - Vec3d{0, -1, 0}) <= 1e-15);
  const DistanceResult centre = distance(ball, O, box, O);
  BOOST_TEST(std::abs(centre.distance + 1.1) <= 1e-15);
  BOOST_TEST(std::abs(std::abs(centre.normal.x) - 1.0) <= 1e-15);
  const DistanceResult corner = distance(ball, {O.R, {1.3, 2.4, 3.0}}, box, O);
  BOOST_TEST(std::abs(corner.distance - 0.4) <= 1e-15);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace stiction::test
