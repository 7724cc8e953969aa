#include "stiction/simulator/simulator.hpp"

#include "support/random.hpp"
#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

// Newton's law of impact, c_N >= e times the approach speed, in closed form.

using namespace stiction;
using stiction::test::Rng;

namespace {

constexpr double kRadius = 0.05, kDt = 1e-3;

Transform at(double x, double y, double z) { return {Mat3d::identity(), {x, y, z}}; }

SimulatorSettings settings() {
  SimulatorSettings s;
  s.dt = kDt;
  s.solver.tolerance = 1e-13;
  return s;
}

/// Balls of the given masses on the x axis, `gap` between neighbours, without gravity.
Scene row_of_balls(const std::vector<double>& masses, double restitution, double gap) {
  Scene scene;
  scene.parameters.gravity = {0, 0, 0};
  for (std::size_t k = 0; k < masses.size(); ++k) {
    scene.add_body("ball" + std::to_string(k),
                   Shape::sphere(kRadius),
                   masses[k],
                   at(static_cast<double>(k) * (2 * kRadius + gap), 0, 0),
                   {0.5, restitution});
  }
  return scene;
}

/// Speeds along x after the first ball came with 1 m/s and `steps` steps have passed.
std::vector<double> speeds_after(const Scene& scene, int steps, double first = 1.0) {
  Simulator sim(scene, settings());
  State state = sim.initial_state();
  state.v[0] = first;
  for (int k = 0; k < steps; ++k) {
    BOOST_REQUIRE((sim.step(state, {}).status == StepStatus::kOk));
  }
  std::vector<double> speeds;
  for (int k = 0; k < scene.num_bodies(); ++k) speeds.push_back(state.v[6 * k]);
  return speeds;
}

void check_speeds(const std::vector<double>& speeds, const std::vector<double>& expected) {
  BOOST_REQUIRE(speeds.size() == expected.size());
  for (std::size_t k = 0; k < speeds.size(); ++k)
    BOOST_TEST(std::abs(speeds[k] - expected[k]) < 1e-10);
}

}  // namespace

BOOST_AUTO_TEST_SUITE(impacts_test)

// Two balls: v1' = (m1 - e m2) / (m1 + m2), v2' = (1 + e) m1 / (m1 + m2), for any masses.
BOOST_AUTO_TEST_CASE(two_balls_part_with_e_times_their_approach) {
  for (const double e : {0.0, 0.3, 0.8, 1.0}) {
    for (const double mass : {1e-6, 1e-3, 0.4, 1.0, 7.0, 1e6}) {
      const double sum = 1.0 + mass;
      BOOST_TEST_CONTEXT("e " << e << ", second mass " << mass)
      check_speeds(speeds_after(row_of_balls({1.0, mass}, e, 0.01), 20),
                   {(1.0 - e * mass) / sum, (1.0 + e) / sum});
    }
  }
}

// Of two materials the larger e counts; a pair's own material replaces both.
BOOST_AUTO_TEST_CASE(a_pair_takes_the_larger_restitution_or_its_own) {
  for (const double first : {0.0, 0.2, 0.9}) {
    for (const double second : {0.1, 0.6}) {
      for (const bool own : {false, true}) {
        Scene scene = row_of_balls({1.0, 1.0}, 0.0, 0.01);
        scene.parameters.material[0].restitution = first;
        scene.parameters.material[1].restitution = second;
        if (own) scene.set_pair_material(0, 1, {0.5, 0.35});
        const double e = own ? 0.35 : std::max(first, second);
        check_speeds(speeds_after(scene, 20), {(1.0 - e) / 2, (1.0 + e) / 2});
      }
    }
  }
}

// A ball thrown obliquely: lambda_N = m (1 + e) v_N; friction stops the sliding, 2/7 m v_T, or is
// mu lambda_N. It slides on or leaves rolling.
BOOST_AUTO_TEST_CASE(oblique_impact_obeys_coulomb) {
  constexpr double kMu = 0.3;
  Rng rng(11);
  int slides = 0, trials = 60;
  for (int trial = 0; trial < trials; ++trial) {
    const double e = rng.uniform(0.0, 1.0), down = rng.uniform(0.3, 3.0),
                 along = rng.uniform(0.1, 8.0), turn = rng.uniform(-3.1, 3.1);
    Scene scene;
    scene.parameters.gravity = {0, 0, 0};
    scene.add_ground({kMu, e});
    scene.add_body("ball", Shape::sphere(kRadius), 2.0, at(0, 0, kRadius), {kMu, e});
    Simulator sim(scene, settings());
    State state = sim.initial_state();
    const double c = std::cos(turn), s = std::sin(turn);
    state.v << along * c, along * s, -down, 0, 0, 0;
    BOOST_REQUIRE((sim.step(state, {}).status == StepStatus::kOk));
    const double most = kMu * (1.0 + e) * down, stop = 2.0 / 7.0 * along,
                 loss = std::min(most, stop);
    slides += most < stop;
    const Mat3d R = rotation_from_quaternion(state.q.data() + 3);
    const Vec3d v = R * Vec3d{state.v[0], state.v[1], state.v[2]},
                w = R * Vec3d{state.v[3], state.v[4], state.v[5]};
    BOOST_TEST_CONTEXT("trial " << trial) {
      BOOST_TEST(std::abs(v.x - (along - loss) * c) < 1e-10);
      BOOST_TEST(std::abs(v.y - (along - loss) * s) < 1e-10);
      BOOST_TEST(std::abs(v.z - e * down) < 1e-10);
      const double spin = 2.5 * loss / kRadius;  // I = 2/5 m r^2, about n x direction
      BOOST_TEST(std::abs(w.x + spin * s) < 1e-9);
      BOOST_TEST(std::abs(w.y - spin * c) < 1e-9);
    }
  }
  BOOST_TEST((slides > 10 && slides < trials - 10));
}

// Newton's cradle. Balls that touch are hit at once: Newton's law asks e of the struck contact
// alone, whose approach is 1, and 0 of those at rest, so that the rest leaves as one body of mass n
// - 1. For e = 1 energy is conserved, but it is not what a real cradle does.
BOOST_AUTO_TEST_CASE(cradle_of_touching_balls_moves_as_one_body) {
  for (const int n : {2, 3, 5}) {
    for (const double e : {0.0, 0.5, 1.0}) {
      std::vector<double> expected(n, (1.0 + e) / n);
      expected[0] = (1.0 - e * (n - 1)) / n;
      BOOST_TEST_CONTEXT(n << " balls, e " << e) {
        const std::vector<double> speeds =
            speeds_after(row_of_balls(std::vector<double>(n, 1.0), e, 0.0), 1);
        check_speeds(speeds, expected);
        double energy = 0.0;
        for (const double v : speeds) energy += v * v;
        if (e == 1.0) BOOST_TEST(std::abs(energy - 1.0) < 1e-10);
      }
    }
  }
}

// A gap that takes a step to close makes the impacts one after the other: the cradle of the
// textbooks, the last ball leaves with all momentum.
BOOST_AUTO_TEST_CASE(cradle_with_gaps_passes_the_momentum_on) {
  for (const int n : {3, 5}) {
    std::vector<double> expected(n, 0.0);
    expected[n - 1] = 1.0;
    const double gap = 2.5 * kDt;  // at 1 m/s
    check_speeds(speeds_after(row_of_balls(std::vector<double>(n, 1.0), 1.0, gap), 10 * n),
                 expected);
  }
}

BOOST_AUTO_TEST_SUITE_END()
