#include "stiction/simulator/simulator.hpp"

#include "scenes/scenes.hpp"
#include "support/test_data.hpp"
#include <boost/test/unit_test.hpp>

#include <fstream>
#include <string>

// How the work of the collision part grows with the number of bodies, by counters.

namespace stiction::test {
namespace {

struct Cost {
  CollisionCounters all;
  double bodies = 0, plane_tests = 0, touching = 0;  ///< contacts between bodies: touching
  double tests() const { return (double(all.tested_pairs) - plane_tests) / touching; }
  double calls() const { return (double(all.narrow_phase_calls) - plane_calls) / touching; }
  double overlaps() const { return (double(all.overlapping_pairs) - plane_tests) / touching; }
  double plane_calls = 0;
};

/// Counters of the second call at a state: the first one fills the broad phase.
Cost cost_at(const Scene& scene, const State& start) {
  SimulatorSettings settings;
  settings.dt = 2e-3;
  Simulator sim(scene, settings);
  State state = start;
  sim.find_contacts(state);
  Cost cost;
  cost.all = sim.find_contacts(state);
  cost.bodies = scene.num_bodies();
  int planes = 0;
  for (const Geometry& g : scene.geometries()) planes += !g.shape.bounded();
  cost.plane_tests = planes * cost.bodies;
  Simulator stepper(scene, settings);
  State stepped = start;
  stepper.step(stepped, stepper.hold());
  std::uint64_t last = 0;
  for (const Contact& c : stepper.contact_set()) {
    cost.touching += c.body_a >= 0 && c.body_b >= 0;
    if (c.body_a < 0 && c.pair != last) cost.plane_calls += 1.0;
    last = c.pair;
  }
  return cost;
}

/// A pile of YCB hulls settled for 4 s at 5 ms, positions rounded to 1e-5 m.
Cost settled_pile(int n) {
  SceneOptions options;
  options.n = n;
  const Scene scene = make_scene("ycb-pile", options);
  const std::string path = test_data("piles/ycb_pile_" + std::to_string(n) + ".txt");
  std::ifstream file(path);
  std::vector<double> q;
  for (double x; file >> x;) q.push_back(x);
  BOOST_REQUIRE_MESSAGE(int(q.size()) == scene.nq(), path);
  for (std::size_t i = 0; i < q.size(); i += 7) {
    double* x = &q[i] + 3;
    const double l = std::sqrt(x[0] * x[0] + x[1] * x[1] + x[2] * x[2] + x[3] * x[3]);
    for (int k = 0; k < 4; ++k) x[k] /= l;
  }
  return cost_at(scene, make_state(scene, q));
}

/// n x n x n boxes, each on the one below, side by side with gaps of 2 mm.
Cost block_of_boxes(int n) {
  Scene scene;
  scene.add_ground();
  for (int i = 0; i < n * n * n; ++i) {
    const Vec3d at{0.202 * (i % n), 0.202 * (i / n % n), 0.1 + 0.2 * (i / (n * n))};
    scene.add_body(
        "box" + std::to_string(i), Shape::box({0.1, 0.1, 0.1}), 1.0, {Mat3d::identity(), at});
  }
  return cost_at(scene, make_state(scene, scene.default_q()));
}

void print(const char* what, const Cost& c) {
  BOOST_TEST_MESSAGE(what << " of " << c.bodies << ": per contact between bodies " << c.tests()
                          << " box tests, " << c.overlaps() << " overlaps, " << c.calls()
                          << " narrow-phase calls; in all " << c.all.tested_pairs << ", "
                          << c.all.overlapping_pairs << ", " << c.all.narrow_phase_calls << " for "
                          << c.all.contacts << " contacts");
}

}  // namespace

BOOST_AUTO_TEST_SUITE(cost_test)

// From 50 to 400 hulls the narrow phase is asked at most 1.3 times as often per contact between
// bodies. Overlapping boxes themselves become more frequent by 1.36 (a small pile is mostly
// surface), and box tests do not grow faster than they.
BOOST_AUTO_TEST_CASE(settled_piles) {
  const Cost small = settled_pile(50), large = settled_pile(400);
  print("pile", small);
  print("pile", large);
  BOOST_TEST(small.touching > 100);
  BOOST_TEST(large.calls() <= 1.3 * small.calls());
  BOOST_TEST(large.tests() / small.tests() <= 1.1 * large.overlaps() / small.overlaps());
  BOOST_TEST(large.tests() <= 1.5 * large.overlaps());
  BOOST_TEST(large.tests() <= 1.5 * small.tests());
}

// Blocks of 64 to 512 boxes: per contact the same work, up to the share of the surface.
BOOST_AUTO_TEST_CASE(blocks_of_boxes) {
  const Cost small = block_of_boxes(4), large = block_of_boxes(8);
  print("block", small);
  print("block", large);
  BOOST_TEST(large.calls() <= 1.3 * small.calls());
  BOOST_TEST(large.tests() <= 1.3 * small.tests());
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace stiction::test
