#include "stiction/simulator/simulator.hpp"

#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

// What the convex relaxation makes of sliding, what the exact law makes of it, and that the
// certificate tells them apart. The relaxed law asks for c_N >= mu |c_T|: a box that touches is
// thrown up with that speed; later it glides where that speed would just close the gap in a step,
// at mu |c_T| dt, if its contact is seen from so far.

using namespace stiction;

namespace {

constexpr double kMu = 0.5, kSpeed = 6.0, kDt = 1e-3, kGravity = 9.81;

Transform at(double x, double y, double z) { return {Mat3d::identity(), {x, y, z}}; }

/// Flat boxes one on the other, which neither slip on each other nor tip, on a long table: against
/// a half-space a contact is seen from farther than the margin.
Scene flat_boxes(const std::vector<double>& masses) {
  constexpr double kHalf = 0.05;
  Scene scene;
  scene.add_geometry("table", -1, Shape::box({8, 1, 0.5}), at(5, 0, -0.5), {kMu});
  for (std::size_t k = 0; k < masses.size(); ++k) {
    const std::string name = "box" + std::to_string(k);
    const double z = (2 * static_cast<double>(k) + 1) * kHalf;
    scene.add_body(name, Shape::box({0.2, 0.2, kHalf}), masses[k], at(0, 0, z), {kMu});
    const int last = static_cast<int>(scene.geometries().size()) - 1;
    if (k > 0) scene.set_pair_material(last - 1, last, {3.0});
  }
  return scene;
}

/// What the contacts with the table did in one step.
struct Sample {
  int contacts = 0;
  double gap = 0.0;    ///< the largest in size [m]
  double speed = 0.0;  ///< |c_T| [m/s]
  Residuals certificate;
};

/// 1 s of boxes that start at 6 m/s on the table.
std::vector<Sample> slide(const Scene& scene,
                          const std::string& solver,
                          double margin,
                          double tolerance = 1e-9) {
  SimulatorSettings s;
  s.dt = kDt;
  s.solver.name = solver;
  s.solver.tolerance = tolerance;
  s.solver.max_iterations = 5000;
  if (solver == "ccp-newton") s.solver.regularisation_weight = 1e-4;  // near the rigid relaxation
  s.collision.margin = margin;
  Simulator sim(scene, s);
  State state = sim.initial_state();
  for (int k = 0; k < scene.num_bodies(); ++k) state.v[6 * k] = kSpeed;
  std::vector<Sample> out(1000);
  for (Sample& sample : out) {
    const StepReport& report = sim.step(state, {});
    sample.certificate = report.residuals;
    for (const ContactReport& c : sim.contacts()) {
      if (c.body_a >= 0) continue;
      ++sample.contacts;
      sample.gap = std::max(sample.gap, std::abs(c.gap));
      sample.speed = std::hypot(c.velocity.x, c.velocity.y);
    }
  }
  return out;
}

std::vector<std::string> solvers_of(ContactModel model) {
  std::vector<std::string> names;
  for (const SolverEntry& solver : solvers()) {
    if (solver.model == model) names.push_back(solver.name);
  }
  return names;
}

double weight(const std::vector<double>& masses) {
  double sum = 0.0;
  for (const double m : masses) sum += m * kGravity;
  return sum;
}

const std::vector<std::vector<double>> kBoxes = {{1.0}, {1.0, 100.0}};

}  // namespace

BOOST_AUTO_TEST_SUITE(relaxation_test)

// Contacts seen from 10 mm: once down again the boxes glide at mu |c_T| dt. The certificate has the
// power mu |c_T| lambda_N dt of the worst of four contacts, which carries a quarter of the weight
// at least.
BOOST_AUTO_TEST_CASE(relaxed_boxes_hover) {
  constexpr std::size_t kDown = 650;
  for (const auto& masses : kBoxes) {
    const Scene scene = flat_boxes(masses);
    for (const std::string& solver : solvers_of(ContactModel::kCcp)) {
      BOOST_TEST_CONTEXT(solver << ", " << masses.size() << " boxes") {
        const std::vector<Sample> run = slide(scene, solver, 0.01);
        BOOST_TEST(run[300].contacts == 0);  // thrown up
        for (std::size_t k = kDown; k < run.size(); ++k) {
          const Sample& sample = run[k];
          const double lift = kMu * sample.speed;
          BOOST_REQUIRE(sample.contacts == 4);
          BOOST_REQUIRE(sample.speed > 1.0);
          BOOST_REQUIRE(std::abs(sample.gap - lift * kDt) < 0.01 * lift * kDt);
          BOOST_REQUIRE(sample.certificate.complementarity > 0.24 * lift * weight(masses) * kDt);
          BOOST_REQUIRE(sample.certificate.relative > 1e-3);
        }
      }
    }
  }
}

// Contacts seen from 1 mm are lost wherever the boxes would glide higher.
BOOST_AUTO_TEST_CASE(relaxed_boxes_lose_contact_with_a_small_margin) {
  constexpr double kMargin = 1e-3;
  for (const auto& masses : kBoxes) {
    const Scene scene = flat_boxes(masses);
    for (const std::string& solver : solvers_of(ContactModel::kCcp)) {
      const std::vector<Sample> run = slide(scene, solver, kMargin);
      int steps = 0, touching = 0;
      double speed = kSpeed;  // friction lowers it only in contact
      for (const Sample& sample : run) {
        if (sample.contacts > 0) speed = sample.speed;
        if (kMu * speed * kDt < 1.1 * kMargin) break;
        ++steps;
        touching += sample.contacts > 0;
      }
      BOOST_TEST_MESSAGE(solver << ", " << masses.size() << " boxes: in contact in " << touching
                                << " of " << steps << " steps");
      BOOST_TEST_CONTEXT(solver << ", " << masses.size() << " boxes")
      BOOST_TEST((steps > 500 && touching < 0.1 * steps));
    }
  }
}

// The exact law with either margin: the gap stays nothing, and so does the certificate.
BOOST_AUTO_TEST_CASE(exact_boxes_stay_on_the_table) {
  constexpr double kTolerance = 1e-11;
  for (const auto& masses : kBoxes) {
    const Scene scene = flat_boxes(masses);
    for (const std::string& solver : solvers_of(ContactModel::kNcp)) {
      // Sweeps and splittings are slow on the stack; tests of their own say how far they come.
      if (masses.size() > 1 && solver != "ncp-newton") continue;
      for (const double margin : {1e-3, 1e-2}) {
        BOOST_TEST_CONTEXT(solver << ", " << masses.size() << " boxes, margin " << margin) {
          for (const Sample& sample : slide(scene, solver, margin, kTolerance)) {
            BOOST_REQUIRE(sample.contacts == 4);
            BOOST_REQUIRE(sample.gap < 1e-9);
            BOOST_REQUIRE(sample.certificate.relative <= kTolerance);
            BOOST_REQUIRE(sample.certificate.complementarity < 1e-9);
          }
        }
      }
    }
  }
}

BOOST_AUTO_TEST_SUITE_END()
