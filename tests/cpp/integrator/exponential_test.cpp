#include "stiction/simulator/simulator.hpp"

#include "integrator/compliant_substep.hpp"
#include "scenes/scenes.hpp"
#include "support/compliant_scenes.hpp"
#include "support/random.hpp"
#include <boost/test/unit_test.hpp>

#include <cmath>
#include <string>
#include <vector>

using namespace stiction;
using namespace stiction::test;

namespace {

State end_of(const Scene& scene,
             const SimulatorSettings& s,
             const std::vector<double>& v,
             double duration) {
  Simulator sim(scene, s);
  State state = sim.initial_state();
  for (std::size_t k = 0; k < v.size(); ++k) state.v[k] = v[k];
  const int steps = static_cast<int>(std::lround(duration / s.dt));
  for (int k = 0; k < steps; ++k)
    BOOST_TEST_REQUIRE((sim.step(state, {}).status == StepStatus::kOk));
  return state;
}

double difference(const State& a, const State& b) {
  return std::max((a.q - b.q).cwiseAbs().maxCoeff(), (a.v - b.v).cwiseAbs().maxCoeff());
}

/// z'' = -g - (k z + d z') / m in closed form, three regimes, from (z, v).
struct Oscillator {
  double k, d, m;
  void move(double t, double& z, double& v) const {
    const long double c = (long double)d / m, w2 = (long double)k / m,
                      rest = -(long double)m * kGravity / k, y = z - rest, D = c * c / 4 - w2;
    const long double w = std::sqrt(std::abs(D));
    long double s,
        r;  // of the response, s'' + c s' + w2 s = 0, s(0) = 0, s'(0) = 1, and r = s' + c s / 2
    if (w * t < 1e-7L) {
      s = t * std::exp(-c * t / 2);
      r = std::exp(-c * t / 2);
    } else if (D > 0) {
      const long double slow = std::exp(-w2 / (c / 2 + w) * t), fast = std::exp(-(c / 2 + w) * t);
      s = (slow - fast) / (2 * w);
      r = (slow + fast) / 2;
    } else {
      s = std::exp(-c * t / 2) * std::sin(w * t) / w;
      r = std::exp(-c * t / 2) * std::cos(w * t);
    }
    const long double v0 = v;
    z = static_cast<double>(rest + y * (r + c / 2 * s) + v0 * s);
    v = static_cast<double>(v0 * (r - c / 2 * s) - w2 * y * s);
  }
  double force(double z, double v) const { return -k * z - d * v; }
};

/// A point that falls and bounces, to the end of `duration`: parabolas, and the oscillator until
/// its force is zero.
void bounce(const Oscillator& o, double duration, double& z, double& v) {
  double left = duration;
  while (left > 0.0) {
    const double fall = (v + std::sqrt(v * v + 2.0 * kGravity * z)) / kGravity;
    const double flight = std::min(fall, left);
    z += flight * (v - 0.5 * kGravity * flight);
    v -= kGravity * flight;
    left -= flight;
    if (!(left > 0.0)) return;
    z = 0.0;
    const double quarter = 0.5 * 3.14159265358979 / std::sqrt(o.k / o.m);
    double a = 0.0, b = left;
    for (double t = 0.02 * quarter; t < left; t += 0.02 * quarter) {
      double zt = z, vt = v;
      o.move(t, zt, vt);
      if (o.force(zt, vt) > 0.0) continue;
      b = t;
      a = t - 0.02 * quarter;
      for (int i = 0; i < 80; ++i) {
        const double middle = 0.5 * (a + b);
        double zm = z, vm = v;
        o.move(middle, zm, vm);
        (o.force(zm, vm) > 0.0 ? a : b) = middle;
      }
      break;
    }
    o.move(b, z, v);
    left -= b;
  }
}

}  // namespace

BOOST_AUTO_TEST_SUITE(exponential_test)

