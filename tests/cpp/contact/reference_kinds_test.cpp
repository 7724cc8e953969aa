#include "stiction/simulator/simulator.hpp"

#include "contact/constraint_row.hpp"
#include "dynamics/integrate.hpp"
#include "integrator/step_record.hpp"
#include "support/dense.hpp"
#include "support/row_sample.hpp"
#include <Eigen/Eigenvalues>
#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>

using namespace stiction;
using Eigen::MatrixXd;
using Eigen::Vector3d;
using Eigen::VectorXd;
using stiction::test::harmless_share;
using stiction::test::Rng;
using stiction::test::RowSample;

namespace {

using Kind = ReferenceKind;
constexpr double kDt = RowSample::kDt;
constexpr double kNegligible = 1e-6 * 0.5;  // of the slower of the caps, 0.5 m/s and 1 rad/s

/// What a test decides on its own; nothing if it is too close to call.
using Decision = std::optional<Kind>;

/// Whether x > bound.
std::optional<bool> exceeds(double x, double bound, double rounding = 1e-6) {
  if (std::abs(x - bound) <= rounding * bound) return std::nullopt;
  return x > bound;
}

/// A sample and its dense algebra.
struct Dense {
  const RowSample& s;
  MatrixXd J, M, MJ, G;
  VectorXd start, free;
  DynamicsWorkspace moved;

