#include "collision/manifold/reduce.hpp"

#include "stiction/collision/manifold.hpp"

#include "support/manifolds.hpp"
#include <boost/test/unit_test.hpp>

// Which points of many a manifold keeps.

namespace stiction::test {
namespace {

struct Choice {
  std::vector<ManifoldPoint> kept, dropped;
};

Choice choose(std::vector<ManifoldPoint> points, double size, int most) {
  const int kept =
      detail::reduce({0, 0, 1}, size, most, points.data(), static_cast<int>(points.size()));
  return {{points.begin(), points.begin() + kept}, {points.begin() + kept, points.end()}};
}

}  // namespace

BOOST_AUTO_TEST_SUITE(reduce_test)

// What touches is kept before what does not. Of the others none that is dropped would sink deeper
// than the last one that is kept, if the shape turned about those before it.
BOOST_AUTO_TEST_CASE(what_would_sink_deepest_is_kept) {
  Rng rng(51);
  const double size = 2.0, layer = 1e-4 * size;
  int few = 0, many = 0;
  for (int t = 0; t < 2000; ++t) {
    const int count = 5 + rng.below(30), most = rng.below(2) == 0 ? 4 : 8;
    const int touching = 1 + rng.below(count);
    std::vector<ManifoldPoint> points;
    for (int i = 0; i < count; ++i) {
      const double gap =
          i < touching ? rng.uniform(0.0, 0.9 * layer) : rng.uniform(2.0, 9.0) * layer;
      points.push_back({uniform_vector(rng, 1.0), gap - layer, std::uint32_t(i)});
    }
    for (int i = count - 1; i > 0; --i) std::swap(points[i], points[rng.below(i + 1)]);
    const Choice c = choose(points, size, most);
    BOOST_REQUIRE(int(c.kept.size()) == std::min(count, most));
    if (touching >= most) {
      ++many;
      for (const ManifoldPoint& p : c.kept) BOOST_TEST(int(p.feature) < touching);
      continue;
    }
    few += count > most;
    if (count <= most) continue;
    const auto [low, high] = std::minmax_element(
        points.begin(), points.end(), [](const auto& a, const auto& b) { return a.gap < b.gap; });
    const double least = low->gap, turn = (high->gap - low->gap) / size;
    const auto sinks = [&](const ManifoldPoint& p) {
      double nearest = HUGE_VAL;
      for (int k = 0; k + 1 < most; ++k) {
        const Vec3d d = p.position - c.kept[k].position;
        nearest = std::min(nearest, std::sqrt(d.x * d.x + d.y * d.y));
      }
      return turn * nearest - (p.gap - least);
    };
    for (const ManifoldPoint& p : c.dropped)
      BOOST_TEST(sinks(p) <= sinks(c.kept.back()) + 1e-8 * size);
    int touching_kept = 0;
    for (const ManifoldPoint& p : c.kept) touching_kept += int(p.feature) < touching;
    BOOST_TEST(touching_kept == touching);
  }
  BOOST_TEST(few > 300);
  BOOST_TEST(many > 300);
}

// A drum with 12 corners standing on a plane or on a box keeps a wide stance of at least 4 points.
BOOST_AUTO_TEST_CASE(many_corners_are_reduced_to_a_wide_stance) {
  std::vector<Vec3d> prism;
  for (int i = 0; i < 12; ++i) {
    const double angle = 2 * 3.14159265358979 * i / 12;
    for (const double z : {-1.0, 1.0}) prism.push_back({std::cos(angle), std::sin(angle), z});
  }
  const Shape drum = Shape::convex_mesh(prism), plane = Shape::half_space();
  const Shape box = Shape::box({3, 3, 1});
  for (const Shape* ground : {&plane, &box}) {
    const double top = ground == &plane ? 0.0 : 1.0;
    const Manifold m = manifold_of(
        {*ground, drum, Transform::identity(), {Mat3d::identity(), {0, 0, top + 1.0}}}, 1e-4);
    std::vector<Point2> points;
    for (int i = 0; i < m.count; ++i)
      points.push_back({m.points[i].position.x, m.points[i].position.y});
    BOOST_TEST(m.count == 8);
    BOOST_TEST(hull_area(points) > 2.7);  // all twelve: 3; the best eight 2.73
  }
}

// Where few corners touch and more are near, all that touch are kept: the edge of a prism.
BOOST_AUTO_TEST_CASE(touching_corners_are_kept) {
  std::vector<Vec3d> prism;
  for (int i = 0; i < 32; ++i) {
    const double angle = 2 * 3.14159265358979 * i / 32;
    for (const double x : {-0.25, 0.25})
      prism.push_back({x, 0.02 * std::sin(angle), 0.02 * std::cos(angle)});
  }
  const Shape plane = Shape::half_space(), roll = Shape::convex_mesh(prism);
  const Manifold m =
      manifold_of({plane, roll, Transform::identity(), {Mat3d::identity(), {0, 0, 0.02}}}, 1e-3);
  int touching = 0;
  for (int i = 0; i < m.count; ++i) touching += std::abs(m.points[i].gap) < 1e-12;
  BOOST_TEST(touching == 2);
  BOOST_TEST(m.count > 2);
  const Shape chip = Shape::box({0.01, 0.01, 0.00025});  // thinner than the margin
  const Manifold flat =
      manifold_of({plane, chip, Transform::identity(), {Mat3d::identity(), {0, 0, 0.00025}}}, 1e-3);
  BOOST_TEST(flat.count == 4);
  for (int i = 0; i < flat.count; ++i) BOOST_TEST(std::abs(flat.points[i].gap) < 1e-12);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace stiction::test