// A ball that swings on the surface without leaving it is a spring, a mass and a damper: exact in
// every regime and at any step.
BOOST_AUTO_TEST_CASE(spring_mass_damper_at_any_step) {
  const double m = 2.0, radius = 0.1;
  for (const double k : {1e3, 1e5, 1e7}) {
    for (const double ratio : {0.0, 0.03, 0.5, 1.0, 4.0, 30.0}) {
      const Oscillator o{k, 2.0 * ratio * std::sqrt(k * m), m};
      const double rest = -m * kGravity / k;
      const Scene scene =
          body_on_ground(Shape::sphere(radius), m, radius + 1.6 * rest, {0.5, 0.0, k, o.d});
      for (const double dt : {1e-3, 0.04, 1.0}) {
        Simulator sim(scene, settings("exponential", dt));
        State state = sim.initial_state();
        for (int step = 1; step <= 5; ++step) {
          sim.step(state, {});
          BOOST_TEST((sim.report().status == StepStatus::kOk));
          double z = 1.6 * rest, v = 0.0;
          o.move(step * dt, z, v);
          // The phase of an undamped swing is as good as sqrt(k / m) t; and positions are the sum
          // of a free fall and what the contact took back of it.
          const double phase = std::sqrt(k / m) * step * dt, scale = 1.0 + 4e-4 * phase;
          const double rounding = 4e-16 * (radius + kGravity * dt * dt) * step;
          BOOST_TEST(
              std::abs(state.q[2] - radius - z) <= 1e-12 * -rest * scale + rounding,
              "k " << k << " ratio " << ratio << " dt " << dt << ": " << state.q[2] - radius - z);
          const double swing = -rest * std::sqrt(k / m);
          BOOST_TEST(
              std::abs(state.v[2] - v) <= 1e-12 * swing * scale + rounding * std::sqrt(k / m),
              "k " << k << " ratio " << ratio << " dt " << dt << ": " << state.v[2] - v);
        }
      }
    }
  }
}

BOOST_AUTO_TEST_CASE(bouncing_ball_at_any_step) {
  const std::pair<double, double> grounds[] = {
      {1e3, 0.5}, {1e5, 0.5}, {1e7, 0.5}, {1e9, 0.5}, {1e3, 0.0}, {1e5, 0.0}, {1e7, 0.0}};
  for (const auto& [k, mu] : grounds) {
    const Oscillator o{k, 0.1 * std::sqrt(k), 1.0};
    const Scene scene = body_on_ground(Shape::sphere(0.1), 1.0, 0.15, {mu, 0.0, k, o.d});
    double z = 0.05, v = 0.0;
    bounce(o, 0.8, z, v);
    for (const double dt : {0.1, 0.04, 0.02, 0.01, 0.005, 0.001}) {
      const State end = end_of(scene, settings("exponential", dt), {}, 0.8);
      BOOST_TEST(std::abs(end.q[2] - 0.1 - z) <= 1e-8,
                 "k " << k << " dt " << dt << ": " << end.q[2] - 0.1 - z);
      BOOST_TEST(std::abs(end.v[2] - v) <= 1e-6, "k " << k << " dt " << dt);
    }
  }
}

// The four corners of a box that lands within a step share the stiffness of the pair as those of
// one that rests: its bounce is that of a ball on one such spring.
BOOST_AUTO_TEST_CASE(flat_box_bounces_as_a_ball) {
  const Oscillator o{1e5, 0.0, 1.0};
  const Scene scene = body_on_ground(Shape::box({0.1, 0.1, 0.1}), 1.0, 0.15, {0.0, 0.0, o.k, o.d});
  double z = 0.05, v = 0.0;
  bounce(o, 0.6, z, v);
  for (const double dt : {5e-3, 2e-3, 1e-3}) {
    const State end = end_of(scene, settings("exponential", dt), {}, 0.6);
    BOOST_TEST(std::abs(end.q[2] - 0.1 - z) <= 1e-8, "dt " << dt << ": " << end.q[2] - 0.1 - z);
  }
}

// Second order between switches, against rk4 at steps of microseconds: sticking corners, and a box
// that slides and spins, whose friction turns all the time.
BOOST_AUTO_TEST_CASE(second_order_sticking_and_sliding) {
  const auto check = [](double mu, const std::vector<double>& v, double dt, double order) {
    const Scene scene =
        body_on_ground(Shape::box({0.1, 0.15, 0.05}), 1.0, 0.04999, {mu, 0.0, 4e5, 1200.0});
    const State reference = end_of(scene, settings("rk4", 5e-6), v, 0.04);
    double last = 0.0;
    for (int k = 0; k < 4; ++k) {
      const State end = end_of(scene, settings("exponential", dt / (1 << k)), v, 0.04);
      const double error = difference(end, reference);
      if (k > 0)
        BOOST_TEST(std::log2(last / error) >= order,
                   "order " << std::log2(last / error) << ", error " << error);
      last = error;
    }
    return last;
  };
  BOOST_TEST(check(0.5, {1.0, 0.3, 0.0, 0.0, 0.0, 6.0}, 0.01, 1.8) <= 2e-4);
  BOOST_TEST(check(5.0, {0.002, 0.0, -0.01, 0.05, 0.0, 0.03}, 0.01, 1.7) <= 1e-6);
}

// Friction whose direction turns within one step: 0.3 m/s along x, pulled along y.
BOOST_AUTO_TEST_CASE(friction_that_turns_within_a_step) {
  Scene scene = body_on_ground(
      Shape::box({0.2, 0.2, 0.01}), 1.0, 0.01 - kGravity / 4e5, {0.25, 0.0, 4e5, 1200.0});
  scene.parameters.gravity = {0.0, 4.0, -kGravity};
  const State reference = end_of(scene, settings("rk4", 5e-6), {0.3}, 0.04);
  const State end = end_of(scene, settings("exponential", 0.04), {0.3}, 0.04);
  BOOST_TEST(difference(end, reference) <= 0.006);
}