  explicit Dense(const RowSample& sample) : s(sample) {
    J = test::dense_jacobian(s);
    M = test::dense_mass(s);
    MJ = test::solve_semidefinite(M, J.transpose());
    G = test::multiply(J, MJ);
    start = J * s.state.v;
    free = J * s.next_velocity();
    moved.resize(s.scene);
  }
  double share(const VectorXd& u) { return harmless_share(s, moved, u); }
};

/// c* from a gap and the rule that gave it.
struct GapRule {
  Decision kind;
  double reference;
};

/// Of one row that acts alone and moves u at 1 m/s.
GapRule gap_rule(Dense& d, double gap, double cap, const VectorXd& u) {
  if (gap > 0.0) return {Kind::kSpeculative, -gap / kDt};
  const double wanted = -0.2 * gap / kDt, asked = std::min(wanted, cap);
  const double share = asked > kNegligible ? d.share(asked * u) : 1.0;
  return {wanted > cap || share < 1.0 ? Kind::kCapped : Kind::kRecovery, asked * share};
}

Decision contact_kind(Dense& d, const ConstraintRow& row, int n) {
  const Contact& c = d.s.contacts[row.index];
  const std::optional<bool> moves = exceeds(d.G(n, n), 1e-13 * d.G.diagonal().maxCoeff(), 0.9);
  if (!moves) return std::nullopt;
  if (!*moves) return Kind::kImmovable;
  if (std::isfinite(c.material.stiffness)) return Kind::kSpring;
  const GapRule rule = gap_rule(d, c.gap, 0.5, d.MJ.col(n) / d.G(n, n));
  const double approach = -d.start[n], e = c.material.restitution;
  const bool reaches = c.gap + kDt * d.free[n] < 0.0;
  const bool fast = approach > std::max(0.01, 2.0 * norm(d.s.scene.parameters.gravity) * kDt);
  if (e > 0.0 && reaches && fast && e * approach > rule.reference) return Kind::kRestitution;
  return rule.kind;
}

Decision limit_kind(Dense& d, const ConstraintRow& row, int n) {
  const Parameters& p = d.s.scene.parameters;
  const std::vector<double> q =
      d.s.scene.dof_positions({d.s.state.q.data(), d.s.state.q.data() + d.s.state.q.size()});
  const bool pushes = row.source == RowSource::kLimitRecovery;
  const bool lower = (pushes ? *(&row - 1) : row).source == RowSource::kLowerLimit;
  const double gap = lower ? q[row.index] - p.lower[row.index] : p.upper[row.index] - q[row.index];
  const double cap = test::slides(d.s.scene, row.index) ? 0.5 : 1.0;
  const double asked = std::min(-0.2 * gap / kDt, cap);
  const VectorXd u = d.MJ.col(n) / d.G(n, n);
  if (!pushes) return asked > 0.1 * cap ? Kind::kNone : gap_rule(d, gap, cap, u).kind;
  if (-0.2 * gap / kDt > cap) return Kind::kCapped;
  return asked > cap * d.share(cap * u) ? Kind::kCapped : Kind::kRecovery;
}

Decision gear_kind(Dense& d, const ConstraintRow& row, int n) {
  const double c =
      -gear_error(d.s.scene, d.s.scene.parameters, row.index, d.s.state.q.data()) / kDt;
  if (std::abs(c) <= kNegligible) return Kind::kRecovery;
  return d.share(c / d.G(n, n) * d.MJ.col(n)) < 1.0 ? Kind::kCapped : Kind::kRecovery;
}

/// q after t at the velocities of the state, roots as the integrator has them.
VectorXd drifted(const RowSample& s, double t) {
  VectorXd q = s.state.q, v = s.state.v;
  for (std::size_t k = 0; k < s.scene.trees().size(); ++k) {
    const Tree& tree = s.scene.trees()[k];
    const TreeView& view = s.work.views[k];
    const Vec3d c =
        root_point(view, tree_parameters(tree, static_cast<int>(k), s.scene.parameters));
    integrate_configuration(view, c, t, q.data() + tree.q_offset, v.data() + tree.v_offset);
  }
  return q;
}

/// Frames of both sides of a closure at q.
std::array<Transform, 2> sides(Dense& d, int i, const VectorXd& q) {
  const Parameters& p = d.s.scene.parameters;
  forward_kinematics(d.s.scene, p, q.data(), d.s.state.v.data(), d.moved);
  const Closure& c = d.s.scene.closures()[i];
  return {body_placement(d.s.scene, d.moved, c.body_a) * p.closure_X_A[i],
          body_placement(d.s.scene, d.moved, c.body_b) * p.closure_X_B[i]};
}

/// Rotation vector of small turns.
Vec3d turn(const Mat3d& R) {
  const Vec3d axis{0.5 * (R.c1.z - R.c2.y), 0.5 * (R.c2.x - R.c0.z), 0.5 * (R.c0.y - R.c1.x)};
  const double s = norm(axis);
  return s > 0.0 ? axis * (std::asin(std::min(s, 1.0)) / s) : axis;
}

/// Relative acceleration of the two sides by differences of where they are, linear and angular.
std::array<double, 2> steady_acceleration(Dense& d, int i) {
  constexpr double h = 1e-4;
  const auto before = sides(d, i, drifted(d.s, -h)), now = sides(d, i, d.s.state.q),
             after = sides(d, i, drifted(d.s, h));
  Vec3d linear[2], angular[2];
  for (int k = 0; k < 2; ++k) {
    linear[k] = (after[k].p - now[k].p) - (now[k].p - before[k].p);
    angular[k] = turn(after[k].R * transpose(now[k].R)) + turn(before[k].R * transpose(now[k].R));
  }
  return {norm(linear[1] - linear[0]) / (h * h), norm(angular[1] - angular[0]) / (h * h)};
}

Decision closure_kind(Dense& d, const ConstraintRow& row, int o) {
  const Closure& closure = d.s.scene.closures()[row.index];
  const auto [A, B] = sides(d, row.index, d.s.state.q);
  VectorXd c(row.set.dim);
  closure_error(closure, A, B, c.data());
  c /= -kDt;
  const auto acceleration = steady_acceleration(d, row.index);
  double caps = 0.0;
  bool drifts = true;
  for (int k = 0; k < row.set.dim / 3; ++k) {
    const double size = c.segment<3>(3 * k).norm();
    const auto open = exceeds(size, std::max(kNegligible, 5.0 * kDt * acceleration[k]), 1e-3);
    if (!open) return std::nullopt;
    drifts = drifts && !*open;
    caps = std::max(caps, size / (k == 0 ? 0.5 : 1.0));
  }
  if (drifts) return Kind::kDrift;
  const MatrixXd G = d.G.block(o, o, row.set.dim, row.set.dim);
  const VectorXd unit = G.diagonal().cwiseSqrt().cwiseInverse();
  const Eigen::SelfAdjointEigenSolver<MatrixXd> eigen(unit.asDiagonal() * G * unit.asDiagonal());
  if (!(eigen.eigenvalues()[0] > 1e-5)) return std::nullopt;  // its directions are cut apart
  const VectorXd lambda = G.ldlt().solve(c);
  const double share = d.share(d.MJ.middleCols(o, row.set.dim) * lambda);
  return caps > 1.0 || share < 1.0 ? Kind::kCapped : Kind::kRecovery;
}

Decision decide(Dense& d, const ConstraintRow& row, int offset) {
  switch (row.source) {
    case RowSource::kContact:
      return contact_kind(d, row, offset + 2);
    case RowSource::kLowerLimit:
    case RowSource::kUpperLimit:
    case RowSource::kLimitRecovery:
      return limit_kind(d, row, offset);
    case RowSource::kDryFriction:
      return Kind::kNone;
    case RowSource::kClosure:
      return closure_kind(d, row, offset);
    case RowSource::kGear:
      return gear_kind(d, row, offset);
  }
  return std::nullopt;
}

/// Boxes at random, most of them in each other; or a few thin ones, rough and elastic, whose
/// impacts gain energy by Newton's law.
Scene heap(Rng& rng, bool thrown) {
  Scene scene;
  const Material elastic{rng.uniform(0.5, 2.0), 1.0};
  scene.add_ground(thrown ? elastic : Material{0.5, 0.8});
  for (int i = 0; i < (thrown ? 2 : 5); ++i) {
    const Vec3d p{rng.uniform(-0.2, 0.2), rng.uniform(-0.2, 0.2), rng.uniform(0.1, 0.5)};
    const Transform X{test::rotation(rng), thrown ? Vec3d{3.0 * i, 0, rng.uniform(0.1, 0.25)} : p};
    scene.add_body("b" + std::to_string(i),
                   Shape::box(thrown ? Vec3d{0.2, 0.02, 0.01} : Vec3d{0.1, 0.08, 0.06}),
                   1.0,
                   X,
                   thrown ? elastic : Material{0.5, rng.below(2) ? 0.8 : 0.0});
  }
  return scene;
}

struct Changes {
  int none = 0, capped = 0, weaker = 0, to_gap = 0;
};

/// Rows of the problem, and at the end of the step.
void compare(const ConstraintRow& before, const ConstraintRow& after, Changes& count) {
  const double c = before.reference[2], now = after.reference[2];
  BOOST_TEST((after.reference[0] == before.reference[0]));
  if (before.kind == after.kind && c == now) {
    ++count.none;
  } else if (before.kind == Kind::kRestitution) {
    const bool restores = after.kind == Kind::kRestitution;
    BOOST_TEST((restores ? now < c && now >= after.gap_reference
                         : after.kind == after.gap_kind && now == after.gap_reference));
    ++(restores ? count.weaker : count.to_gap);
  } else {
    BOOST_TEST((before.kind == Kind::kRecovery || before.kind == Kind::kCapped));
    BOOST_TEST((after.kind == Kind::kCapped && now <= c));
    ++count.capped;
  }
}

}  // namespace

