#include "collision/surface/ball_on_field.hpp"

#include "collision/surface/separation_bound.hpp"
#include "support/random.hpp"
#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <cmath>
#include <cstring>

using namespace stiction;
using namespace stiction::detail;
using namespace stiction::test;

namespace {

constexpr int kSamples = 12;
constexpr double kCell = 0.1;

Shape field(Rng& rng) {
  const double rough = rng.below(4) == 0 ? 0.0 : rng.uniform(0.0, 0.05);
  std::vector<double> heights;
  for (int k = 0; k < kSamples * kSamples; ++k) heights.push_back(rough * rng.uniform(-1.0, 1.0));
  return Shape::height_field(kSamples, kSamples, heights, kCell, kCell);
}

double to_segment(const Vec3d& a, const Vec3d& b, const Vec3d& p) {
  const double t = dot(p - a, b - a) / squared_norm(b - a);
  return norm(p - (a + (b - a) * std::min(1.0, std::max(0.0, t))));
}

/// Of a point from all triangles, one by one.
double distance_to(const HeightField& f, const Vec3d& p) {
  double least = HUGE_VAL;
  for (int id = 0; id < f.count(); ++id) {
    int i[3], j[3];
    f.corners(id, i, j);
    Vec3d v[3];
    for (int k = 0; k < 3; ++k) v[k] = f.sample(i[k], j[k]);
    const Vec3d n = cross(v[1] - v[0], v[2] - v[0]);
    bool over = true;
    for (int k = 0; k < 3; ++k) {
      const Vec3d &a = v[k], &b = v[(k + 1) % 3];
      over = over && dot(cross(b - a, p - a), n) >= 0.0;
      least = std::min(least, to_segment(a, b, p));
    }
    if (over) least = std::min(least, std::abs(dot(n, p - v[0])) / norm(n));
  }
  return least;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(ball_on_field_test)

// What is decided is what the general way finds, to the last bit, and most of what stands on open
// ground is decided.
BOOST_AUTO_TEST_CASE(what_is_decided_is_what_the_general_way_finds) {
  Rng rng(1);
  ManifoldWorkspace work;
  std::vector<SurfacePoint> points;
  int apart = 0, on_face = 0, on_ridge = 0, several = 0, undecided = 0, level_face = 0, deep = 0;
  for (int trial = 0; trial < 20000; ++trial) {
    const Shape ground = field(rng);
    const double radius = std::pow(10.0, rng.uniform(-2.5, -1.0));
    const double margin = rng.below(3) == 0 ? 0.0 : rng.uniform(0.0, 0.02);
    const double half = 0.5 * kCell * kSamples;
    Vec3d centre{rng.uniform(-half, half), rng.uniform(-half, half), 0.0};
    if (rng.below(4) == 0) centre.x = kCell * rng.below(5);  // over an edge of the grid
    if (rng.below(4) == 0) centre.y = kCell * rng.below(5);
    const double level = ground.field->height(centre.x, centre.y);
    centre.z = (std::isnan(level) ? 0.0 : level) + radius * rng.uniform(-0.5, 1.5) +
               rng.uniform(-1.0, 2.0) * margin;
    if (rng.below(4) == 0) centre.z = level + radius + rng.uniform(0.0, 1.0) * margin;
    if (!ball_on_field(Surface(ground), radius, centre, margin, points)) {
      ++undecided;
      continue;
    }
    work.points.clear();
    work.manifolds.clear();
    const Shape ball = Shape::sphere(radius);
    convex_on_surface(ground, ball, {Mat3d::identity(), centre}, margin, work);
    BOOST_TEST_REQUIRE(work.points.size() == points.size());
    const double gap = distance_to(*ground.field, centre) - radius;
    if (gap > margin + 1e-9) BOOST_TEST(points.empty());
    if (gap < margin - 1e-9) {
      BOOST_TEST_REQUIRE(!points.empty());
      BOOST_TEST(std::abs(deepest(points) - gap) < 1e-12);
    }
    apart += points.empty();
    several += points.size() > 1;
    for (std::size_t k = 0; k < points.size(); ++k) {
      const SurfacePoint &expected = work.points[k], &point = points[k];
      BOOST_TEST(std::memcmp(&expected.normal, &point.normal, sizeof(Vec3d)) == 0);
      BOOST_TEST(std::memcmp(&expected.on_surface, &point.on_surface, sizeof(Vec3d)) == 0);
      BOOST_TEST(expected.gap == point.gap);
      BOOST_TEST(expected.feature == point.feature);
      const double along =
          dot(point.normal, centre - point.on_surface) - norm(centre - point.on_surface);
      BOOST_TEST(std::abs(along) < 1e-12);
      const Vec3d n = ground.field->normal(nearest_triangle(Surface(ground), centre, 10.0).id);
      (dot(n, point.normal) > 1.0 - 1e-9 ? on_face : on_ridge) += 1;
      deep += point.gap < 0.0;
      level_face += std::abs(point.normal.z - 1.0) < 1e-15;
    }
  }
  BOOST_TEST_MESSAGE(apart << " apart, " << on_face << " on a face, " << on_ridge
                           << " on a ridge or peak, " << several << " in several places, "
                           << undecided << " undecided");
  BOOST_TEST(apart > 2000);
  BOOST_TEST(on_face > 1000);
  BOOST_TEST(on_ridge > 200);
  BOOST_TEST(several > 200);
  BOOST_TEST(undecided > 2000);
  BOOST_TEST(deep > 200);
  BOOST_TEST(level_face > 50);
}

BOOST_AUTO_TEST_SUITE_END()