// Second order too where servos move the joints of a robot that stands, and while they do in
// flight.
BOOST_AUTO_TEST_CASE(second_order_with_servos) {
  for (const double lifted : {0.0, 0.5}) {
    Scene scene = make_scene("solo12");
    for (Material& m : scene.parameters.material) m.stiffness = 2e5, m.damping = 600.0;
    const auto end = [&](const std::string& integrator, double dt) {
      Simulator sim(scene, settings(integrator, dt));
      State state = sim.initial_state("standing");
      state.q[2] += lifted - 6e-5;
      Control control = sim.hold("standing");
      for (int k = 0; k < 12; ++k) control.position_target[6 + k] += k % 3 == 2 ? 0.1 : -0.05;
      sim.run(state, control, static_cast<int>(std::lround(0.016 / dt)));
      return state;
    };
    const State reference = end("rk4", 5e-6);
    const double coarse = difference(end("exponential", 2.5e-4), reference);
    const double fine = difference(end("exponential", 1.25e-4), reference);
    BOOST_TEST(std::log2(coarse / fine) >= 1.7,
               "lifted " << lifted << ": " << coarse << " " << fine);
  }
}

// A block that starts to slide, comes to rest and sticks: friction only, the distance is v^2/2 mu
// g.
BOOST_AUTO_TEST_CASE(sliding_block_stops_where_it_must) {
  const double mu = 0.3, v = 0.5, k = 1e7;
  const Scene scene =
      body_on_ground(Shape::box({0.2, 0.2, 0.01}), 1.0, 0.01 - kGravity / k, {mu, 0.0, k, 5e3});
  for (const double dt : {0.1, 0.02, 0.005}) {
    const State end = end_of(scene, settings("exponential", dt), {v}, 0.4);
    BOOST_TEST(std::abs(end.q[0] - v * v / (2.0 * std::sqrt(mu) * kGravity)) <= 2e-5,
               "dt " << dt << " at " << end.q[0]);
    BOOST_TEST(end.v.norm() <= 1e-9);
  }
}

// A box at rest stays where it is, at the depth m g / k, whatever stiffness and step.
BOOST_AUTO_TEST_CASE(box_at_rest_on_steel_at_one_second) {
  for (const double d : {0.0, 1e4}) {
    const double k = 4e9, depth = kGravity / k;
    const Scene scene =
        body_on_ground(Shape::box({0.1, 0.1, 0.05}), 1.0, 0.05 - depth, {0.5, 0.0, k, d});
    const State end = end_of(scene, settings("exponential", 1.0), {}, 20.0);
    BOOST_TEST(std::abs(end.q[2] - 0.05 + depth) <= 1e-12);
    BOOST_TEST(end.v.norm() <= 1e-7);
  }
}

// Without springs there is only free fall and damping.
BOOST_AUTO_TEST_CASE(no_stiffness_to_speak_of) {
  const Scene scene = body_on_ground(Shape::sphere(0.1), 1.0, 0.0999, {0.0, 0.0, 1e-300, 0.0});
  const State end = end_of(scene, settings("exponential", 0.1), {}, 1.0);
  BOOST_TEST(std::abs(end.q[2] - 0.0999 + 0.5 * kGravity) <= 1e-12);
}

// Bodies that do not touch each other move as if alone.
BOOST_AUTO_TEST_CASE(islands_do_not_know_of_each_other) {
  const Material ground{0.5, 0.0, 1e5, 300.0};
  Scene both;
  both.add_ground(ground);
  both.add_body("a", Shape::box({0.1, 0.1, 0.1}), 1.0, {Mat3d::identity(), {0, 0, 0.1}}, {1.0});
  both.add_body("b", Shape::sphere(0.1), 1.0, {Mat3d::identity(), {1, 0, 0.13}}, {1.0});
  Scene alone;
  alone.add_ground(ground);
  alone.add_body("a", Shape::box({0.1, 0.1, 0.1}), 1.0, {Mat3d::identity(), {0, 0, 0.1}}, {1.0});
  const State two = end_of(both, settings("exponential", 5e-3), {1.0, 0, 0, 0, 0, 2.0}, 0.2);
  const State one = end_of(alone, settings("exponential", 5e-3), {1.0, 0, 0, 0, 0, 2.0}, 0.2);
  BOOST_TEST((two.q.head(7) - one.q).norm() <= 1e-12);
}

