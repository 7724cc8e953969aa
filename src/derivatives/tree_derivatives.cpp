#include "derivatives/tree_derivatives.hpp"

#include "derivatives/mean_velocity.hpp"
#include "dynamics/integrate_derivatives.hpp"
#include "dynamics/inverse_dynamics_derivatives.hpp"
#include "dynamics/inverse_dynamics_products.hpp"

#include <algorithm>
#include <cstddef>

namespace stiction {
namespace {

/// Wrenches by body: impulses over dt, and those of the control.
void gather_wrenches(const DerivativeInput& in, Linearisation& out) {
  const double rate = 1.0 / in.dt;
  out.work.constraint_wrench.resize(in.scene.num_bodies());
  for (std::size_t b = 0; b < out.work.constraint_wrench.size(); ++b) {
    const Force<double>& f = out.moving.constraint_impulse[b];
    out.work.constraint_wrench[b] = {f.linear * rate, f.angular * rate};
  }
  out.work.wrenches.assign(in.control.wrenches.empty() ? 0 : in.scene.num_bodies(),
                           {{0, 0, 0}, {0, 0, 0}});
  for (const ExternalWrench& w : in.control.wrenches)
    out.work.wrenches[w.body] += {w.force, w.moment};
}

}  // namespace

void prepare_trees(const DerivativeInput& in, Linearisation& out) {
  gather_wrenches(in, out);
  out.inverse_dynamics.known = false;
  out.work.acceleration.resize(in.scene.nv());
  out.end_velocity.resize(in.scene.nv());
  for (int k = 0; k < in.scene.nv(); ++k) {
    out.work.acceleration[k] = in.record.dv[k] / in.dt;
    out.end_velocity[k] = in.before.v[k] + in.record.dv[k];
  }
}

void find_tree_matrices(const DerivativeInput& in, Linearisation& out) {
  TreeMatrices& matrices = out.inverse_dynamics;
  if (matrices.known) return;
  matrices.known = true;
  const std::vector<Tree>& trees = in.scene.trees();
  matrices.start.clear();
  std::size_t size = 0, memory = 0;
  for (std::size_t t = 0; t < trees.size(); ++t) {
    matrices.start.push_back(static_cast<int>(size));
    size += static_cast<std::size_t>(trees[t].nv) * trees[t].nv;
    memory = std::max<std::size_t>(memory,
                                   inverse_dynamics_work_size<double>(in.record.dynamics.views[t]));
  }
  matrices.dq.assign(size, 0.0);
  matrices.dv.assign(size, 0.0);
  matrices.mean.resize(trees.size());
  out.work.memory.resize(memory);
  for (std::size_t t = 0; t < trees.size(); ++t) {
    if (in.record.dynamics.asleep[t]) continue;
    const TreeView& view = in.record.dynamics.views[t];
    Arena<double> arena{out.work.memory.data()};
    const int body = trees[t].body_offset, at = matrices.start[t];
    inverse_dynamics_derivatives(view,
                                 tree_parameters(trees[t], static_cast<int>(t), in.parameters),
                                 in.data(static_cast<int>(t)),
                                 in.dt,
                                 out.work.acceleration.data() + trees[t].v_offset,
                                 out.work.constraint_wrench.data() + body,
                                 out.work.wrenches_on(body),
                                 take_inverse_dynamics_work<double>(view, arena),
                                 {matrices.dq.data() + at, matrices.dv.data() + at, trees[t].nv});
    factor_mean_velocity(
        in, static_cast<int>(t), matrices.dv.data() + at, out.work.mean_velocity, matrices.mean[t]);
  }
}

void tree_gradient(const DerivativeInput& in,
                   Linearisation& linear,
                   int tree,
                   const double* p,
                   double* by_q,
                   double* by_v) {
  const Tree& t = in.scene.trees()[tree];
  linear.work.adjoint.resize(in.scene.num_bodies());
  inverse_dynamics_vjp(in.record.dynamics.views[tree],
                       tree_parameters(t, tree, in.parameters),
                       in.data(tree),
                       in.dt,
                       linear.work.acceleration.data() + t.v_offset,
                       linear.work.constraint_wrench.data() + t.body_offset,
                       linear.work.wrenches_on(t.body_offset),
                       p,
                       linear.work.adjoint.data(),
                       by_q,
                       by_v);
}

void tree_tangent(const DerivativeInput& in,
                  Linearisation& linear,
                  int tree,
                  const double* dq,
                  const double* dv,
                  double* out) {
  const Tree& t = in.scene.trees()[tree];
  linear.work.tangent.resize(in.scene.num_bodies());
  inverse_dynamics_jvp(in.record.dynamics.views[tree],
                       tree_parameters(t, tree, in.parameters),
                       in.data(tree),
                       in.dt,
                       linear.work.acceleration.data() + t.v_offset,
                       linear.work.constraint_wrench.data() + t.body_offset,
                       linear.work.wrenches_on(t.body_offset),
                       dq,
                       dv,
                       linear.work.tangent.data(),
                       out);
}

DofForce dof_force_derivatives(const DerivativeInput& in, int dof) {
  const Parameters& p = in.parameters;
  const double dt = in.dt;
  const bool free = !in.record.dynamics.saturated[dof];
  const double stiffness = (free ? p.kp[dof] : 0.0) + p.spring_stiffness[dof];
  const double rate = (free ? p.kd[dof] : 0.0) + p.damping[dof];
  return {-dt * stiffness, -dt * (dt * stiffness + rate), free ? dt : 0.0};
}

namespace {

/// A tree's velocity at the end in the axes of the start, and the point that moves straight on.
struct End {
  const TreeView& view;
  const double* v;
  Vec3d c;
};

End end_of(const DerivativeInput& in, const Linearisation& linear, int tree) {
  const TreeView& view = in.record.dynamics.views[tree];
  const Tree& t = in.scene.trees()[tree];
  return {view,
          linear.end_velocity.data() + t.v_offset,
          root_point(view, tree_parameters(t, tree, in.parameters))};
}

}  // namespace

void end_tangents(const DerivativeInput& in,
                  const Linearisation& linear,
                  int tree,
                  int stride,
                  int width,
                  double* position,
                  double* velocity) {
  const End end = end_of(in, linear, tree);
  integrate_tangents(end.view, end.c, in.dt, end.v, width, stride, position, velocity);
}

void pull_back_end(const DerivativeInput& in,
                   const Linearisation& linear,
                   int tree,
                   double* position,
                   double* velocity) {
  const End end = end_of(in, linear, tree);
  integrate_cotangents(end.view, end.c, in.dt, end.v, 1, 1, position, velocity);
}

}  // namespace stiction
