#pragma once

#include "collision/scene/collide.hpp"
#include "contact/constraint_row.hpp"
#include "dynamics/forest.hpp"
#include "model/joint.hpp"
#include "support/random_tree.hpp"
#include <Eigen/Core>

#include <cmath>

// The contact problems of random scenes with every source of rows, and their dense algebra from the
// velocities of points.

namespace stiction::test {

using Eigen::MatrixXd;
using Eigen::VectorXd;

/// A random tree in a random configuration, a ball on each body, limits close by, dry friction.
inline Robot robot_with_rows(Rng& rng, const std::string& name) {
  Robot robot;
  robot.name = name;
  robot.bodies = random_tree(rng);
  for (std::size_t i = 0; i < robot.bodies.size(); ++i) {
    const JointType joint = robot.bodies[i].joint;
    double quaternion[4] = {0, 0, 0, 1};
    integrate_quaternion(quaternion, uniform_vector(rng, 2.0));
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

struct RowOptions {
  bool one_tree = false;
  bool bounces = false;  ///< half of the surfaces have restitution
  double open = -1.0;    ///< of closures and gears [m, rad]; < 0: whatever it is, far
  double speed = 0.3;
};

/// A scene with its problem, built as a step does: of one tree or of several.
struct RowSample {
  static constexpr double kDt = 1e-3;
  Scene scene;
  State state;
  DynamicsWorkspace work;
  CollisionWorkspace collision;
  ContactSet contacts;
  ConstraintRows rows;
  RowScratch scratch;
  ContactProblem problem;
  std::vector<double> impulse;

  explicit RowSample(Rng& rng, const RowOptions& options = {}) {
    const bool one_tree = options.one_tree;
    scene.add_ground({0.7});
    for (int i = one_tree ? 0 : rng.below(3); i >= 0; --i) {
      scene.add_robot(robot_with_rows(rng, "r" + std::to_string(i)),
                      {rotation(rng), {0.8 * i, 0, 0.4}});
    }
    for (int i = 0; i < 4 && !one_tree; ++i) {
      const Shape shape = i % 2 ? Shape::box({0.1, 0.2, 0.1}) : Shape::sphere(0.15);
      scene.add_body("loose" + std::to_string(i),
                     shape,
                     1.0,
                     {i < 2 ? Mat3d::identity() : rotation(rng), {3.0 + 0.3 * i, 0, 0.1}},
                     {0.5});
    }
    if (!one_tree)
      scene.add_body("alone", Shape::sphere(0.1), 1.0, {Mat3d::identity(), {9, 0, 0.1}});
    if (!one_tree) make_lopsided();
    const int n = scene.num_bodies(), b = one_tree ? n - 1 : n - 2 - rng.below(4),
              a = one_tree ? rng.below(n) - 1 : rng.below(n - 5);
    add_closures(rng, options.open, a, b);
    std::vector<int> single;
    for (const Tree& tree : scene.trees()) {
      for (int i = 0; i < tree.num_bodies; ++i) {
        if (joint_nv(tree.joint[i]) == 1) single.push_back(tree.v_offset + tree.v_index[i]);
      }
    }
    if (single.size() > 1) {
      const std::vector<double> x = scene.dof_positions(scene.default_q());
      const double closed = x[single.front()] + 2.0 * x[single.back()];
      const double offset = options.open < 0.0 ? 0.2 : closed - options.open;
      scene.add_gear("gear", single.front(), single.back(), -2.0, offset);
    }
    for (Material& m : scene.parameters.material) {
      if (options.bounces && rng.below(2)) m.restitution = rng.uniform(0.1, 1.0);
    }
    state = make_state(scene, scene.default_q());
    state.v = options.speed * random_vector(rng, scene.nv());
    work.resize(scene);
    collision.resize(scene);
    prepare();
    collide(scene, scene.parameters, work, {}, kDt, state, collision, contacts);
    const ContactSettings settings;
    build_problem({scene, scene.parameters, state, settings, kDt, work, rows, scratch},
                  contacts,
                  problem,
                  impulse);
  }

  /// Loose bodies whose centre of mass and principal axes are not those of their shape.
  void make_lopsided() {
    Rng rng(77);
    const int n = scene.num_bodies();
    for (int b = n - 5; b < n; ++b) {
      const Mat3d R = rotation(rng);
      const double a[3] = {rng.uniform(2e-3, 4e-3), rng.uniform(3e-3, 5e-3), 6e-3};
      const auto entry = [&](int i, int j) {
        double sum = 0.0;
        for (int k = 0; k < 3; ++k) sum += R.column(k)[i] * a[k] * R.column(k)[j];
        return sum;
      };
      scene.parameters.inertia[b] = {
          entry(0, 0), entry(0, 1), entry(1, 1), entry(0, 2), entry(1, 2), entry(2, 2)};
      scene.parameters.com[b] = {
          rng.uniform(-0.03, 0.03), rng.uniform(-0.03, 0.03), rng.uniform(-0.03, 0.03)};
    }
  }

  void add_closures(Rng& rng, double open, int a, int b) {
    const bool weld = rng.below(2);
    if (open < 0.0) {
      scene.add_point_closure("point", rng.below(2) ? a : -1, {0.1, 0.2, 0}, b, {0, 0, 0.1});
      if (weld) scene.add_weld("weld", a, pose(rng, 0.2), b, pose(rng, 0.2));
      return;
    }
    work.resize(scene);
    const State at = make_state(scene, scene.default_q());
    forward_kinematics(scene, scene.parameters, at.q.data(), at.v.data(), work);
    const Transform A = body_placement(scene, work, a), B = body_placement(scene, work, b);
    const Vec3d p_B{0, 0, 0.1}, p_W = B * p_B + unit_vector(rng) * open;
    if (!weld) {
      scene.add_point_closure("point", a, body_point(scene, work, a, p_W), b, p_B);
      return;
    }
    const Mat3d R_B = transpose_times(B.R, A.R * small_rotation(unit_vector(rng) * open));
    scene.add_weld("weld", a, {Mat3d::identity(), body_point(scene, work, a, p_W)}, b, {R_B, p_B});
  }

  void prepare() { prepare(work, state.v); }
  void prepare(DynamicsWorkspace& w, const VectorXd& v) const {
    forward_kinematics(scene, scene.parameters, state.q.data(), v.data(), w);
    compute_dynamics(scene, scene.parameters, state.q.data(), v.data(), {}, kDt, w);
  }
  /// v + L^-1 D^-1 w: the velocity after the step in the axes before it.
  VectorXd next_velocity() const {
    VectorXd change = Eigen::Map<const VectorXd>(work.free_motion.data(), scene.nv());
    solve_scaled_lower(scene, work, change.data());
    return state.v + change;
  }
};

/// Angular velocity from the velocities of three points.
inline Vec3d angular_velocity(const Scene& scene, const DynamicsWorkspace& w, int body) {
  const Vec3d o = point_velocity(scene, w, body, {0, 0, 0});
  const Vec3d x = point_velocity(scene, w, body, {1, 0, 0}) - o;
  const Vec3d y = point_velocity(scene, w, body, {0, 1, 0}) - o;
  return {y.z, -x.z, x.y};
}

/// J, one column per unit velocity, from the velocities of points.
inline MatrixXd dense_jacobian(const RowSample& s) {
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
        const Transform A =
            body_placement(s.scene, w, c.body_a) * s.scene.parameters.closure_X_A[row.index];
        const Transform B =
            body_placement(s.scene, w, c.body_b) * s.scene.parameters.closure_X_B[row.index];
        put(o, transpose_times(A.R, relative(c.body_a, c.body_b, A.p, B.p)));
        if (row.set.dim == 6) {
          put(o + 3,
              transpose_times(
                  A.R,
                  angular_velocity(s.scene, w, c.body_b) - angular_velocity(s.scene, w, c.body_a)));
        }
      } else if (row.source == RowSource::kGear) {
        const Gear& g = s.scene.gears()[row.index];
        J(o, k) = unit[g.dof] - s.scene.parameters.gear_ratio[row.index] * unit[g.driver];
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
inline MatrixXd dense_mass(const RowSample& s) {
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
    M(i, i) += s.scene.parameters.armature[i] + RowSample::kDt * s.scene.parameters.damping[i];
  }
  return M;
}

/// The largest multiple of a motion u, at most 1, at which no joint and no body is faster than 1
/// rad/s or 0.5 m/s.
inline double harmless_share(const RowSample& s, DynamicsWorkspace& w, const VectorXd& u) {
  double most = 1.0;
  const auto take = [&](double speed, double cap) { most = std::max(most, speed / cap); };
  s.prepare(w, u);
  for (int body = 0; body < s.scene.num_bodies(); ++body) {
    take(norm(point_velocity(
             s.scene, w, body, world_point(s.scene, w, body, s.scene.parameters.com[body]))),
         0.5);
    take(norm(angular_velocity(s.scene, w, body)), 1.0);
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

inline bool slides(const Scene& scene, int dof) {
  const Tree& tree = scene.trees()[scene.tree_of_dof(dof)];
  for (int b = 0; b < tree.num_bodies; ++b) {
    if (tree.v_offset + tree.v_index[b] == dof) return tree.joint[b] == JointType::kPrismatic;
  }
  return false;
}

}  // namespace stiction::test
