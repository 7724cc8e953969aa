#include "stiction/contact/build_problem.hpp"

#include "dynamics/mass_matrix.hpp"
#include "support/dense.hpp"
#include "support/random_tree.hpp"
#include <Eigen/Core>
#include <boost/test/unit_test.hpp>

#include <cmath>
#include <numeric>
#include <set>

using namespace stiction;
using Eigen::MatrixXd;
using Eigen::VectorXd;
using stiction::test::multiply;
using stiction::test::Rng;
using stiction::test::solve_semidefinite;

namespace {

constexpr double kDt = 1e-3;

/// A random tree in a random configuration, a ball on each body, limits close by, dry friction.
Robot random_robot(Rng& rng, const std::string& name) {
  Robot robot;
  robot.name = name;
  robot.bodies = test::random_tree(rng);
  for (std::size_t i = 0; i < robot.bodies.size(); ++i) {
    const JointType joint = robot.bodies[i].joint;
    double quaternion[4] = {0, 0, 0, 1};
    integrate_quaternion(quaternion, test::uniform_vector(rng, 2.0));
    const double x = rng.uniform(-0.5, 0.5);
    std::vector<double> q{x};
    if (joint == JointType::kContinuous) q = {std::cos(x), std::sin(x)};
    if (joint == JointType::kFreeFlyer) q = {x, rng.uniform(-0.5, 0.5), rng.uniform(0.0, 0.3)};
    if (joint_nq(joint) >= 4)
      q.insert(joint == JointType::kSpherical ? (q.clear(), q.end()) : q.end(),
               quaternion,
               quaternion + 4);
    robot.neutral.insert(robot.neutral.end(), q.begin(), q.end());
    for (int k = 0; k < joint_nv(joint); ++k) {
      DofDescription d;
      d.armature = rng.uniform(0.0, 0.1);
      d.damping = rng.uniform(0.0, 0.1);
      if (joint_nv(joint) == 1 && rng.below(2)) d.lower = x + rng.uniform(-0.03, 0.01);
      if (joint_nv(joint) == 1 && rng.below(2))
        d.upper = std::max(d.lower, x + rng.uniform(-0.01, 0.03));
      if (rng.below(3) == 0) d.dry_friction = rng.uniform(0.1, 1.0);
      robot.dofs.push_back(d);
    }
    GeometryDescription g;
    g.name = "ball" + std::to_string(i);
    g.body = static_cast<int>(i);
    g.shape = Shape::sphere(rng.uniform(0.05, 0.3));
    g.material = {rng.uniform(0.1, 1.0), 0.0, rng.below(4) ? kInfinity : 1e4, 10.0};
    robot.geometries.push_back(g);
  }
  return robot;
}

/// A scene with its problem, built as a step does.
struct Sample {
  Scene scene;
  State state;
  DynamicsWorkspace work;
  CollisionWorkspace collision;
  ContactSet contacts;
  ConstraintRows rows;
  ContactProblem problem;
  std::vector<double> impulse;

  explicit Sample(Rng& rng) {
    scene.add_ground({0.7});
    for (int i = rng.below(3); i >= 0; --i) {
      scene.add_robot(random_robot(rng, "r" + std::to_string(i)),
                      {test::rotation(rng), {0.8 * i, 0, 0.4}});
    }
    for (int i = 0; i < 4; ++i) {
      const Shape shape = i % 2 ? Shape::box({0.1, 0.2, 0.1}) : Shape::sphere(0.15);
      scene.add_body("loose" + std::to_string(i),
                     shape,
                     1.0,
                     {i < 2 ? Mat3d::identity() : test::rotation(rng), {3.0 + 0.3 * i, 0, 0.1}},
                     {0.5});
    }
    scene.add_body("alone", Shape::sphere(0.1), 1.0, {Mat3d::identity(), {9, 0, 0.1}});
    const int n = scene.num_bodies(), a = rng.below(n - 5), b = n - 2 - rng.below(4);
    scene.add_point_closure("point", rng.below(2) ? a : -1, {0.1, 0.2, 0}, b, {0, 0, 0.1});
    if (rng.below(2)) scene.add_weld("weld", a, test::pose(rng, 0.2), b, test::pose(rng, 0.2));
    std::vector<int> single;
    for (const Tree& tree : scene.trees()) {
      for (int i = 0; i < tree.num_bodies; ++i) {
        if (joint_nv(tree.joint[i]) == 1) single.push_back(tree.v_offset + tree.v_index[i]);
      }
    }
    if (single.size() > 1) scene.add_gear("gear", single.front(), single.back(), -2.0, 0.2);
    state = make_state(scene, scene.default_q());
    state.v = 0.3 * test::random_vector(rng, scene.nv());
    work.resize(scene);
    collision.resize(scene);
    prepare();
    collide(scene, scene.parameters, work, {}, kDt, state, collision, contacts);
    build_problem(scene, scene.parameters, state, contacts, {}, kDt, work, rows, problem, impulse);
  }