// With an accuracy the step is cut until it is met.
BOOST_AUTO_TEST_CASE(accuracy_is_kept) {
  const Scene scene =
      body_on_ground(Shape::box({0.1, 0.15, 0.05}), 1.0, 0.06, {0.5, 0.0, 1e5, 100.0});
  const double dt = 0.01;
  SimulatorSettings fine = settings("rk4", dt / 4096.0);
  fine.contact.per_point_stiffness = true;  // else it jumps when a point comes near
  int steps = 0, kept = 0;
  for (const double accuracy : {3e-3, 1e-3}) {
    SimulatorSettings s = settings("exponential", dt);
    s.compliant.accuracy = accuracy;
    s.contact.per_point_stiffness = true;
    Simulator sim(scene, s), exact(scene, fine);
    State state = sim.initial_state();
    state.v[0] = 1.0;
    state.v[5] = 4.0;
    for (int k = 0; k < 20; ++k) {
      State reference = state;
      for (int i = 0; i < 4096; ++i) exact.step(reference, {});
      sim.step(state, {});
      ++steps;
      kept += difference(state, reference) <= accuracy;
    }
  }
  BOOST_TEST(kept >= 0.95 * steps, kept << " of " << steps);
}

BOOST_AUTO_TEST_CASE(settings_are_checked) {
  SimulatorSettings s = settings("exponential", 1e-3);
  s.compliant.law = "published";
  BOOST_CHECK_THROW(s.validate(), std::invalid_argument);
  s = settings("exponential", 1e-3);
  s.compliant.accuracy = -1.0;
  BOOST_CHECK_THROW(s.validate(), std::invalid_argument);
  s = settings("exponential-published", 1e-3);
  s.compliant.max_products = -2;
  BOOST_CHECK_THROW(s.validate(), std::invalid_argument);
  s.compliant.max_products = 2;
  s.compliant.projection = "nearest";
  BOOST_CHECK_THROW(s.validate(), std::invalid_argument);
}

// A step begins with the kinematics that the last one ended with, unless they are of another state
// or of other parameters.
BOOST_AUTO_TEST_CASE(known_kinematics_are_those_of_state_and_parameters) {
  Scene scene = make_scene("solo12");
  for (std::size_t g = 0; g < scene.geometries().size(); ++g) {
    if (scene.geometries()[g].body >= 0) continue;
    scene.parameters.material[g].stiffness = 1e5;
    scene.parameters.material[g].damping = 300.0;
  }
  Simulator sim(scene, settings("exponential", 1e-3));
  const Control hold = sim.hold("standing");
  State state = sim.initial_state("standing");
  sim.run(state, hold, 3);
  const auto check = [&](const char* what) {
    Simulator fresh(scene, settings("exponential", 1e-3));
    fresh.parameters() = sim.parameters();
    State other = state;
    sim.step(state, hold);
    fresh.step(other, hold);
    BOOST_TEST(state.q == other.q, what);
    BOOST_TEST(state.v == other.v, what);
  };
  check("as it was");
  sim.parameters().placement[3].p.z += 1e-3;
  sim.parameters().gravity.x = 0.1;
  check("after a change of parameters");
  state.v[8] += 1e-2;
  check("after a change of velocity");
  state.q[9] += 1e-3;
  check("after a change of configuration");
}

// A thrown stack on dampers of 1e7 N s/m and next to no springs, where friction that holds its line
// within a segment feeds on itself: parts are halved for their energy until the work is spent.
BOOST_AUTO_TEST_CASE(work_of_a_step_is_bounded) {
  Scene scene = make_scene("box-stack");
  for (Material& m : scene.parameters.material) {
    m.stiffness = 100.0;
    m.damping = 1e7;
  }
  const SimulatorSettings s = settings("exponential", 1e-2);
  const Control none;
  const CompliantInput input{
      scene, scene.parameters, none, s.compliant, s.contact, s.collision, s.solver, s.dt};
  int attempts[2], taken[2];
  for (const int bounded : {0, 1}) {
    CompliantWorkspace work;
    work.resize(scene);
    work.exponential.most_taken = bounded == 1 ? 100 : 1200;
    State state = make_state(scene, scene.default_q());
    for (int k = 0; k < state.v.size(); ++k) state.v[k] = std::sin(1.0 + 2.3 * k);
    work.outcome.begin();
    exponential(input, state, work);
    BOOST_TEST(state.v.allFinite());
    BOOST_TEST((bounded == 0 || !work.outcome.converged));  // a velocity was scaled
    attempts[bounded] = static_cast<int>(work.outcome.iterations);
    taken[bounded] = work.exponential.taken;
    BOOST_TEST_MESSAGE("attempts " << attempts[bounded] << ", segments " << taken[bounded]);
  }
  BOOST_TEST(taken[1] < 0.7 * taken[0]);
  BOOST_TEST(attempts[1] < attempts[0]);
}

BOOST_AUTO_TEST_SUITE_END()
