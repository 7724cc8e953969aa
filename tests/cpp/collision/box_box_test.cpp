#include "collision/pairs/box_box.hpp"

#include "support/manifolds.hpp"
#include <boost/test/unit_test.hpp>

namespace stiction::test {
namespace {

using detail::BoxPair;
using detail::find_separating_axis;
using detail::make_box_pair;
using detail::SeparatingAxis;

Vec3d axis_in_world(const PosedPair& p, int axis) {
  Vec3d n =
      axis < 3
          ? p.X_WA.R.column(axis)
          : (axis < 6 ? p.X_WB.R.column(axis - 3)
                      : cross(p.X_WA.R.column((axis - 6) / 3), p.X_WB.R.column((axis - 6) % 3)));
  n = n * (1.0 / norm(n));
  return dot(n, p.X_WB.p - p.X_WA.p) < 0.0 ? -n : n;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(box_box_test)

// The separation along the chosen axis is the gap along it, and no other axis is better.
BOOST_AUTO_TEST_CASE(the_axis_is_the_best_of_fifteen) {
  Rng rng(1);
  for (int t = 0; t < 2000; ++t) {
    const PosedPair p = random_pair(
        rng, t % 3 == 0 ? Kind::kSlab : Kind::kBox, t % 4 == 0 ? Kind::kNeedle : Kind::kBox);
    const BoxPair pair = make_box_pair(p.a.size, p.X_WA, p.b.size, p.X_WB);
    const SeparatingAxis best = find_separating_axis(pair, 1e9, 0.0, -1, 0.0);
    double most = -HUGE_VAL;
    for (int axis = 0; axis < 15; ++axis) {
      most = std::max(most, gap_along(p.a, p.X_WA, p.b, p.X_WB, axis_in_world(p, axis)));
    }
    BOOST_TEST(std::abs(best.most - most) <= 1e-12);
    BOOST_TEST(std::abs(best.separation - most) <= 1e-12);
    BOOST_TEST(std::abs(gap_along(p.a, p.X_WA, p.b, p.X_WB, axis_in_world(p, best.axis)) - most) <=
               1e-12);
  }
}

// Faces of A win ties against faces of B and edges; a preferred face wins within its tie.
BOOST_AUTO_TEST_CASE(ties_prefer_faces_of_a) {
  const Vec3d h{1, 1, 1};
  const Transform O = Transform::identity(),
                  above{small_rotation({1e-7, 2e-7, 0.3}), {0.1, 0, 1.99}};
  const BoxPair pair = make_box_pair(h, O, h, above);
  BOOST_TEST(find_separating_axis(pair, 1.0, 1e-5, -1, 0.0).axis == 2);
  BOOST_TEST(find_separating_axis(pair, 1.0, 1e-5, 5, 1e-4).axis == 5);
  BOOST_TEST(find_separating_axis(pair, 1.0, 1e-5, 0, 1e-4).axis == 2);
}

// Two edges that cross at right angles: one point, at the crossing, with the exact gap.
BOOST_AUTO_TEST_CASE(crossing_edges_have_one_point) {
  const Shape box = Shape::box({1, 1, 1});
  const double quarter = 0.78539816339744831, reach = std::sqrt(2.0);
  const Transform A{small_rotation({quarter, 0, 0}), {0, 0, 0}};
  for (const double gap : {-0.01, 0.0, 0.005}) {
    const Transform B{small_rotation({0, quarter, 0}), {0.2, 0.3, 2.0 * reach + gap}};
    const Manifold m = manifold_of({box, box, A, B}, 0.01);
    BOOST_REQUIRE(m.count == 1);
    BOOST_TEST(norm(m.normal - Vec3d{0, 0, 1}) <= 1e-12);
    BOOST_TEST(std::abs(m.points[0].gap - gap) <= 1e-12);
    BOOST_TEST(norm(m.points[0].position - Vec3d{0.2, 0.0, reach + 0.5 * gap}) <= 1e-12);
  }
}

// A corner over the middle of a face: one point under a small margin, on the face's normal.
BOOST_AUTO_TEST_CASE(a_corner_on_a_face) {
  Rng rng(2);
  const Shape ground = Shape::box({5, 5, 1}), box = Shape::box({0.3, 0.4, 0.5});
  for (int t = 0; t < 200; ++t) {
    const Mat3d R = rotation(rng);
    const double low = extent_along(box, {R, {0, 0, 0}}, {0, 0, -1}),
                 gap = rng.uniform(-1e-3, 1e-3);
    const Transform B{R, {rng.uniform(-1, 1), rng.uniform(-1, 1), 1.0 + low + gap}};
    const Manifold m = manifold_of({ground, box, Transform::identity(), B}, 1e-3);
    BOOST_REQUIRE(m.count >= 1);
    double least = HUGE_VAL;
    for (int i = 0; i < m.count; ++i) least = std::min(least, m.points[i].gap);
    BOOST_TEST(norm(m.normal - Vec3d{0, 0, 1}) <= 1e-12);
    BOOST_TEST(std::abs(least - gap) <= 1e-12);
  }
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace stiction::test