  void prepare() { prepare(work, state.v); }
  void prepare(DynamicsWorkspace& w, const VectorXd& v) const {
    forward_kinematics(scene, scene.parameters, state.q.data(), v.data(), w);
    compute_dynamics(scene, scene.parameters, state.q.data(), v.data(), {}, kDt, w);
  }
  /// v + L^-1 D^-1 w: the velocity after the step in the axes before it.
  VectorXd next_velocity() const {
    std::vector<double> w = work.whitened;
    for (std::size_t t = 0; t < scene.trees().size(); ++t)
      solve_scaled_lower(work.views[t], work.trees[t], w.data() + scene.trees()[t].v_offset);
    return state.v + Eigen::Map<const VectorXd>(w.data(), scene.nv());
  }
};

/// Angular velocity from the velocities of three points.
Vec3d angular(const Scene& scene, const DynamicsWorkspace& w, int body) {
  const Vec3d o = point_velocity(scene, w, body, {0, 0, 0});
  const Vec3d x = point_velocity(scene, w, body, {1, 0, 0}) - o;
  const Vec3d y = point_velocity(scene, w, body, {0, 1, 0}) - o;
  return {y.z, -x.z, x.y};
}

/// J, one column per unit velocity, from the velocities of points.
MatrixXd jacobian(const Sample& s) {
  MatrixXd J = MatrixXd::Zero(s.problem.num_rows(), s.scene.nv());
  DynamicsWorkspace w;
  w.resize(s.scene);
  for (int k = 0; k < s.scene.nv(); ++k) {
    const VectorXd unit = VectorXd::Unit(s.scene.nv(), k);
    s.prepare(w, unit);
    int o = 0;
    for (const ConstraintRow& row : s.rows.rows) {
      const auto put = [&](int at, const Vec3d& x) {
        for (int r = 0; r < 3; ++r) J(at + r, k) = x[r];
      };
      const auto relative = [&](int a, int b, const Vec3d& p_a, const Vec3d& p_b) {
        return point_velocity(s.scene, w, b, p_b) - point_velocity(s.scene, w, a, p_a);
      };
      if (row.source == RowSource::kContact) {
        const Contact& c = s.contacts[row.index];
        put(o, transpose_times(c.frame, relative(c.body_a, c.body_b, c.position, c.position)));
      } else if (row.source == RowSource::kClosure) {
        const Closure& c = s.scene.closures()[row.index];
        const Transform A = body_placement(s.scene, w, c.body_a) * c.X_A;
        const Transform B = body_placement(s.scene, w, c.body_b) * c.X_B;
        put(o, transpose_times(A.R, relative(c.body_a, c.body_b, A.p, B.p)));
        if (row.set.dim == 6) {
          put(o + 3,
              transpose_times(A.R, angular(s.scene, w, c.body_b) - angular(s.scene, w, c.body_a)));
        }
      } else if (row.source == RowSource::kGear) {
        const Gear& g = s.scene.gears()[row.index];
        J(o, k) = unit[g.dof] - g.ratio * unit[g.driver];
      } else {
        const ConstraintRow& limit = row.source == RowSource::kLimitRecovery ? *(&row - 1) : row;
        J(o, k) = (limit.source == RowSource::kUpperLimit ? -1.0 : 1.0) * unit[row.index];
      }
      o += row.set.dim;
    }
  }
  return J;
}

/// M^ from kinetic energies of unit velocities and their sums, plus the implicit diagonal.
MatrixXd mass_matrix(const Sample& s) {
  DynamicsWorkspace w;
  w.resize(s.scene);
  const int n = s.scene.nv();
  const auto energy = [&](const VectorXd& v) {
    s.prepare(w, v);
    double e = 0.0;
    for (const TreeData<double>& t : w.trees) e += t.kinetic_energy;
    return e;
  };
  MatrixXd M(n, n);
  for (int i = 0; i < n; ++i) M(i, i) = 2.0 * energy(VectorXd::Unit(n, i));
  for (int i = 0; i < n; ++i) {
    for (int j = 0; j < i; ++j) {
      const double e = energy(VectorXd::Unit(n, i) + VectorXd::Unit(n, j));
      M(i, j) = M(j, i) = e - 0.5 * (M(i, i) + M(j, j));
    }
  }
  for (int i = 0; i < n; ++i) {
    M(i, i) += s.scene.parameters.armature[i] + kDt * s.scene.parameters.damping[i];
  }
  return M;
}

/// The largest multiple of a motion u, at most 1, at which no joint and no body is faster than 1
/// rad/s or 0.5 m/s.
double harmless_share(const Sample& s, DynamicsWorkspace& w, const VectorXd& u) {
  double most = 1.0;
  const auto take = [&](double speed, double cap) { most = std::max(most, speed / cap); };
  s.prepare(w, u);
  for (int body = 0; body < s.scene.num_bodies(); ++body) {
    take(norm(point_velocity(
             s.scene, w, body, world_point(s.scene, w, body, s.scene.parameters.com[body]))),
         0.5);
    take(norm(angular(s.scene, w, body)), 1.0);
  }
  for (const Tree& tree : s.scene.trees()) {
    for (int b = 0; b < tree.num_bodies; ++b) {
      const int n = joint_nv(tree.joint[b]);
      const double rate = u.segment(tree.v_offset + tree.v_index[b], n).norm();
      if (n < 6) take(rate, tree.joint[b] == JointType::kPrismatic ? 0.5 : 1.0);
    }
  }
  return 1.0 / most;
}

bool slides(const Scene& scene, int dof) {
  const Tree& tree = scene.trees()[scene.tree_of_dof(dof)];
  for (int b = 0; b < tree.num_bodies; ++b) {
    if (tree.v_offset + tree.v_index[b] == dof) return tree.joint[b] == JointType::kPrismatic;
  }
  return false;
}

/// c* of a rigid contact's normal, of a limit or of what brings a joint back (which follows its
/// limit), from the dense u = M^-1 J_r^T / G_rr.
double position_reference(const Sample& s,
                          DynamicsWorkspace& w,
                          const ConstraintRow& row,
                          const VectorXd& u) {
  double gap = 0.0, cap = 0.5;
  if (row.source == RowSource::kContact) {
    gap = s.contacts[row.index].gap;
  } else {
    const Parameters& p = s.scene.parameters;
    const double q =
        s.scene.dof_positions({s.state.q.data(), s.state.q.data() + s.state.q.size()})[row.index];
    const ConstraintRow& limit = row.source == RowSource::kLimitRecovery ? *(&row - 1) : row;
    gap = limit.source == RowSource::kLowerLimit ? q - p.lower[row.index] : p.upper[row.index] - q;
    if (!slides(s.scene, row.index)) cap = 1.0;
  }
  if (gap > 0.0) return -gap / kDt;
  const double asked = std::min(0.2 * -gap / kDt, cap);
  const bool far = row.source != RowSource::kContact && asked > 0.1 * cap;
  if (far && row.source != RowSource::kLimitRecovery) return -1e-3 * cap;
  if (far) return std::min(asked, cap * harmless_share(s, w, cap * u));
  return asked * harmless_share(s, w, asked * u);
}

}  // namespace