BOOST_AUTO_TEST_SUITE(reference_kinds_test)

// The kind of every row is the one that gaps, speeds and settings give, decided here with dense
// algebra and differences of positions.
BOOST_AUTO_TEST_CASE(kinds_are_those_of_gaps_speeds_and_settings) {
  Rng rng(3);
  std::array<int, 9> seen{};
  int closures[9] = {}, undecided = 0, rows = 0;
  for (int trial = 0; trial < 150; ++trial) {
    test::RowOptions options;
    options.one_tree = trial % 4 == 3;
    options.bounces = trial % 2;
    if (trial % 3) {
      options.open = std::pow(10.0, rng.uniform(-9.0, -1.5));
      options.speed = std::pow(10.0, rng.uniform(-3.0, 0.5));
    }
    const RowSample s(rng, options);
    if (s.rows.rows.empty()) continue;
    Dense dense(s);
    int offset = 0;
    for (const ConstraintRow& row : s.rows.rows) {
      const Decision kind = decide(dense, row, offset);
      offset += row.set.dim;
      ++rows;
      undecided += !kind;
      if (!kind) continue;
      BOOST_TEST(static_cast<int>(row.kind) == static_cast<int>(*kind),
                 "trial " << trial << " source " << static_cast<int>(row.source) << ": "
                          << to_string(row.kind) << ", expected " << to_string(*kind));
      ++seen[static_cast<int>(*kind)];
      closures[static_cast<int>(*kind)] += row.source == RowSource::kClosure;
    }
  }
  for (const Kind kind : {Kind::kNone,
                          Kind::kSpeculative,
                          Kind::kRecovery,
                          Kind::kCapped,
                          Kind::kDrift,
                          Kind::kRestitution,
                          Kind::kSpring,
                          Kind::kImmovable})
    BOOST_TEST(seen[static_cast<int>(kind)] > 5, to_string(kind));
  for (const Kind kind : {Kind::kDrift, Kind::kRecovery, Kind::kCapped})
    BOOST_TEST(closures[static_cast<int>(kind)] > 5, "closures: " << to_string(kind));
  BOOST_TEST(undecided < 0.05 * rows);
}

