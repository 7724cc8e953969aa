#include "support/tree_sample.hpp"

#include "dynamics/bias.hpp"
#include "dynamics/integrate.hpp"
#include "dynamics/kinematics.hpp"
#include "dynamics/loose_body.hpp"

namespace stiction::test {
namespace {

Control pushing(const TreeSample& s) {
  Control control;
  for (int b = 0; b < s.tree().num_bodies; ++b)
    control.wrenches.push_back({s.tree().body_offset + b, s.wrench[b].linear, s.wrench[b].angular});
  return control;
}

/// Wrenches held in the world, in axes of a root that has moved from X to X_WR.
Force<Direction> in_moved_axes(const Force<double>& F,
                               const Transform& X,
                               const RigidTransform<Direction>& X_WR) {
  const Vec3<Direction> f = lift(X.R) * lift<Direction>(F.linear);
  const Vec3<Direction> n = lift(X.R) * lift<Direction>(F.angular);
  return {transpose_times(X_WR.R, f),
          transpose_times(X_WR.R, n + cross(lift<Direction>(X.p) - X_WR.p, f))};
}

}  // namespace

TreeSample::TreeSample(Rng& rng, const Scene& scene, int index, double spin, double dt)
    : scene(scene), index(index), dt(dt) {
  work.resize(scene);
  q.resize(scene.nq());
  v = spin * random_vector(rng, scene.nv());
  for (std::size_t t = 0; t < scene.trees().size(); ++t) {
    double* own = q.data() + scene.trees()[t].q_offset;
    for (int b = 0; b < work.views[t].num_bodies; ++b) {
      visit_joint(work.views[t].joint[b],
                  [&](auto joint) { joint.neutral(own + work.views[t].q_index[b]); });
    }
    const Eigen::VectorXd step = 2.0 * random_vector(rng, work.views[t].nv);
    integrate_joints(work.views[t], 0, 1.0, own, step.data());
  }
  a = 10.0 * random_vector(rng, tree().nv);
  for (int b = 0; b < tree().num_bodies; ++b) {
    constraint_wrench.push_back({uniform_vector(rng, 20.0), uniform_vector(rng, 5.0)});
    wrench.push_back({uniform_vector(rng, 20.0), uniform_vector(rng, 5.0)});
  }
  forward_kinematics(scene, scene.parameters, q.data(), v.data(), work);
  compute_dynamics(scene, scene.parameters, q.data(), v.data(), pushing(*this), dt, work);
}

std::vector<Direction> dual_inverse_dynamics(const TreeSample& s,
                                             const std::vector<Direction>& dq,
                                             const std::vector<Direction>& v,
                                             DualTree& dual) {
  const TreeView& view = s.view();
  TreeData<Direction>& data = dual.data;
  std::copy_n(s.q.data() + s.tree().q_offset, view.nq, dual.q.begin());
  integrate_joints(view, 0, Direction(1.0), dual.q.data(), dq.data());
  forward_kinematics(view, dual.parameters, dual.q.data(), v.data(), data);
  const bool loose = is_loose_body(view);
  std::vector<Direction> a(s.a.data(), s.a.data() + view.nv);
  if (!loose) add_joint_acceleration(view, a.data(), dual.joint_acceleration, data);
  body_inertias_and_forces(view, dual.parameters, data);
  for (int b = 0; b < view.num_bodies; ++b) {
    add_external_wrench(
        b, lift<Direction>(s.wrench[b].linear), lift<Direction>(s.wrench[b].angular), data);
    const Force<Direction> constraint_wrench =
        in_moved_axes(s.constraint_wrench[b], s.data().X_WR, data.X_WR);
    if (loose) continue;
    data.F[b].linear -= constraint_wrench.linear;
    data.F[b].angular -= constraint_wrench.angular;
  }
  if (!loose) {
    bias_forces(view, data);
  } else {
    loose_body_bias(dual.parameters, Direction(s.dt), data);
    const Motion<Direction> A{{a[0], a[1], a[2]}, {a[3], a[4], a[5]}};
    const Force<Direction> Ma = data.inertia[0] * A;
    const Force<Direction> constraint_wrench =
        in_moved_axes(s.constraint_wrench[0], s.data().X_WR, data.X_WR);
    for (int k = 0; k < 3; ++k) {
      data.bias[k] += Ma.linear[k] - constraint_wrench.linear[k];
      data.bias[3 + k] += Ma.angular[k] - constraint_wrench.angular[k];
    }
  }
  return {data.bias, data.bias + view.nv};
}

TauDerivatives dual_derivatives(const TreeSample& s) {
  const int nv = s.view().nv;
  DualTree dual;
  dual.resize(s.tree());
  dual.take(s.tree(), s.parameters());
  TauDerivatives out{Eigen::MatrixXd(nv, nv), Eigen::MatrixXd(nv, nv)};
  for (int first = 0; first < nv; first += kDirections) {
    for (Eigen::MatrixXd* block : {&out.dq, &out.dv}) {
      std::vector<Direction> dq(nv, 0.0), v(nv);
      for (int k = 0; k < nv; ++k) v[k] = s.v[s.tree().v_offset + k];
      for (int k = 0; k < kDirections && first + k < nv; ++k)
        (block == &out.dq ? dq : v)[first + k].d[k] = 1.0;
      const std::vector<Direction> tau = dual_inverse_dynamics(s, dq, v, dual);
      for (int i = 0; i < nv; ++i)
        for (int k = 0; k < kDirections && first + k < nv; ++k)
          (*block)(i, first + k) = tau[i].d[k];
    }
  }
  return out;
}

}  // namespace stiction::test
