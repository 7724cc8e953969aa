#include "collision/manifold/manifold_workspace.hpp"
#include "support/random.hpp"
#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <cmath>

// Rough surfaces of many triangles deep in each other: what is looked at is bounded, and there is a
// contact. Counts, no times.

using namespace stiction;
using namespace stiction::test;

namespace {

/// A ball of radius 0.5 m of 4 n (n - 1) triangles, rough by 2 %: not convex.
Shape rough_ball(int n, Rng& rng) {
  std::vector<Vec3d> corners;
  std::vector<int> triangles;
  const auto ring = [&](int i, int j) {
    return i == 0 ? 0 : i == n ? 1 : 2 + (i - 1) * 2 * n + j % (2 * n);
  };
  corners = {{0, 0, 0.5}, {0, 0, -0.5}};
  for (int i = 1; i < n; ++i) {
    for (int j = 0; j < 2 * n; ++j) {
      const double a = M_PI * i / n, b = M_PI * j / n, r = 0.5 * (1.0 + rng.uniform(-0.02, 0.02));
      corners.push_back(Vec3d{std::sin(a) * std::cos(b), std::sin(a) * std::sin(b), std::cos(a)} *
                        r);
    }
  }
  for (int i = 0; i < n; ++i) {
    for (int j = 0; j < 2 * n; ++j) {
      if (i > 0) triangles.insert(triangles.end(), {ring(i, j), ring(i + 1, j), ring(i, j + 1)});
      if (i + 1 < n)
        triangles.insert(triangles.end(), {ring(i, j + 1), ring(i + 1, j), ring(i + 1, j + 1)});
    }
  }
  return Shape::triangle_mesh(corners, triangles);
}

}  // namespace

BOOST_AUTO_TEST_SUITE(rough_meshes_test)

BOOST_AUTO_TEST_CASE(what_is_looked_at_is_bounded) {
  constexpr std::int64_t kMostCut = 30000, kMostBoxes = 400000;
  Rng rng(7);
  const Shape ball = rough_ball(60, rng);
  std::size_t most_listed = 0;
  for (const double apart : {0.95, 0.5, 0.1, 0.01, 0.0}) {
    ManifoldWorkspace work;
    const Vec3d way = unit_vector(rng) * apart;
    contact_manifolds(
        ball, Transform::identity(), ball, {Mat3d::identity(), way}, 0.001, work, nullptr);
    BOOST_TEST_CONTEXT(apart) {
      BOOST_TEST(work.triangles_tested <= kMostCut);
      BOOST_TEST(work.boxes_tested <= kMostBoxes);
      double deepest = 0.0;
      for (const Manifold& m : work.manifolds) {
        for (int k = 0; k < m.count; ++k) deepest = std::min(deepest, m.points[k].gap);
      }
      BOOST_TEST(deepest < 0.0);
    }
    most_listed = std::max(most_listed, work.triangle_pairs.size());
  }
  BOOST_TEST(most_listed > static_cast<std::size_t>(kMostCut));  // else nothing was tried
}

BOOST_AUTO_TEST_SUITE_END()