// What happens to a reference between the problem and the end of the step shows in its kind.
BOOST_AUTO_TEST_CASE(no_reference_changes_in_silence) {
  Rng rng(4);
  Changes count;
  for (int trial = 0; trial < 40; ++trial) {
    const bool thrown = trial % 2;
    const Scene scene = heap(rng, thrown);
    SimulatorSettings settings;
    settings.impact_law = "newton-dissipative";
    Simulator sim(scene, settings), twin(scene, settings);
    State state = sim.initial_state();
    state.v = (thrown ? 3.0 : 1.0) * test::random_vector(rng, scene.nv());
    for (int step = 0; step < (thrown ? 200 : 2); ++step) {
      State copy = state;
      twin.prepare(copy, {});
      sim.step(state, {});
      BOOST_TEST_REQUIRE(sim.record().rows.rows.size() == twin.record().rows.rows.size());
      for (std::size_t i = 0; i < sim.record().rows.rows.size(); ++i)
        compare(twin.record().rows.rows[i], sim.record().rows.rows[i], count);
    }
  }
  BOOST_TEST(count.none > 100);
  BOOST_TEST(count.capped > 5);
  BOOST_TEST(count.weaker > 5);
  BOOST_TEST_MESSAGE(count.to_gap << " impacts fall to what the gap asks, see impact_law_test");
}

// A closed loop that moves: its path bends, and that is no error.
BOOST_AUTO_TEST_CASE(closed_loops_that_move_have_curvature) {
  for (const bool projects : {false, true}) {
    Scene scene;
    scene.parameters.gravity = {0, 0, 0};
    for (int b = 0; b < 2; ++b)
      scene.add_body(
          "b" + std::to_string(b), Shape::sphere(0.05), 1.0, {Mat3d::identity(), {0.3 * b, 0, 0}});
    scene.disable_pair(0, 1);
    scene.add_point_closure("joint", 0, {0.15, 0, 0}, 1, {-0.15, 0, 0});
    SimulatorSettings settings;
    settings.project_closures = projects;
    Simulator sim(scene, settings);
    State state = sim.initial_state();
    state.v[5] = 2.0;
    state.v[10] = 2.0 * 0.15;
    sim.step(state, {});
    BOOST_TEST_REQUIRE(sim.record().rows.rows.size() == 1u);
    const Kind expected = projects ? Kind::kCurvature : Kind::kDrift;
    BOOST_TEST((sim.record().rows.rows[0].kind == expected));
    const double* c = sim.record().rows.rows[0].reference;
    BOOST_TEST((projects ? std::abs(c[0]) > 1e-6 : std::abs(c[0]) < 1e-12));
  }
}

BOOST_AUTO_TEST_SUITE_END()
