#include "stiction/simulator/simulator.hpp"

#include "support/compliant_scenes.hpp"
#include "support/random.hpp"
#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <vector>

// Spinning bodies of every shape dropped on floors of every stiffness and damping, at every step,
// gain at most 1 % of the energy of their start, all steps together, and no floor pulls.

using namespace stiction;
using namespace stiction::test;

namespace {

constexpr int kShapes = 7;
constexpr double kSpan = 0.8;  // [s] the longest fall takes 0.3 s

Shape random_shape(int kind, Rng& rng) {
  const auto size = [&] { return rng.uniform(0.03, 0.15); };
  switch (kind) {
    case 0:
      return Shape::box({size(), size(), size()});
    case 1:
      return Shape::sphere(size());
    case 2:
      return Shape::capsule(size(), size());
    case 3:
      return Shape::cylinder(size(), size());
    case 4:
      return Shape::cone(size(), size());
    case 5:
      return Shape::ellipsoid({size(), size(), size()});
    default: {
      std::vector<Vec3d> points(12);
      for (Vec3d& p : points)
        p = {rng.uniform(-0.1, 0.1), rng.uniform(-0.1, 0.1), rng.uniform(-0.1, 0.1)};
      return Shape::convex_mesh(points);
    }
  }
}

struct Fall {
  double growth = 0.0;  ///< of the total energy over that of the start, as a share
  double pull = 0.0;    ///< largest, of a point within a step [N s]
  bool touched = false, converged = true;
};

/// With `couples` torsional and rolling friction of 1 mm to 3 cm, and one drop in five on couples
/// alone.
Fall drop(const Shape& shape, Rng& rng, bool couples) {
  const double k = std::pow(10.0, rng.uniform(3.0, 8.0));
  const double ratio = 0.03 * std::pow(1000.0, rng.uniform(0.0, 1.0));
  const double mu = rng.uniform(0.1, 1.0), dt = std::pow(10.0, rng.uniform(-3.0, -1.4));
  const double damping = rng.uniform(0.0, 1.0) < 0.2 ? 0.0 : ratio * std::sqrt(k);
  const Mat3d R = stiction::test::rotation(rng);
  SimulatorSettings s = settings("exponential", dt);
  s.contact.per_point_stiffness = true;
  Scene scene = body_on_ground(shape, 1.0, 0.3 + rng.uniform(0.0, 0.2), {mu, 0.0, k, damping}, R);
  for (Material& m : scene.parameters.material) {
    if (!couples) break;
    m.torsional_friction = 1e-3 * std::pow(30.0, rng.uniform(0.0, 1.0));
    m.rolling_friction = 1e-3 * std::pow(30.0, rng.uniform(0.0, 1.0));
  }
  if (couples && rng.uniform(0.0, 1.0) < 0.2) {
    for (Material& m : scene.parameters.material) m.friction = 0.0;
  }
  Simulator sim(scene, s);
  State state = sim.initial_state();
  for (int i = 0; i < 6; ++i) state.v[i] = rng.uniform(-1.0, 1.0) * (i < 3 ? 1.0 : 8.0);
  Fall fall;
  double first = 0.0;
  for (int step = 0; step < static_cast<int>(kSpan / dt); ++step) {
    const StepReport& r = sim.step(state, {});
    const double energy = r.kinetic_energy + r.potential_energy + r.elastic_energy;
    if (step == 0) first = energy;
    const double growth = energy / first - 1.0;
    fall.growth =
        std::isfinite(growth) ? std::max(fall.growth, growth) : std::numeric_limits<double>::max();
    for (const ContactReport& c : sim.contacts()) fall.pull = std::max(fall.pull, -c.impulse.z);
    fall.touched = fall.touched || r.num_contacts > 0;
    fall.converged = fall.converged && r.status == StepStatus::kOk;
  }
  return fall;
}

void drop_many(bool couples) {
  const int drops = std::getenv("STICTION_FUZZ") != nullptr ? 10000 : 500;
  Rng rng(11);
  int touched[kShapes] = {}, lost = 0, gained = 0;
  double worst = 0.0, pull = 0.0;
  for (int n = 0; n < drops; ++n) {
    const int kind = n % kShapes;
    const Fall fall = drop(random_shape(kind, rng), rng, couples);
    touched[kind] += fall.touched;
    lost += !fall.converged;
    pull = std::max(pull, fall.pull);
    worst = std::max(worst, fall.growth);
    gained += !(fall.growth <= 0.01);
  }
  BOOST_TEST_MESSAGE("largest growth " << worst << ", not converged " << lost << ", pull " << pull);
  // Cones and cylinders that couples keep upright, centimetres deep in a soft floor: of 10000 four
  // find points there that no part of the step before knew. A step without couples from the same
  // state gains as much.
  BOOST_TEST(gained <= (couples ? drops / 2000 : 0));
  BOOST_TEST(lost <= drops / 25);
  BOOST_TEST(pull <= 1e-6);
  for (const int n : touched) BOOST_TEST(n >= 0.95 * (drops / kShapes));
}

}  // namespace

BOOST_AUTO_TEST_SUITE(random_drops_test)

BOOST_AUTO_TEST_CASE(random_drops_gain_no_energy) { drop_many(false); }
BOOST_AUTO_TEST_CASE(nor_do_those_with_couples_of_friction) { drop_many(true); }

BOOST_AUTO_TEST_SUITE_END()
