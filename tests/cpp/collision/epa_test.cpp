#include "collision/convex/epa.hpp"

#include "support/manifolds.hpp"
#include <boost/test/unit_test.hpp>

namespace stiction::test {
namespace {

// Penetration of two rotated boxes by their 15 separating axes, written plainly.
double box_depth(const PosedPair& p) {
  double best = -HUGE_VAL;
  const auto offer = [&](Vec3d n) {
    const double length = norm(n);
    if (length < 1e-9) return;
    n = n * (1.0 / length);
    if (dot(n, p.X_WB.p - p.X_WA.p) < 0.0) n = -n;
    best = std::max(best, gap_along(p.a, p.X_WA, p.b, p.X_WB, n));
  };
  for (int i = 0; i < 3; ++i) {
    offer(p.X_WA.R.column(i));
    offer(p.X_WB.R.column(i));
    for (int j = 0; j < 3; ++j) offer(cross(p.X_WA.R.column(i), p.X_WB.R.column(j)));
  }
  return best;
}

Shape mesh_of(const Shape& box) { return Shape::convex_mesh(box_corners(box.size)); }

}  // namespace

BOOST_AUTO_TEST_SUITE(epa_test)

// Boxes as meshes: the depth of the expanding polytope is the best separating axis.
BOOST_AUTO_TEST_CASE(depth_of_boxes_is_the_best_axis) {
  Rng rng(1);
  int overlapping = 0;
  for (int t = 0; t < 2000; ++t) {
    PosedPair p = random_pair(rng, t % 5 == 0 ? Kind::kSlab : Kind::kBox, Kind::kBox);
    const double axis = box_depth(p);
    if (axis > 0.0) continue;
    ++overlapping;
    const DistanceResult r = distance(mesh_of(p.a), p.X_WA, mesh_of(p.b), p.X_WB);
    BOOST_TEST(std::abs(r.distance - axis) <= 1e-12);
    BOOST_TEST((r.status == DistanceStatus::kPenetrating));
  }
  BOOST_TEST(overlapping > 600);
  BOOST_TEST(overlapping < 1600);
}

// Nearly parallel boxes, tilted by 1e-3 to 1e-15 rad, where facets of D degenerate to slivers: no
// failure, and the depth is right to 1e-10 of the size.
BOOST_AUTO_TEST_CASE(nearly_parallel_boxes) {
  Rng rng(2);
  int limited = 0, overlapping = 0;
  for (int t = 0; t < 2000; ++t) {
    const Shape a = Shape::box({1, 0.7, 0.5}), b = Shape::box({0.6, 0.8, 0.9});
    const double tilt = std::pow(10.0, rng.uniform(-15.0, -3.0));
    const Transform A = pose(rng, 0.0);
    const Transform X_AB{small_rotation(unit_vector(rng) * tilt), uniform_vector(rng, 1.0)};
    const PosedPair p{a, b, A, A * X_AB};
    const double axis = box_depth(p);
    if (axis > 0.0) continue;
    ++overlapping;
    const DistanceResult r = distance(mesh_of(a), p.X_WA, mesh_of(b), p.X_WB);
    const DistanceResult s = distance(a, p.X_WA, b, p.X_WB);
    BOOST_TEST(std::abs(r.distance - axis) <= 1e-10);
    BOOST_TEST(std::abs(s.distance - axis) <= 1e-10);
    limited += r.status == DistanceStatus::kMaxIterations;
  }
  BOOST_TEST(overlapping > 1000);
  BOOST_TEST(limited == 0);
}

// A point at the very centre and at the corners of a mesh: exact depth, no endless loop.
BOOST_AUTO_TEST_CASE(points_inside_meshes) {
  const Shape mesh = Shape::convex_mesh(box_corners({1, 2, 3})), ball = Shape::sphere(0.1);
  const auto depth = [&](const Vec3d& p) {
    return -distance(ball, {Mat3d::identity(), p}, mesh, Transform::identity()).distance;
  };
  BOOST_TEST(std::abs(depth({0, 0, 0}) - 1.1) <= 1e-13);
  BOOST_TEST(std::abs(depth({0.75, 0, 0}) - 0.35) <= 1e-13);
  BOOST_TEST(std::abs(depth({0, 1.75, 0}) - 0.35) <= 1e-13);
  BOOST_TEST(std::abs(depth({1, 2, 3}) - 0.1) <= 1e-13);
  BOOST_TEST(std::abs(depth({1, 0, 0}) - 0.1) <= 1e-13);
  BOOST_TEST(std::abs(depth({1, 2, 0}) - 0.1) <= 1e-13);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace stiction::test
