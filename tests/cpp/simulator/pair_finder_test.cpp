#include "simulator/lanes/pair_finder.hpp"

#include "stiction/geometry/height_field.hpp"

#include "support/random.hpp"
#include <boost/test/unit_test.hpp>

#include <cmath>
#include <cstring>

using namespace stiction;
using namespace stiction::test;

namespace {

constexpr int kSamples = 40, kLanes = 4, kLane = 2;
constexpr double kCell = 0.05;

Shape field(Rng& rng) {
  const double rough = rng.uniform(0.0, 0.03);
  std::vector<double> heights;
  for (int k = 0; k < kSamples * kSamples; ++k) heights.push_back(rough * rng.uniform(-1.0, 1.0));
  return Shape::height_field(kSamples, kSamples, heights, kCell, kCell);
}

void put(const Transform& X, double* pose) {
  const Vec3d columns[4] = {X.R.c0, X.R.c1, X.R.c2, X.p};
  for (int k = 0; k < 12; ++k) pose[k] = columns[k / 3][k % 3];
}

void put(const Vec3d& x, double* out) {
  for (int k = 0; k < 3; ++k) out[k] = x[k];
}

/// Both queries of one ball over a field.
struct Queries {
  LanePairQuery any{};
  LaneBallQuery ball{};
  double pose[12], centre[3], linear[3];  // and as lanes have them, beside others:
  double poses[12 * kLanes], centres[3 * kLanes], linears[3 * kLanes];

  Queries(Rng& rng, const Scene& scene, int ground, double dt) {
    const Shape& field = scene.geometries()[ground].shape;
    const Transform& X = scene.parameters.geometry_placement[ground];
    const double radius = scene.geometries()[1 - ground].shape.size.x;
    const double half = 0.4 * kCell * kSamples;
    Vec3d c{rng.uniform(-half, half), rng.uniform(-half, half), 0.0};
    c.z = field.field->height(c.x, c.y) + radius + rng.uniform(-0.1, 0.5) * radius;
    const Transform at{rotation(rng), X * c};
    const Vec3d v = unit_vector(rng) * std::pow(10.0, rng.uniform(-2.0, 1.0));
    const Vec3d w = unit_vector(rng) * rng.uniform(0.0, 30.0);
    const double reach = dt * (norm(v) + norm(w) * radius + dt * 9.81);
    LaneShape &of_ball = ground == 0 ? any.b : any.a, &of_field = ground == 0 ? any.a : any.b;
    any.geometry_a = 0;
    any.geometry_b = 1;
    put(at, of_ball.pose);
    put(v, of_ball.linear);
    put(w, of_ball.angular);
    put(Vec3d{radius, 0, 0}, of_ball.size);
    of_ball.reach = std::max(0.5e-3, reach);
    put(X, of_field.pose);
    of_field.reach = 0.5e-3;
    any.rest_offset = rng.below(3) == 0 ? 1e-3 : 0.0;
    any.gravity = 9.81;
    put(X, pose);
    put(at.p, centre);
    put(v, linear);
    const auto spread = [](const double* from, int n, double* to) {
      for (int k = 0; k < n * kLanes; ++k) to[k] = k % kLanes == kLane ? from[k / kLanes] : -9e9;
    };
    spread(pose, 12, poses);
    spread(centre, 3, centres);
    spread(linear, 3, linears);
    ball = {ground,
            ground == 0,
            kLanes,
            poses + kLane,
            centres + kLane,
            linears + kLane,
            radius,
            any.a.reach + any.b.reach,
            any.rest_offset,
            any.gravity};
  }
};

Scene ball_and_field(Rng& rng, bool field_first) {
  Scene scene;
  const Transform X{rotation(rng), uniform_vector(rng, 0.3)};
  const double radius = rng.uniform(0.01, 0.05);
  if (field_first) scene.add_geometry("field", -1, field(rng), X);
  scene.add_body("ball", Shape::sphere(radius), 1.0, Transform::identity());
  if (!field_first) scene.add_geometry("field", -1, field(rng), X);
  return scene;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(pair_finder_test)

// What is answered at once of a ball on a field is what the narrow phase finds, fast or slow, of
// either order, in any pose.
BOOST_AUTO_TEST_CASE(balls_are_found_as_any_pair_is) {
  Rng rng(3);
  int apart = 0, passing = 0, touching = 0, left = 0;
  for (int trial = 0; trial < 400; ++trial) {
    const bool first = rng.below(2) == 0;
    const Scene scene = ball_and_field(rng, first);
    const SimulatorSettings settings;
    PairFinder finder(scene, settings);
    for (int k = 0; k < 50; ++k) {
      const Queries q(rng, scene, first ? 0 : 1, settings.dt);
      LanePairPoint point{}, points[kMostFoundPoints];
      const int found = finder.find_ball(q.ball, point);
      if (found < 0) {
        ++left;
        continue;
      }
      const int count = finder.find(q.any, points, kMostFoundPoints);
      BOOST_TEST_REQUIRE(count == found);
      if (found == 0) {
        ++apart;
        // Within the margin, and yet it does not come near: the motion was followed.
        ManifoldWorkspace work;
        const Transform ball{Mat3d::identity(), {q.centre[0], q.centre[1], q.centre[2]}};
        const int ground = first ? 0 : 1;
        contact_manifolds(scene.geometries()[1 - ground].shape,
                          ball,
                          scene.geometries()[ground].shape,
                          scene.parameters.geometry_placement[ground],
                          q.any.rest_offset + q.ball.reach,
                          work);
        passing += !work.manifolds.empty();
        continue;
      }
      ++touching;
      BOOST_TEST(std::memcmp(&point, points, sizeof point) == 0);
    }
  }
  BOOST_TEST_MESSAGE(apart << " apart, " << passing << " of them passing by, " << touching
                           << " touching, " << left << " left");
  BOOST_TEST(apart > 2000);
  BOOST_TEST(passing > 300);
  BOOST_TEST(touching > 2000);
  BOOST_TEST(left > 1000);
}

BOOST_AUTO_TEST_SUITE_END()