BOOST_AUTO_TEST_SUITE(build_problem_test)

// G, g and the effect of impulses agree with dense matrices that are built from point velocities
// and kinetic energies; panels are symmetric. Every source of rows is among the samples.
BOOST_AUTO_TEST_CASE(problem_matches_dense_algebra) {
  Rng rng(1);
  int seen[7] = {}, welds = 0, soft = 0, held = 0, capped = 0;
  for (int trial = 0; trial < 40; ++trial) {
    Sample s(rng);
    const MatrixXd J = jacobian(s), M = mass_matrix(s);
    const MatrixXd MJ = solve_semidefinite(M, J.transpose());
    MatrixXd G = multiply(J, MJ);
    for (int r = 0; r < s.problem.num_rows(); ++r) G(r, r) += s.problem.compliance[r];
    const double scale = G.cwiseAbs().maxCoeff();
    const MatrixXd dense = s.problem.dense();
    VectorXd reference(s.problem.num_rows());
    DynamicsWorkspace moved;
    moved.resize(s.scene);
    int o = 0;
    for (const ConstraintRow& row : s.rows.rows) {
      for (int r = 0; r < row.set.dim; ++r) {
        reference[o + r] = row.reference[r];
        BOOST_TEST(s.problem.compliance[o + r] == row.compliance[r]);
        soft += row.compliance[r] > 0.0;
      }
      if (row.source <= RowSource::kLimitRecovery && row.compliance[row.set.dim - 1] == 0.0) {
        const int n = row.set.dim - 1;
        const bool immovable = G(o + n, o + n) <= 1e-13 * scale;  // then it is J v_free
        if (!immovable) {
          const double expected =
              position_reference(s, moved, row, MJ.col(o + n) / G(o + n, o + n));
          BOOST_TEST(std::abs(row.reference[n] - expected) < 1e-9 * std::abs(expected) + 1e-12);
        }
        held += immovable;
        capped += row.kind == ReferenceKind::kCapped;
      }
      ++seen[static_cast<int>(row.source)];
      welds += row.set.dim == 6;
      o += row.set.dim;
    }
    BOOST_TEST_CONTEXT("trial " << trial) {
      BOOST_TEST((dense - dense.transpose()).cwiseAbs().maxCoeff() < 1e-12 * scale);
      BOOST_TEST((dense - G).cwiseAbs().maxCoeff() < 1e-9 * scale);
      const VectorXd v_free = s.next_velocity();
      const VectorXd g = J * v_free - reference;
      BOOST_TEST(
          (Eigen::Map<const VectorXd>(s.problem.g.data(), g.size()) - g).cwiseAbs().maxCoeff() <
          1e-9 * (1.0 + g.cwiseAbs().maxCoeff()));
      const VectorXd l = test::random_vector(rng, s.problem.num_rows());
      apply_impulses(s.rows, s.scene, {l.data(), l.data() + l.size()}, s.work);
      const VectorXd change = s.next_velocity() - v_free, expected = MJ * l;
      BOOST_TEST((change - expected).cwiseAbs().maxCoeff() < 1e-9 * expected.cwiseAbs().maxCoeff());
    }
  }
  for (const int n : seen) BOOST_TEST(n > 10);
  BOOST_TEST(welds > 10);
  BOOST_TEST(soft > 10);
  BOOST_TEST(held > 0);
  BOOST_TEST(capped > 100);
}

