#include "collision/convex/gjk.hpp"

#include "support/manifolds.hpp"
#include <boost/test/unit_test.hpp>

namespace stiction::test {
namespace {

using detail::Simplex;
using detail::SupportPoint;

Simplex simplex_of(const std::vector<Vec3d>& points) {
  Simplex s;
  for (const Vec3d& p : points) {
    s.points[s.count] = {p, p, s.count, 0};
    ++s.count;
  }
  return s;
}

// The optimality condition of the closest point v of a hull: w . v >= v . v for every corner. False
// if the origin is inside, which only a tetrahedron with a volume can say.
bool check_closest(const std::vector<Vec3d>& points, double tolerance) {
  Simplex s = simplex_of(points);
  if (!s.reduce()) {
    BOOST_TEST(points.size() == 4u);
    return false;
  }
  double sum = 0.0;
  for (int i = 0; i < s.count; ++i) {
    BOOST_TEST(s.weights[i] >= 0.0);
    sum += s.weights[i];
  }
  BOOST_TEST(std::abs(sum - 1.0) <= 1e-9);
  BOOST_TEST(norm(s.witness_a() - s.closest) <= tolerance);
  for (const Vec3d& p : points) {
    BOOST_TEST(dot(p - s.closest, s.closest) >= -tolerance * (norm(p) + norm(s.closest)));
  }
  return true;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(gjk_test)

// The closest point of random simplices of 1 to 4 points satisfies the optimality condition.
BOOST_AUTO_TEST_CASE(closest_point_of_a_simplex) {
  Rng rng(1);
  int outside = 0;
  for (int t = 0; t < 4000; ++t) {
    std::vector<Vec3d> points;
    const Vec3d centre = uniform_vector(rng, 1.0);
    for (int i = 0; i < 1 + t % 4; ++i) points.push_back(centre + uniform_vector(rng, 1.0));
    outside += check_closest(points, 1e-11);
  }
  BOOST_TEST(outside > 3900);
}

// Flat, needle-like and repeated simplices neither divide by zero nor lose the condition.
BOOST_AUTO_TEST_CASE(degenerate_simplices) {
  Rng rng(2);
  int outside = 0;
  for (int t = 0; t < 4000; ++t) {
    const Vec3d a = uniform_vector(rng, 1.0), d = uniform_vector(rng, 1.0);
    const Vec3d e = uniform_vector(rng, t % 2 == 0 ? 0.0 : 1e-9);
    std::vector<Vec3d> points{a, a + d, a + d * rng.uniform(-1, 2) + e};
    if (t % 3 == 0) points.push_back(a);
    if (t % 3 == 1) points.push_back(a + d * 0.5);
    outside += check_closest(points, 1e-8);
  }
  BOOST_TEST(outside == 4000);  // none has a volume
}

// The origin inside a tetrahedron is recognised, just outside it is not.
BOOST_AUTO_TEST_CASE(inside_a_tetrahedron) {
  const std::vector<Vec3d> corners{{0, 0, 1}, {1, 0, -1}, {-1, 1, -1}, {-1, -1, -1}};
  Simplex inside = simplex_of(corners);
  BOOST_TEST(!inside.reduce());
  std::vector<Vec3d> shifted = corners;
  for (Vec3d& p : shifted) p.z += 1.0 + 1e-12;
  Simplex outside = simplex_of(shifted);
  BOOST_TEST(outside.reduce());
  BOOST_TEST(std::abs(outside.closest.z - 1e-12) < 1e-15);
}

// Axis-aligned cubes as meshes on a lattice of offsets, where everything ties: the distance is the
// length of the positive gaps, or the largest gap if none is positive.
BOOST_AUTO_TEST_CASE(ties_on_a_lattice) {
  const Shape cube = Shape::convex_mesh(box_corners({1, 1, 1})), box = Shape::box({1, 1, 1});
  const Transform O = Transform::identity();
  const double offsets[] = {-3.0, -2.0, -1.0, 0.0, 0.5, 1.0, 2.0, 2.5};
  for (const double s : {1e-3, 1.0, 1e3}) {
    const Shape a = scaled(cube, s), b = scaled(box, s);
    for (const double x : offsets) {
      for (const double y : offsets) {
        for (const double z : offsets) {
          const Vec3d gap{std::abs(x) - 2.0, std::abs(y) - 2.0, std::abs(z) - 2.0};
          double expected = std::max({gap.x, gap.y, gap.z});
          if (expected > 0.0) {
            const Vec3d positive{std::max(gap.x, 0.0), std::max(gap.y, 0.0), std::max(gap.z, 0.0)};
            expected = norm(positive);
          }
          const Transform X{O.R, Vec3d{x, y, z} * s};
          BOOST_TEST_CONTEXT("offset " << x << " " << y << " " << z << " scale " << s) {
            BOOST_TEST(std::abs(distance(a, O, a, X).distance - expected * s) <= 1e-13 * s);
            BOOST_TEST(std::abs(distance(b, O, a, X).distance - expected * s) <= 1e-13 * s);
            BOOST_TEST(std::abs(distance(b, O, b, X).distance - expected * s) <= 1e-13 * s);
            BOOST_TEST(collide(a, O, a, X) == (expected <= 0.0));
          }
        }
      }
    }
  }
}

// Large finely faceted balls: the iterations stay few and the answer certifies itself.
BOOST_AUTO_TEST_CASE(fine_meshes_converge_quickly) {
  Rng rng(3);
  const Shape ball = Shape::convex_mesh(random_points(rng, 1500, {1, 0.8, 0.5}, true));
  int worst = 0, limited = 0, overlapping = 0;
  for (int t = 0; t < 300; ++t) {
    const Transform A = pose(rng, 0.0), B = pose(rng, 1.8);
    const DistanceResult r = distance(ball, A, ball, B);
    worst = std::max(worst, r.iterations);
    limited += r.status == DistanceStatus::kMaxIterations;
    overlapping += r.distance < 0.0;
    BOOST_TEST(std::abs(gap_along(ball, A, ball, B, r.normal) - r.distance) <= 1e-12);
  }
  BOOST_TEST_MESSAGE("worst iterations " << worst << ", overlapping " << overlapping);
  BOOST_TEST(limited == 0);
  BOOST_TEST(overlapping > 90);
  BOOST_TEST(overlapping < 210);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace stiction::test
