#include "stiction/simulator/simulator.hpp"

#include "support/manifolds.hpp"
#include "support/surfaces.hpp"
#include <boost/test/unit_test.hpp>

// What starts at rest above something falls by g dt^2 in its first step. Whatever it meets on the
// way is a contact of that step, of any length: nothing ends it overlapping.

namespace stiction::test {
namespace {

constexpr double kGravity = 9.81, kRadius = 0.1;

struct Ground {
  const char* name;
  Shape shape;
  double top;
};

double gap_after_a_step(const Ground& ground, const Shape& body, double gap, double dt) {
  Scene scene;
  scene.parameters.gravity = {0, 0, -kGravity};
  scene.add_geometry("ground", -1, ground.shape, Transform::identity());
  const Vec3d start{0.013, 0.021, ground.top + kRadius + gap};
  scene.add_body("body", body, 1.0, {Mat3d::identity(), start});
  SimulatorSettings settings;
  settings.dt = dt;
  Simulator sim(scene, settings);
  State state = sim.initial_state();
  sim.step(state, {});
  return state.q[2] - ground.top - kRadius;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(release_test)

BOOST_AUTO_TEST_CASE(released_bodies_end_no_step_overlapping) {
  Rng rng(71);
  const std::vector<Ground> grounds = {
      {"half-space", Shape::half_space(), 0.0},
      {"box", Shape::box({30, 30, 30}), 30.0},
      {"hull", Shape::convex_mesh(box_corners({20, 20, 20})), 20.0},
      {"field", Shape::height_field(3, 3, std::vector<double>(9, 0.0), 20, 20), 0.0},
      {"sheet", floor_mesh(4, 10.0, rng), 0.0}};
  const Shape bodies[] = {Shape::sphere(kRadius), Shape::box({0.12, 0.15, kRadius})};
  int falls = 0, stays = 0;
  for (const Ground& ground : grounds) {
    for (const Shape& body : bodies) {
      for (const double dt : {1e-3, 5e-3, 0.02, 0.1, 1.0}) {
        const double way = kGravity * dt * dt;
        for (const double share : {0.0, 0.01, 0.3, 0.7, 0.99, 1.01, 1.5}) {
          const double end = gap_after_a_step(ground, body, share * way, dt);
          BOOST_TEST(end > -1e-6 * way - 1e-6 * kRadius,
                     to_string(body.type) << " on " << ground.name << ", dt " << dt << ", from "
                                          << share << " g dt^2: " << end);
          ++(share > 1.0 ? falls : stays);
          if (share > 1.0) BOOST_TEST(std::abs(end - (share - 1.0) * way) < 1e-9 + 1e-6 * way);
        }
      }
    }
  }
  BOOST_TEST(falls + stays == 350);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace stiction::test