// Islands are the connected components of the trees that share a set, and do not couple.
BOOST_AUTO_TEST_CASE(islands_are_connected_components) {
  Rng rng(2);
  int several = 0;
  for (int trial = 0; trial < 100; ++trial) {
    const Sample s(rng);
    std::vector<int> label(s.scene.trees().size());
    std::iota(label.begin(), label.end(), 0);
    for (const ConstraintRow& row : s.rows.rows) {
      for (int k = 1; k < row.num_sides; ++k) {
        const int from = label[row.sides[k].tree], to = label[row.sides[0].tree];
        for (int& x : label) x = x == from ? to : x;
      }
    }
    std::set<int> components;
    for (int i = 0; i < s.problem.num_islands(); ++i) {
      std::set<int> here;
      for (int k = s.problem.island_start[i]; k < s.problem.island_start[i + 1]; ++k) {
        here.insert(label[s.rows.rows[k].sides[0].tree]);
      }
      BOOST_TEST(here.size() == 1u);
      for (const int x : here) BOOST_TEST(components.insert(x).second);
    }
    BOOST_REQUIRE(s.problem.island_start.back() == s.problem.num_sets());
    several += s.problem.num_islands() > 1;
  }
  BOOST_TEST(several > 80);
}

BOOST_AUTO_TEST_SUITE_END()
