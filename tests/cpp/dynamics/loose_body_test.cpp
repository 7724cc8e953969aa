#include "dynamics/loose_body.hpp"

#include "stiction/simulator/simulator.hpp"

#include "support/random.hpp"
#include <boost/test/unit_test.hpp>

#include <cmath>

using namespace stiction;
using namespace stiction::test;

namespace {

struct Flight {
  Simulator sim;
  State state;
  Vec3d c;
  Sym3d I;

  Flight(const MassProperties& body, const Vec3d& v, const Vec3d& w, double dt)
      : sim(scene(body), settings(dt)), state(sim.initial_state()), c(body.com), I(body.inertia) {
    state.v << v.x, v.y, v.z, w.x, w.y, w.z;
  }
  static Scene scene(const MassProperties& body) {
    Scene s;
    s.parameters.gravity = {0, 0, 0};
    s.add_body("body", body, Transform::identity());
    return s;
  }
  static SimulatorSettings settings(double dt) {
    SimulatorSettings s;
    s.dt = dt;
    return s;
  }
  void step(const Control& control = {}) {
    BOOST_REQUIRE((sim.step(state, control).status == StepStatus::kOk));
  }
  Vec3d w() const { return {state.v[3], state.v[4], state.v[5]}; }
  Mat3d R() const { return rotation_from_quaternion(state.q.data() + 3); }
  Vec3d com() const { return Vec3d{state.q[0], state.q[1], state.q[2]} + R() * c; }
  Vec3d com_velocity() const {
    return R() * (Vec3d{state.v[0], state.v[1], state.v[2]} + cross(w(), c));
  }
  double spin_energy() const { return 0.5 * dot(w(), I * w()); }
  /// World, at the orientation half a step ago.
  Vec3d angular_momentum() const { return R() * turned(w() * (-0.5 * sim.settings().dt), I * w()); }
};

MassProperties diagonal(double x, double y, double z) {
  return {0.5, {0, 0, 0}, {x, 0, y, 0, 0, z}};
}

const std::vector<std::pair<std::string, Shape>>& tumblers() {
  static const std::vector<std::pair<std::string, Shape>> shapes{
      {"coin", Shape::cylinder(0.1, 0.01)},
      {"ellipsoid", Shape::ellipsoid({0.03, 0.06, 0.12})},
      {"cone", Shape::cone(0.03, 0.12)},
      {"rod", Shape::capsule(0.03, 0.12)}};
  return shapes;
}

/// Euler's equations by RK4 at steps of about h: (R, w) from w at `t_w` and R = 1 at 0 to `t_end`.
struct Reference {
  Sym3d I;
  Mat3d inverse;
  explicit Reference(const Sym3d& inertia) : I(inertia) {
    const Mat3d m{{I.xx, I.xy, I.xz}, {I.xy, I.yy, I.yz}, {I.xz, I.yz, I.zz}};
    inverse = {solve(m, Vec3d{1, 0, 0}), solve(m, Vec3d{0, 1, 0}), solve(m, Vec3d{0, 0, 1})};
  }
  Vec3d rate(const Vec3d& w) const { return inverse * cross(I * w, w); }
  Vec3d spin(Vec3d w, double from, double to, Mat3d* R = nullptr) const {
    const int n = 1 + static_cast<int>(std::abs(to - from) / 2e-5);
    const double h = (to - from) / n;
    for (int k = 0; k < n; ++k) {
      const Vec3d k1 = rate(w), k2 = rate(w + k1 * (0.5 * h)), k3 = rate(w + k2 * (0.5 * h)),
                  k4 = rate(w + k3 * h);
      const Vec3d middle = w + (k1 * 2.0 + k2 + k3) * (h / 8.0);  // w(h/2), third order
      const Vec3d next = w + (k1 + k2 * 2.0 + k3 * 2.0 + k4) * (h / 6.0);
      // Magnus, fourth order: Simpson's mean and the commutator of the ends.
      if (R != nullptr) {
        const Vec3d turn = (w + middle * 4.0 + next) * (h / 6.0) + cross(next, w) * (h * h / -12.0);
        for (int c = 0; c < 3; ++c) {
          // columns of R exp([turn])
          const Vec3d e{c == 0 ? 1.0 : 0.0, c == 1 ? 1.0 : 0.0, c == 2 ? 1.0 : 0.0};
          scratch.column(c) = *R * turned(turn, e);
        }
        *R = scratch;
      }
      w = next;
    }
    return w;
  }
  mutable Mat3d scratch;
};

}  // namespace

BOOST_AUTO_TEST_SUITE(loose_body_test)

