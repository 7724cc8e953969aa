#include "collision/scene/sweep.hpp"

#include "stiction/collision/distance.hpp"

#include "collision/manifold/manifold_workspace.hpp"
#include "support/manifolds.hpp"
#include <boost/test/unit_test.hpp>

// The advance of two moving shapes against the distances at many moments of the step, and the
// contact of a later moment against the velocities of points fixed to the bodies.

namespace stiction::test {
namespace {

using detail::advanced, detail::MovingShape;

constexpr double kDt = 0.01;
constexpr int kMoments = 300;

enum class Motion { kTurnA, kTurnB, kLinear, kAll };
constexpr int kMotions = 4;

MovingShape moving(const Shape& s, const Transform& X, const Vec3d& linear, const Vec3d& angular) {
  const Aabb box = bounding_box(s, Transform::identity());
  return {X, centre(box), linear, angular, 0.5 * norm(box.upper - box.lower)};
}

struct Flight {
  Shape a, b;
  MovingShape motion_a, motion_b;
  double target;

  double distance_at(double t) const {
    return distance(a, advanced(motion_a, t), b, advanced(motion_b, t)).distance;
  }
};

/// Rods, slabs and a ball a little apart.
Flight random_flight(Rng& rng, Motion motion, bool surface) {
  const auto some = [&](int kind) {
    if (kind == 0) return Shape::sphere(0.05);
    if (kind == 1) return Shape::box({0.3, 0.01, 0.02});
    return kind == 2 ? Shape::capsule(0.01, 0.3) : Shape::cylinder(0.2, 0.01);
  };
  const Vec3d h{0.3, 0.1, 0.01};
  const Shape plate =
      Shape::triangle_mesh(box_corners(h), {0, 2, 1, 1, 2, 3, 4, 5, 6, 5, 7, 6, 0, 1, 4, 1, 5, 4,
                                            2, 6, 3, 3, 6, 7, 0, 4, 2, 2, 4, 6, 1, 3, 5, 3, 7, 5});
  const Shape a = surface ? plate : some(rng.below(4)), b = some(rng.below(4));
  const bool turn_a = motion == Motion::kTurnA || motion == Motion::kAll;
  const bool turn_b = motion == Motion::kTurnB || motion == Motion::kAll;
  const bool glide = motion == Motion::kLinear || motion == Motion::kAll;
  const Transform X_WB{rotation(rng), unit_vector(rng) * rng.uniform(0.1, 0.6)};
  const auto spin = [&](bool on) { return unit_vector(rng) * (on ? rng.uniform(10, 120) : 0.0); };
  const auto speed = [&] { return unit_vector(rng) * (glide ? rng.uniform(1, 30) : 0.0); };
  return {a,
          b,
          moving(a, {rotation(rng), {0, 0, 0}}, speed(), spin(turn_a)),
          moving(b, X_WB, speed(), spin(turn_b)),
          rng.uniform(1e-3, 1e-2)};
}

}  // namespace

BOOST_AUTO_TEST_SUITE(sweep_test)

BOOST_AUTO_TEST_CASE(no_approach_is_missed_or_overshot) {
  Rng rng(61);
  ManifoldWorkspace work;
  int met[2][kMotions] = {}, passed[2][kMotions] = {};
  for (int trial = 0; trial < 1600; ++trial) {
    const bool surface = trial % 2 == 1;
    const int motion = trial / 2 % kMotions;
    const Flight f = random_flight(rng, Motion(motion), surface);
    if (f.distance_at(0.0) <= f.target) continue;
    double time = 0.0;
    const bool meets =
        surface ? detail::first_approach_of_surfaces(
                      f.a, f.motion_a, f.b, f.motion_b, kDt, f.target, work, time)
                : detail::first_approach(f.a, f.motion_a, f.b, f.motion_b, kDt, f.target, time);
    ++(meets ? met : passed)[surface][motion];
    // Before `time` the distance is above target / 2; without a meeting it stays above the target.
    const double until = meets ? time : kDt, least = meets ? 0.5 * f.target : f.target;
    for (int k = 0; k <= kMoments; ++k) {
      const double t = until * k / kMoments, d = f.distance_at(t);
      BOOST_REQUIRE_MESSAGE(d >= least - 1e-6 * f.target,
                            "trial " << trial << ": distance " << d << " at " << t << " of "
                                     << until << ", target " << f.target);
    }
  }
  for (int k = 0; k < 2; ++k) {
    for (int m = 0; m < kMotions; ++m) {
      BOOST_TEST(met[k][m] > 5, k << " " << m);
      BOOST_TEST(passed[k][m] > 5, k << " " << m);
    }
  }
}

// gap + dt c, with c the velocity at the point where the impulse acts, is the gap at the end of the
// step: that of the later moment and what the later witness points close until then.
BOOST_AUTO_TEST_CASE(a_later_contact_taken_back_ends_where_it_was_going) {
  Rng rng(62);
  int open = 0, apart = 0;
  const auto velocity = [](const MovingShape& s, double t, const Vec3d& p_W) {
    const Vec3d fixed = inverse(advanced(s, t)) * p_W;
    const double h = 1e-6;
    return (advanced(s, t + h) * fixed - advanced(s, t - h) * fixed) * (0.5 / h);
  };
  for (int trial = 0; trial < 400; ++trial) {
    const Flight f = random_flight(rng, Motion(trial % kMotions), false);
    const double time = rng.uniform(0.0, kDt);
    const double place = 0.5 * static_cast<double>(rng.below(3));
    Manifold m;
    m.normal = unit_vector(rng);
    m.count = 1;
    const Vec3d middle =
        advanced(f.motion_b, time) * (f.motion_b.centre + uniform_vector(rng, 0.3));
    m.points[0] = {middle, rng.uniform(1e-3, 0.5), 7};
    const Vec3d half = m.normal * (0.5 * m.points[0].gap);
    const double later =
        dot(m.normal,
            velocity(f.motion_b, time, middle + half) - velocity(f.motion_a, time, middle - half));
    const double end = m.points[0].gap + (kDt - time) * later;
    detail::take_back(f.motion_a, f.motion_b, time, kDt, 0.0, place, m);
    const ManifoldPoint& p = m.points[0];
    const double here = dot(
        m.normal, velocity(f.motion_b, 0.0, p.position) - velocity(f.motion_a, 0.0, p.position));
    // With the later lever arm about the chosen centre.
    const auto kept = [&](const MovingShape& s, const Vec3d& witness) {
      return s.X * s.centre + witness - advanced(s, time) * s.centre;
    };
    const Vec3d expected =
        kept(f.motion_a, middle - half) * (1.0 - place) + kept(f.motion_b, middle + half) * place;
    BOOST_TEST(norm(p.position - expected) < 1e-12);
    BOOST_TEST(p.gap >= 0.0);
    if (p.gap == 0.0) continue;
    ++open;
    apart += std::abs(kDt * (here - later)) > 1e-3;
    BOOST_TEST(std::abs(p.gap + kDt * here - end) < 1e-6);
  }
  BOOST_TEST(open > 100);
  BOOST_TEST(apart > 30);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace stiction::test
