#include "stiction/simulator/simulator.hpp"

#include "support/random.hpp"
#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>

// Whatever lies in whatever: the counted work of a step stays below its bound, and what it ends
// with gains no energy (docs/solvers.md, budgets). No times are asserted.

using namespace stiction;
using namespace stiction::test;

namespace {

constexpr double kHeight = 0.05;  // of the jams: half in the ground

struct Jam {
  const char* name;
  int bodies;
  Shape (*shape)(Rng&);
  double jitter, friction;
};

Shape sphere(Rng&) { return Shape::sphere(0.1); }
Shape box(Rng&) { return Shape::box({0.1, 0.1, 0.1}); }
Shape hull(Rng& rng) {
  std::vector<Vec3d> points;
  for (int k = 0; k < 16; ++k) points.push_back(unit_vector(rng) * 0.1);
  return Shape::convex_mesh(points);
}

const Jam kJams[] = {{"coincident spheres", 30, &sphere, 0.0, 0.6},
                     {"spheres", 45, &sphere, 0.01, 0.6},
                     {"boxes, friction 3", 20, &box, 0.02, 3.0},
                     {"hulls", 20, &hull, 0.02, 0.8}};

Scene scene_of(const Jam& jam,
               Rng& rng,
               double stiffness = std::numeric_limits<double>::infinity()) {
  Material material{jam.friction};
  material.stiffness = stiffness;
  if (std::isfinite(stiffness)) material.damping = 10.0;
  Scene scene;
  scene.add_ground(material);
  for (int i = 0; i < jam.bodies; ++i) {
    const Vec3d off = uniform_vector(rng, 2.0 * jam.jitter);
    const Transform X{Mat3d::identity(), Vec3d{0, 0, kHeight} + off};
    scene.add_body("body" + std::to_string(i), jam.shape(rng), 1.0, X, material);
  }
  return scene;
}

/// docs/solvers.md.
double bound(int rows) { return std::max(2.7e8, 8e4 * rows); }

/// The kinetic energy of all bodies [J], by the step that begins there.
double kinetic_energy(Simulator& sim, State state) { return sim.step(state, {}).kinetic_energy; }

}  // namespace

BOOST_AUTO_TEST_SUITE(work_bound_test)

BOOST_AUTO_TEST_CASE(jams_of_rigid_bodies_end_in_time) {
  constexpr double kGravity = 9.81;
  int unsolved = 0;
  for (const Jam& jam : kJams) {
    for (int seed = 0; seed < 2; ++seed) {
      Rng rng(seed);
      const Scene scene = scene_of(jam, rng);
      SimulatorSettings s;
      Simulator sim(scene, s);
      Simulator look(scene, s);
      State state = sim.initial_state();
      for (int step = 0; step < 3; ++step) {
        const StepReport report = sim.step(state, {});
        BOOST_TEST_MESSAGE(jam.name << ": rows " << report.num_rows << ", work " << report.work
                                    << ", " << to_string(report.solver_status));
        BOOST_TEST_CONTEXT(jam.name << ", seed " << seed << ", step " << step) {
          BOOST_TEST(sim.most_work() == bound(report.num_rows));
          BOOST_TEST(report.work > 0.0);
          BOOST_TEST(report.work <= sim.most_work());
          BOOST_TEST(state.v.allFinite());
          double falls = 0.0;  // what gravity may add
          for (int i = 0; i < jam.bodies; ++i)
            falls += kGravity * s.dt * (std::abs(state.v[6 * i + 2]) + kGravity * s.dt);
          // What is solved to tolerance_large lets an amount of the impulses that press pass.
          if (report.solver_status != SolveStatus::kBudget) continue;
          ++unsolved;
          BOOST_TEST(kinetic_energy(look, state) <=
                     report.kinetic_energy + report.recovery_energy + falls);
        }
      }
    }
  }
  BOOST_TEST(unsolved > 0);  // else nothing was tried
}