// Ten seconds at 27 rad/s without torque: the momentum to rounding, no drift of the energy.
BOOST_AUTO_TEST_CASE(tumbling_conserves_momentum_and_keeps_its_energy) {
  for (const auto& [name, shape] : tumblers()) {
    for (const double dt : {1e-3, 2e-3, 5e-3}) {
      Flight f(mass_properties(shape, 500.0), {0, 0, 0}, {20, 15, 10}, dt);
      const double energy = f.spin_energy();
      f.step();
      const Vec3d L = f.angular_momentum();
      const double largest = std::max({f.I.xx, f.I.yy, f.I.zz}),
                   least = std::min({f.I.xx, f.I.yy, f.I.zz});
      double norm_defect = 0.0, defect = 0.0, off = 0.0;
      for (int k = 1; k < 10.0 / dt; ++k) {
        f.step();
        norm_defect = std::max(norm_defect, std::abs(norm(f.I * f.w()) / norm(L) - 1.0));
        defect = std::max(defect, norm(f.angular_momentum() - L) / norm(L));
        off = std::max(off, std::abs(f.spin_energy() / energy - 1.0));
        BOOST_REQUIRE(f.spin_energy() <= squared_norm(L) / (2.0 * least) * (1 + 1e-12));
        BOOST_REQUIRE(f.spin_energy() >= squared_norm(L) / (2.0 * largest) * (1 - 1e-12));
      }
      BOOST_TEST_CONTEXT(name << ", dt " << dt) {
        BOOST_TEST_MESSAGE(name << " dt " << dt << ": |L| " << norm_defect << ", L " << defect
                                << ", energy " << off);
        BOOST_TEST(norm_defect < 1e-12);
        BOOST_TEST(defect < 1e-11);
        BOOST_TEST(off < 1e-3);
      }
    }
  }
}

// The motion of the body does not depend on where its frame lies: the centre of mass goes straight,
// linear momentum is exact, orientations are those of the body described from its centre.
BOOST_AUTO_TEST_CASE(frame_of_the_body_does_not_matter) {
  Rng rng(4);
  for (int trial = 0; trial < 20; ++trial) {
    MassProperties body = diagonal(0.1, 0.2, 0.25);
    body.inertia = rotate(rotation(rng), body.inertia);
    const Vec3d V = uniform_vector(rng, 3.0), w = uniform_vector(rng, 15.0);
    Flight centred(body, V, w, 2e-3);
    body.com = uniform_vector(rng, 0.5);
    Flight off(body, V - cross(w, body.com), w, 2e-3);
    for (int k = 1; k <= 1000; ++k) {
      centred.step();
      off.step();
      BOOST_REQUIRE_SMALL(norm(off.com() - body.com - V * (2e-3 * k)), 1e-11);
      BOOST_REQUIRE_SMALL(norm(off.com_velocity() - V), 1e-11);
      BOOST_REQUIRE_SMALL(norm(off.R().c0 - centred.R().c0), 1e-10);
    }
  }
}

// A racket thrown about its middle axis turns over again and again, on time to second order. The
// velocity of a state belongs to the middle of the step before: with a first velocity so meant the
// orientations are of second order too, else of first.
BOOST_AUTO_TEST_CASE(flips_about_the_middle_axis_on_time) {
  const MassProperties body = diagonal(0.1, 0.2, 0.3);
  const Reference reference(body.inertia);
  const Vec3d start{0.05, 8.0, 0.02};
  double end = 0.0;
  int flips = 0;
  for (Vec3d w = start; flips < 5; end += 1e-3) {
    const Vec3d next = reference.spin(w, 0.0, 1e-3);
    flips += (w.y < 0.0) != (next.y < 0.0);
    w = next;
  }
  BOOST_TEST(end > 2.0);
  double spin[3], turn[3], naive[3];
  for (int level = 0; level < 3; ++level) {
    const int steps = 2000 << level;
    const double dt = end / steps;
    Mat3d R = Mat3d::identity(), late = Mat3d::identity();
    const Vec3d at_0 = reference.spin(start, -0.5 * dt, 0.0);
    reference.spin(at_0, 0.0, end, &R);
    const Vec3d expected = reference.spin(start, 0.0, end, &late);
    Flight f(body, {0, 0, 0}, start, dt);
    int found = 0;
    for (int k = 0; k < steps; ++k) {
      const double before = f.w().y;
      f.step();
      found += (before < 0.0) != (f.w().y < 0.0);
    }
    BOOST_TEST(std::abs(found - 5) <= 1);
    spin[level] = norm(f.w() - expected);
    turn[level] = norm(f.R().c0 - R.c0) + norm(f.R().c1 - R.c1);
    naive[level] = norm(f.R().c0 - late.c0) + norm(f.R().c1 - late.c1);
  }
  for (int level = 0; level < 2; ++level) {
    BOOST_TEST_MESSAGE("orders: " << std::log2(spin[level] / spin[level + 1]) << " "
                                  << std::log2(turn[level] / turn[level + 1]) << " "
                                  << std::log2(naive[level] / naive[level + 1]));
    BOOST_TEST(std::abs(std::log2(spin[level] / spin[level + 1]) - 2.0) < 0.1);
    BOOST_TEST(std::abs(std::log2(turn[level] / turn[level + 1]) - 2.0) < 0.1);
  }
  BOOST_TEST(std::abs(std::log2(naive[1] / naive[2]) - 1.0) < 0.25);
}

