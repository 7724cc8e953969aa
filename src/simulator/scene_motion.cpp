#include "stiction/simulator/scene_motion.hpp"

#include "dynamics/bias.hpp"
#include "dynamics/forest.hpp"
#include "dynamics/joint_forces.hpp"
#include "dynamics/mass_matrix.hpp"

namespace stiction {
namespace {

/// Rows of M of one tree, which are packed by chains, before they are factorised.
void unpack_mass_matrix(const Tree& tree, const TreeData<double>& data, Eigen::MatrixXd& M) {
  const int first = tree.v_offset;
  for (int k = 0; k < tree.nv; ++k) {
    for (int m = 0; m <= tree.depth[k]; ++m) {
      const int j = tree.chain[tree.row[k] + m];
      M(first + k, first + j) = M(first + j, first + k) = data.L[tree.row[k] + m];
    }
  }
}

/// bias_forces() belongs to the acceleration of a free root's origin in its axes, which is the rate
/// of v and w x v; M (w x v) makes it that of the rate of v. `v`: of the tree.
void change_acceleration(const double* v,
                         const Tree& tree,
                         const Eigen::MatrixXd& M,
                         Eigen::VectorXd& bias) {
  const Vec3d turned = cross(Vec3d{v[3], v[4], v[5]}, Vec3d{v[0], v[1], v[2]});
  const int first = tree.v_offset;
  const auto linear = M.block(first, first, tree.nv, 3);
  bias.segment(first, tree.nv) +=
      linear.col(0) * turned.x + linear.col(1) * turned.y + linear.col(2) * turned.z;
}

/// Spatial acceleration of a body about the root's origin, root axes: from that of joints at rest
/// in TreeData, which has gravity in it, along the chain. `a`: of the tree, null: at rest.
Motion<double> body_acceleration(
    const Parameters& p, const Tree& tree, const TreeData<double>& data, int b, const double* a) {
  Motion<double> out = data.A[b];
  out.linear += transpose_times(data.X_WR.R, p.gravity);
  // TreeData's is that of a root's velocity at rest in the world, `a` that of its components.
  if (tree.free_root) out.linear += cross(data.V[0].angular, data.V[0].linear);
  const int last = tree.last_dof[b];
  for (int m = 0; a != nullptr && m <= tree.depth[last]; ++m) {
    const int k = tree.chain[tree.row[last] + m];
    out.linear += data.S[k].linear * a[k];
    out.angular += data.S[k].angular * a[k];
  }
  return out;
}

}  // namespace

/// After forward_kinematics().
struct SceneMotion::Fill {
  static void add_tree(const Parameters& p,
                       const Tree& tree,
                       const TreeData<double>& data,
                       const double* a,
                       SceneMotion& motion) {
    const Mat3d& R = data.X_WR.R;
    for (int k = 0; k < tree.nv; ++k) {
      const Vec3d w = R * data.S[k].angular;
      motion.axes_.push_back({R * data.S[k].linear - cross(w, data.X_WR.p), w});
    }
    for (int b = 0; b < tree.num_bodies; ++b) {
      const int body = tree.body_offset + b, last = tree.last_dof[b];
      const Transform& X_RB = data.X_RB[b];
      const Motion<double>& V = data.V[b];
      Body& out = motion.bodies_.emplace_back();
      out.X_WB = data.X_WR * X_RB;
      out.linear = R * (V.linear + cross(V.angular, X_RB.p));
      out.angular = R * V.angular;
      const Motion<double> A = body_acceleration(p, tree, data, b, a);
      out.angular_rate = R * A.angular;
      out.linear_rate = R * (A.linear + cross(A.angular, X_RB.p) +
                             cross(V.angular, V.linear + cross(V.angular, X_RB.p)));
      out.mass = p.mass[body];
      out.com = out.X_WB * p.com[body];
      out.inertia = rotate(out.X_WB.R, p.inertia[body]);
      for (int m = 0; m <= tree.depth[last]; ++m)
        out.chain.push_back(tree.v_offset + tree.chain[tree.row[last] + m]);
    }
  }
};

SceneMotion::SceneMotion(const Scene& scene,
                         const Parameters& parameters,
                         const Eigen::VectorXd& q,
                         const Eigen::VectorXd& v,
                         const Eigen::VectorXd& a)
    : gravity_(parameters.gravity), knows_acceleration_(a.size() > 0) {
  mass_matrix_.setZero(scene.nv(), scene.nv());
  bias_.setZero(scene.nv());
  DynamicsWorkspace work;
  work.resize(scene);
  forward_kinematics(scene, parameters, q.data(), v.data(), work);
  for (std::size_t t = 0; t < scene.trees().size(); ++t) {
    const Tree& tree = scene.trees()[t];
    TreeData<double>& data = work.trees[t];
    const auto p = tree_parameters(tree, static_cast<int>(t), parameters);
    const double* rates = knows_acceleration_ ? a.data() + tree.v_offset : nullptr;
    Fill::add_tree(parameters, tree, data, rates, *this);
    body_inertias_and_forces(work.views[t], p, data);
    bias_forces(work.views[t], data);
    for (int k = 0; k < tree.nv; ++k) bias_[tree.v_offset + k] = data.bias[k];
    stiction::mass_matrix(work.views[t], data);
    unpack_mass_matrix(tree, data, mass_matrix_);
    if (tree.free_root) change_acceleration(v.data() + tree.v_offset, tree, mass_matrix_, bias_);
  }
  for (int k = 0; k < scene.nv(); ++k) mass_matrix_(k, k) += parameters.armature[k];
  rotor_energy_ = stiction::rotor_energy(parameters, v.data());
  spring_energy_ = stiction::spring_energy(scene, parameters, q.data());
}

Transform SceneMotion::pose(int body) const {
  return body < 0 ? Transform::identity() : bodies_[body].X_WB;
}

SceneMotion::Vector6d SceneMotion::velocity(int body, const Vec3d& p_B) const {
  Vector6d out = Vector6d::Zero();
  if (body < 0) return out;
  const Body& b = bodies_[body];
  const Vec3d v = b.linear + cross(b.angular, b.X_WB.R * p_B);
  out << v.x, v.y, v.z, b.angular.x, b.angular.y, b.angular.z;
  return out;
}

SceneMotion::Vector6d SceneMotion::acceleration(int body, const Vec3d& p_B) const {
  Vector6d out = Vector6d::Zero();
  if (body < 0) return out;
  const Body& b = bodies_[body];
  const Vec3d a = b.acceleration(b.X_WB.R * p_B), alpha = b.angular_rate;
  out << a.x, a.y, a.z, alpha.x, alpha.y, alpha.z;
  return out;
}

SceneMotion::Vector6d SceneMotion::momentum_rate_less_weight(int body, const Vec3d& about) const {
  const Body& b = bodies_[body];
  const Vec3d w = b.angular, f = (b.acceleration(b.com - b.X_WB.p) - gravity_) * b.mass;
  const Vec3d n = b.inertia * b.angular_rate + cross(w, b.inertia * w) + cross(b.com - about, f);
  Vector6d out;
  out << f.x, f.y, f.z, n.x, n.y, n.z;
  return out;
}

Eigen::MatrixXd SceneMotion::jacobian(int body, const Vec3d& p_B) const {
  Eigen::MatrixXd J = Eigen::MatrixXd::Zero(6, nv());
  if (body < 0) return J;
  const Vec3d p = bodies_[body].X_WB * p_B;
  for (const int k : bodies_[body].chain) {
    const Vec3d w = axes_[k].angular, v = axes_[k].linear + cross(w, p);
    J.col(k) << v.x, v.y, v.z, w.x, w.y, w.z;
  }
  return J;
}

BodiesMotion SceneMotion::motion_of(int first_body, int num_bodies) const {
  BodiesMotion out;
  const auto of_com = [](const Body& b) { return b.linear + cross(b.angular, b.com - b.X_WB.p); };
  for (int i = first_body; i < first_body + num_bodies; ++i) {
    const Body& b = bodies_[i];
    const Vec3d v = of_com(b);
    out.mass += b.mass;
    out.com += b.com * b.mass;
    out.linear += v * b.mass;
    out.kinetic += 0.5 * (b.mass * dot(v, v) + dot(b.angular, b.inertia * b.angular));
    out.potential_of_gravity -= b.mass * dot(gravity_, b.com);
  }
  if (out.mass > 0.0) out.com = out.com * (1.0 / out.mass);
  for (int i = first_body; i < first_body + num_bodies; ++i) {
    const Body& b = bodies_[i];
    out.angular += b.inertia * b.angular + cross(b.com - out.com, of_com(b) * b.mass);
  }
  return out;
}

}  // namespace stiction
