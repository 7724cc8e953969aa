#include "contact/contact_memory.hpp"
#include "model/contact_order.hpp"
#include "support/contact_problems.hpp"
#include "support/random_world.hpp"
#include "support/solids.hpp"
#include "support/step_differences.hpp"
#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <cmath>
#include <map>
#include <string>

// The derivatives of one step by the sizes of shapes, against differences of the step: every shape
// that has sizes on every kind of fixed ground, and boxes on each other.

namespace stiction::test {
namespace {

constexpr SolidKind kSized[] = {SolidKind::kSphere,
                                SolidKind::kCapsule,
                                SolidKind::kBox,
                                SolidKind::kCylinder,
                                SolidKind::kCone,
                                SolidKind::kEllipsoid};
constexpr SolidKind kGrounds[] = {SolidKind::kHalfSpace,
                                  SolidKind::kBox,
                                  SolidKind::kHull,
                                  SolidKind::kField,
                                  SolidKind::kConvexMesh,
                                  SolidKind::kBlocks};

struct Touch {
  Scene scene;
  SimulatorSettings settings;
  State state;
  Control control;
};

/// Turned by steps of a quarter and a little more: flat parts look at each other.
Mat3d nearly_aligned(Rng& rng, const Mat3d& R) {
  const Mat3d flip = rng.below(2) == 0 ? Mat3d::identity() : Mat3d{{0, 1, 0}, {0, 0, 1}, {1, 0, 0}};
  return R * flip * small_rotation(unit_vector(rng) * std::pow(10.0, -rng.uniform(0.7, 3.0)));
}

/// A pose of `shape` that leaves `gap` to the ground; false: there is none.
bool place(Rng& rng,
           const Shape& shape,
           const Shape& ground,
           const Transform& X_WG,
           double gap,
           Transform& X) {
  X = {rng.below(2) == 0 ? rotation(rng) : nearly_aligned(rng, X_WG.R), X_WG.p};
  X.p += ground.bounded() && ground.field == nullptr ? unit_vector(rng) : X_WG.R * unit_vector(rng);
  for (int k = 0; k < 40; ++k) {
    const DistanceResult r = distance(ground, X_WG, shape, X);
    if (std::abs(r.distance - gap) < 1e-9) return true;
    X.p += r.normal * (gap - r.distance);
  }
  return false;
}

enum Law { kRigid, kSprings, kRestitution, kLaws };

Material material_of(Rng& rng, Law law) {
  Material m;
  m.friction = rng.below(2) == 0 ? 0.2 : 2.0;
  if (law == kSprings) {
    m.stiffness = 1e4;
    m.damping = 10.0;
  }
  if (law == kRestitution) m.restitution = 0.6;
  return m;
}

Touch touch(Rng& rng, const Shape& shape, const Shape& ground, Law law, bool& placed) {
  Touch t;
  const Material material = material_of(rng, law);
  const Transform X_WG = pose(rng, 1.0);
  Transform X;
  placed = place(rng, shape, ground, X_WG, rng.below(3) == 0 ? 1e-4 : -2e-4, X);
  const bool first = rng.below(2) == 0;
  if (first) t.scene.add_geometry("ground", -1, ground, X_WG, material);
  t.scene.add_body("body", shape, 1.0, X, material);
  if (!first) t.scene.add_geometry("ground", -1, ground, X_WG, material);
  t.settings.solver.tolerance = 1e-13;
  t.settings.contact.tangential_compliance = law == kSprings;
  t.state = Simulator(t.scene, t.settings).initial_state();
  t.state.v = random_vector(rng, 6) * (rng.below(2) == 0 ? 0.02 : 0.5);
  t.control.torque = random_vector(rng, 6);
  return t;
}

/// [3 springs]
Eigen::VectorXd extensions(const State& state, const std::vector<SpringName>& springs) {
  Eigen::VectorXd e = Eigen::VectorXd::Zero(3 * static_cast<Eigen::Index>(springs.size()));
  for (std::size_t i = 0; i < springs.size(); ++i) {
    const ContactMemory* m = find_contact(state.contacts, springs[i]);
    for (int k = 0; m != nullptr && k < 3; ++k) e[3 * i + k] = m->extension[k];
  }
  return e;
}

/// Numbers of Parameters::geometry_size that are not zero.
std::vector<int> sizes_of(const Parameters& p) {
  std::vector<int> out;
  for (std::size_t k = 0; k < 3 * p.geometry_size.size(); ++k) {
    if (p.geometry_size[k / 3][k % 3] > 0.0) out.push_back(static_cast<int>(k));
  }
  return out;
}

/// Of the columns P of the step from t.state, those in `sizes`.
ColumnErrors size_errors(Simulator& simulator,
                         const Touch& t,
                         const StepDerivatives& d,
                         const std::vector<int>& sizes) {
  const int nv = t.scene.nv(), n = static_cast<int>(sizes.size());
  const std::vector<SpringName> springs = d.report.springs;
  std::vector<Vec3d>& size = simulator.parameters().geometry_size;
  Eigen::MatrixXd J(d.P.rows(), n);
  Eigen::VectorXd units(n);
  for (int j = 0; j < n; ++j) {
    J.col(j) = d.P.col(sizes[j]);
    units[j] = size[sizes[j] / 3][sizes[j] % 3];
  }
  State end = t.state;
  simulator.step(end, t.control);
  // Rounding of differences is all there is of less: [1] of q+ and extensions, [1/s] of v+.
  return column_errors(J, nv, n, units, {1e-3, 1.0, 1e-3}, [&](int j, double h) {
    double& x = size[sizes[j] / 3][sizes[j] % 3];
    x = units[j] + h;
    State other = t.state;
    simulator.step(other, t.control);
    x = units[j];
    Eigen::VectorXd out(J.rows());
    out << difference(t.scene, end.q, other.q), other.v - end.v,
        extensions(other, springs) - extensions(end, springs);
    return out;
  });
}

struct Tally {
  int steps = 0, inexact = 0, compared = 0, columns = 0, kinks = 0, springs = 0;
  double worst = 0.0;
  std::map<std::string, int> seen;  ///< columns that are not zero, by shape and size
};

/// Columns of sizes that no shape has are zero; the others agree, or the report says why not.
void judge(const Touch& t, const std::string& what, Tally& tally) {
  Simulator simulator(t.scene, t.settings);
  Touch start = t;
  if (t.settings.contact.tangential_compliance) {  // springs are stretched by the step before
    if (!simulator.step(start.state, start.control).whole()) return;
    // Its impulses might still solve the problem to rounding, and be kept: differences see less.
    for (ContactMemory& m : start.state.contacts) m.impulse_A = {0, 0, 0};
  }
  State end = start.state;
  simulator.step(end, start.control);
  if (simulator.report().status != StepStatus::kOk || simulator.report().num_contacts == 0) return;
  const StepDerivatives d = simulator.step_derivatives({"geometry_size"});
  const std::vector<int> sizes = sizes_of(t.scene.parameters);
  for (int k = 0; k < d.P.cols(); ++k) {
    if (std::find(sizes.begin(), sizes.end(), k) == sizes.end())
      BOOST_TEST(d.P.col(k).isZero(0.0), what << " column " << k);
  }
  ++tally.steps;
  tally.inexact += !d.report.exact();
  if (!comparable(d.report)) return;
  ++tally.compared;
  tally.springs += !d.report.springs.empty();
  const int n = static_cast<int>(sizes.size());
  const ColumnErrors e = size_errors(simulator, start, d, sizes);
  const double worst = e.worst(0, n);
  BOOST_TEST(worst < 1e-6, what << ": " << worst);
  tally.worst = std::max(tally.worst, worst);
  tally.columns += n;
  tally.kinks += e.kinks();
  for (const int k : sizes) {
    if (!d.P.col(k).isZero(1e-6))
      ++tally.seen[std::string(to_string(t.scene.geometries()[k / 3].shape.type)) +
                   std::to_string(k % 3)];
  }
}

/// What the boxes of a stack are to each other.
enum Between { kSticky, kSlippery, kSmooth, kRigidAtRest, kBetweens };

/// Boxes of other sizes on each other, a little askew, after some steps.
Touch stack(Rng& rng, int boxes, Between between) {
  Touch t;
  Material material;
  material.friction = between == kSmooth ? 0.0 : between == kSlippery ? 0.1 : 1.0;
  if (between == kSticky || between == kSlippery) {
    material.stiffness = 1e4;
    material.damping = 100.0;
  }
  t.scene.add_ground(material);
  double height = 0.0;
  for (int b = 0; b < boxes; ++b) {
    const Vec3d half = Vec3d{0.1, 0.12, 0.08} * rng.uniform(0.8, 1.2) * (1.0 - 0.1 * b);
    const Mat3d R = small_rotation({0.0, 0.0, rng.uniform(-0.3, 0.3)});
    const Vec3d at{rng.uniform(-0.02, 0.02),
                   rng.uniform(-0.02, 0.02),
                   height + half.z - rng.uniform(1e-5, 2e-5)};
    t.scene.add_body("box" + std::to_string(b), Shape::box(half), 1.0, {R, at}, material);
    height = at.z + half.z;
  }
  t.settings.solver.tolerance = 1e-13;
  t.settings.contact.tangential_compliance = between == kSticky;
  Simulator simulator(t.scene, t.settings);
  t.state = simulator.initial_state();
  for (int b = 0; b < boxes && (between == kSlippery || between == kSmooth); ++b) {
    t.state.v[6 * b] = rng.uniform(0.3, 0.5) * (b + 1);
    t.state.v[6 * b + 5] = rng.uniform(-0.5, 0.5);
  }
  t.control.torque.setZero(6 * boxes);
  simulator.run(t.state, t.control, between == kSticky ? 200 : 20);
  return t;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(shape_sizes_test)

BOOST_AUTO_TEST_CASE(every_shape_on_every_ground) {
  Rng rng(61);
  std::map<std::string, int> seen;
  int springs = 0;
  for (const SolidKind ground : kGrounds) {
    for (const SolidKind kind : kSized) {
      Tally tally;
      const std::string pair = std::string(name(kind)) + " on " + name(ground);
      for (int k = 0; k < 24; ++k) {
        const Shape shape = random_solid(rng, kind, 0.4).shape,
                    other = random_solid(rng, ground).shape;
        bool placed = false;
        const Touch t = touch(rng, shape, other, Law(k % kLaws), placed);
        if (placed) judge(t, pair + " " + std::to_string(k), tally);
      }
      BOOST_TEST_MESSAGE(pair << ": " << tally.steps << " steps, " << tally.inexact << " inexact, "
                              << tally.compared << " compared, " << tally.springs
                              << " with springs, " << tally.kinks << " kinks of " << tally.columns
                              << ", worst " << tally.worst);
      BOOST_TEST(tally.compared >= 10, pair << ": " << tally.compared);
      springs += tally.springs;
      BOOST_TEST(10 * tally.kinks <= tally.columns, pair << ": " << tally.kinks);
      for (const auto& [size, count] : tally.seen) seen[size] += count;
    }
  }
  for (const char* size : {"sphere0",
                           "capsule0",
                           "capsule1",
                           "box0",
                           "box1",
                           "box2",
                           "cylinder0",
                           "cylinder1",
                           "cone0",
                           "cone1",
                           "ellipsoid0",
                           "ellipsoid1",
                           "ellipsoid2"})
    BOOST_TEST(seen[size] >= 20, size << ": " << seen[size]);
  BOOST_TEST(seen.size() == 13u);
  BOOST_TEST(springs > 100);
}

BOOST_AUTO_TEST_CASE(stacks_of_boxes) {
  Rng rng(62);
  for (int between = 0; between < kBetweens; ++between) {
    Tally tally;
    for (int k = 0; k < 20; ++k)
      judge(stack(rng, 2 + k % 3, Between(between)), "stack " + std::to_string(k), tally);
    BOOST_TEST_MESSAGE("stacks " << between << ": " << tally.steps << " steps, " << tally.inexact
                                 << " inexact, " << tally.compared << " compared, " << tally.kinks
                                 << " kinks of " << tally.columns << ", worst " << tally.worst);
    BOOST_TEST(tally.compared >= 10, between << ": " << tally.compared);
    for (const char* size : {"box0", "box1", "box2"}) {
      // Level boxes that do not turn do not know how wide they are, but by springs in the plane.
      const bool felt = between <= kSlippery || size == std::string("box2");
      BOOST_TEST((tally.seen[size] >= 10) == felt,
                 between << " " << size << ": " << tally.seen[size]);
    }
  }
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace stiction::test