// The equation itself is solved, from half a degree to a radian per step.
BOOST_AUTO_TEST_CASE(newton_finds_the_root) {
  Rng rng(9);
  for (const auto& [angle, allowed] :
       {std::pair{0.01, 1e-14}, {0.1, 1e-13}, {0.3, 1e-9}, {1.0, 1e-3}}) {
    for (int trial = 0; trial < 200; ++trial) {
      const double a = rng.uniform(0.01, 1.0), b = rng.uniform(0.01, 1.0),
                   c = rng.uniform(0.01, 1.0);
      const Sym3d I = rotate(rotation(rng), Sym3d{b + c, 0, a + c, 0, 0, a + b});
      const Vec3d w = unit_vector(rng) * angle, l = turned(w * -0.5, I * w);
      const Vec3d h = momentum_of_turn(I, l, w, 0.5);
      const Reference r(I);
      BOOST_TEST(std::abs(norm(h) / norm(l) - 1.0) < 1e-14);
      BOOST_TEST(norm(turned(r.inverse * h * 0.5, h) - l) < allowed * norm(l));
    }
  }
}

// Wrenches and gravity enter the balance to rounding while the body tumbles.
BOOST_AUTO_TEST_CASE(wrenches_change_momentum_by_their_impulse) {
  MassProperties body = diagonal(0.1, 0.2, 0.25);
  body.com = {0.1, -0.2, 0.05};
  Flight f(body, {1, 2, 3}, {4, -6, 5}, 2e-3);
  f.sim.parameters().gravity = {0.3, -2.0, -9.81};
  Control control;
  control.wrenches.push_back({0, {3, -1, 2}, {0.5, 0.4, -0.7}});
  for (int k = 0; k < 500; ++k) {
    f.step(control);
    const Balance b = f.sim.balance(f.state, control);
    BOOST_REQUIRE_SMALL(norm(b.linear_after - b.linear_before - b.linear_impulse), 1e-12);
    BOOST_REQUIRE_SMALL(norm(b.angular_after - b.angular_before - b.angular_impulse),
                        1e-12 * (1.0 + norm(b.angular_after)));
  }
}

// Damping far stiffer than the step brakes without reversing, armature slows.
BOOST_AUTO_TEST_CASE(damping_and_armature_brake) {
  for (const double d : {0.1, 10.0, 1e4}) {
    Flight f(diagonal(0.1, 0.2, 0.25), {0, 0, 0}, {4, -6, 5}, 2e-3);
    for (int k = 0; k < 6; ++k) f.sim.parameters().damping[k] = d;
    f.sim.parameters().armature[4] = 0.3;
    double last = f.spin_energy() + 0.15 * f.w().y * f.w().y;
    for (int k = 0; k < 500; ++k) {
      f.step();
      const double energy = f.spin_energy() + 0.15 * f.w().y * f.w().y;
      BOOST_REQUIRE(energy <= last);
      last = energy;
    }
    BOOST_TEST(last < (d > 1.0 ? 1e-8 : 8.0));
  }
}

// Spins that no step resolves stay finite, of the same momentum and within the bounds of energy.
BOOST_AUTO_TEST_CASE(unresolved_spins_stay_bounded) {
  for (const double spin : {1.0, 3.0, 10.0, 1e3, 1e6}) {
    Flight f(diagonal(0.1, 0.2, 0.25), {0, 0, 0}, Vec3d{0.6, 0.64, 0.48} * (spin / 1e-3), 1e-3);
    const double L = norm(f.I * f.w());
    for (int k = 0; k < 300; ++k) f.step();
    BOOST_TEST(std::abs(norm(f.I * f.w()) / L - 1.0) < 1e-11);
  }
}

// A turn of which a double holds no digit is not finite: a status, and the state of before.
BOOST_AUTO_TEST_CASE(absurd_spins_are_a_status) {
  for (const double w : {1e16, 1e100, 1e200, 1e308}) {
    Flight f(diagonal(0.1, 0.2, 0.25), {0, 0, 0}, {w, 0.5 * w, 0.1 * w}, 1e-3);
    const State before = f.state;
    BOOST_TEST((f.sim.step(f.state, {}).status == StepStatus::kNotFinite));
    BOOST_TEST((f.state == before));
  }
}

BOOST_AUTO_TEST_SUITE_END()
