#include "stiction/simulator/simulator.hpp"

#include "simulator/integrators.hpp"
#include "support/allocation_guard.hpp"
#include "support/compliant_scenes.hpp"
#include <boost/test/unit_test.hpp>

#include <string>

using namespace stiction;
using stiction::test::allocation_count;
using stiction::test::at;

BOOST_AUTO_TEST_SUITE(compliant_allocation_test)

// Springs at many kinds of point, and a rigid pair beside them; torsional and rolling friction
// where the integrator has them.
BOOST_AUTO_TEST_CASE(warm_step_allocates_nothing) {
  for (const IntegratorEntry& entry : integrators()) {
    const std::string integrator = entry.name;
    Scene scene;
    scene.add_ground({0.6, 0.0, 2e4, 100.0});
    scene.add_body("box", Shape::box({0.1, 0.1, 0.1}), 1.0, at(0.5, 0, 0.1), {0.6});
    scene.add_body(
        "cube", Shape::box({0.1, 0.1, 0.1}), 1.0, at(0.5, 0, 0.3), {0.6, 0.0, 2e4, 50.0});
    scene.add_body("capsule", Shape::capsule(0.05, 0.1), 1.0, at(-0.5, 0, 0.16), {0.6});
    scene.add_body("egg", Shape::ellipsoid({0.05, 0.06, 0.07}), 1.0, at(0, 0.5, 0.08), {0.6});
    scene.add_body("lid", Shape::box({0.05, 0.05, 0.02}), 0.2, at(0.5, 0, 0.43), {0.6});
    scene.set_pair_material(scene.geometry("cube"), scene.geometry("lid"), {0.6});
    for (Material& m : scene.parameters.material) {
      m.torsional_friction = entry.couples ? 0.01 : 0.0;
      m.rolling_friction = entry.couples ? 0.001 : 0.0;
    }
    SimulatorSettings settings;
    settings.integrator = integrator;
    settings.dt = 5e-4;
    Simulator sim(scene, settings);
    State state = sim.initial_state();
    const Control none;
    for (int k = 0; k < 3000; ++k) sim.step(state, none);
    BOOST_TEST((sim.report().num_contacts > 6));
    const long before = allocation_count();
    for (int k = 0; k < 200; ++k) sim.step(state, none);
    BOOST_TEST(allocation_count() == before, integrator);
  }
}

BOOST_AUTO_TEST_SUITE_END()