// Without the bound a step takes more.
BOOST_AUTO_TEST_CASE(the_bound_ends_what_would_go_on) {
  double work[2];
  for (int k = 0; k < 2; ++k) {
    Rng rng(0);
    SimulatorSettings s;
    s.solver.max_work = k == 0 ? 0.0 : std::numeric_limits<double>::infinity();
    Simulator sim(scene_of(kJams[2], rng), s);
    State state = sim.initial_state();
    work[k] = sim.step(state, {}).work;
  }
  BOOST_TEST_MESSAGE("boxes: " << work[0] << " with the bound, " << work[1] << " without");
  BOOST_TEST(work[1] > 1.5 * work[0]);
}

// A bound that is given holds, down to what looking at the rows takes; the step says what it is.
BOOST_AUTO_TEST_CASE(a_bound_that_is_given) {
  for (const double most : {2e6, 1e7, 1e8}) {
    Rng rng(1);
    SimulatorSettings s;
    s.solver.max_work = most;
    Simulator sim(scene_of({"boxes", 12, &box, 0.02, 3.0}, rng), s);
    State state = sim.initial_state();
    const StepReport report = sim.step(state, {});
    BOOST_TEST_CONTEXT(most) {
      BOOST_TEST(sim.most_work() == most);
      BOOST_TEST(report.work <= most);
      BOOST_TEST(state.v.allFinite());
      if (most <= 2e6) BOOST_TEST((report.solver_status == SolveStatus::kBudget));
    }
  }
}

BOOST_AUTO_TEST_CASE(jams_of_compliant_boxes_end_in_time) {
  const Jam jam{"compliant boxes", 10, &box, 0.03, 0.6};
  for (const char* integrator : {"exponential", "implicit-euler", "exponential-published"}) {
    int ended = 0;
    for (int seed = 0; seed < 2; ++seed) {
      Rng rng(seed);
      SimulatorSettings s;
      s.integrator = integrator;
      Simulator sim(scene_of(jam, rng, 1e5), s);
      State state = sim.initial_state();
      for (int step = 0; step < 3; ++step) {
        const StepReport report = sim.step(state, {});
        BOOST_TEST_MESSAGE(integrator << ": contacts " << report.num_contacts << ", work "
                                      << report.work << ", " << to_string(report.solver_status));
        BOOST_TEST_CONTEXT(integrator << ", seed " << seed << ", step " << step) {
          BOOST_TEST(report.work > 0.0);
          BOOST_TEST(report.work <= sim.most_work());
          BOOST_TEST(sim.most_work() <= bound(3 * report.num_contacts));
          BOOST_TEST((state.q.allFinite() && state.v.allFinite()));
          ended += report.solver_status == SolveStatus::kBudget;
        }
      }
    }
    if (std::string(integrator) != "implicit-euler") BOOST_TEST(ended > 0);
  }
}

// Out of time at once: the step is taken all the same, by less work, and says so.
BOOST_AUTO_TEST_CASE(a_time_budget_ends_every_integrator) {
  const Jam jam{"boxes", 8, &box, 0.03, 0.6};
  for (const char* integrator : {"semi-implicit-euler",
                                 "exponential",
                                 "exponential-published",
                                 "implicit-euler",
                                 "explicit-euler",
                                 "symplectic-euler",
                                 "rk4"}) {
    const bool rigid = std::string(integrator) == "semi-implicit-euler";
    double work[2];
    for (int k = 0; k < 2; ++k) {
      Rng rng(3);
      SimulatorSettings s;
      s.integrator = integrator;
      if (!rigid) s.compliant.substeps = 4;
      s.solver.time_budget = k == 0 ? 0.0 : 1e-9;
      const double stiffness = rigid ? std::numeric_limits<double>::infinity() : 1e5;
      Simulator sim(scene_of(jam, rng, stiffness), s);
      State state = sim.initial_state();
      const StepReport report = sim.step(state, {});
      work[k] = report.work;
      BOOST_TEST_CONTEXT(integrator) {
        BOOST_TEST(std::abs(state.time - s.dt) < 1e-12);
        BOOST_TEST((state.q.allFinite() && state.v.allFinite()));
        if (k == 1) BOOST_TEST((report.solver_status == SolveStatus::kBudget));
      }
    }
    BOOST_TEST_CONTEXT(integrator) BOOST_TEST(work[1] < work[0]);
  }
}

BOOST_AUTO_TEST_SUITE_END()
