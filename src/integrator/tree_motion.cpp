#include "integrator/tree_motion.hpp"

#include "dynamics/bias.hpp"
#include "dynamics/tree_kernels.hpp"

#include <algorithm>
#include <cmath>

namespace stiction {
namespace {

/// A gap that closes within the step is passed by this share of it at most, less one.
constexpr double kMostWithRows = 1.1;

/// Of a tree at the velocities of its data, v [dofs of the tree] those of its joints.
struct TreeEnergy {
  double kinetic = 0.0;  ///< rotors too
  double potential = 0.0, mass = 0.0;
  Vec3d momentum{0, 0, 0};  ///< axes of the root

  TreeEnergy(const Tree& tree,
             const Parameters& scene,
             const TreeParameters<double>& parameters,
             const double* v,
             const TreeData<double>& data) {
    for (int b = 0; b < tree.num_bodies; ++b) {
      const BodyAtCom<double> body(parameters, data, b);
      kinetic += 0.5 * body.twice_kinetic(data.V[b]);
      potential -= body.mass * dot(parameters.gravity, data.X_WR * body.c);
      momentum += body.velocity * body.mass;
      mass += body.mass;
    }
    for (int k = 0; k < tree.nv; ++k)
      kinetic += 0.5 * scene.armature[tree.v_offset + k] * v[k] * v[k];
  }
};

/// visit(body of the tree, wrench).
template <class Visit>
void each_wrench(const TreeStep& step, const Tree& tree, Visit&& visit) {
  for (const ExternalWrench& w : step.control.wrenches) {
    const int b = w.body - tree.body_offset;
    if (b >= 0 && b < tree.num_bodies) visit(b, w);
  }
}

double wrench_power(const TreeStep& step, const Tree& tree, const TreeData<double>& data) {
  double sum = 0.0;
  each_wrench(step, tree, [&](int b, const ExternalWrench& w) {
    const Vec3d v = data.V[b].linear + cross(data.V[b].angular, data.X_RB[b].p);
    sum += dot(w.force, data.X_WR.R * v) + dot(w.moment, data.X_WR.R * data.V[b].angular);
  });
  return sum;
}

}  // namespace

void TreeMotion::begin(double dt, const DynamicsWorkspace& work) {
  turn_.assign(work.trees.size(), 0.0);
  for (std::size_t t = 0; t < work.trees.size(); ++t) {
    if (!work.asleep[t] && !is_loose_body(work.views[t]))
      turn_[t] = fastest_turn(work.views[t], work.trees[t], dt);
  }
}

void TreeMotion::find_rows(const ConstraintRows& rows, const DynamicsWorkspace& work) {
  has_rows_.assign(work.trees.size(), 0);
  for (const ConstraintRow& row : rows.rows) {
    if (row.kind == ReferenceKind::kImmovable) continue;
    for (int s = 0; s < row.num_sides; ++s) has_rows_[row.sides[s].tree] = 1;
  }
}

void TreeMotion::centre(const TreeStep& step, int passes, double* change, DynamicsWorkspace& work) {
  take_mean_bias(step.scene,
                 step.parameters,
                 step.before.v.data(),
                 step.control,
                 step.dt,
                 passes,
                 has_rows_,
                 change,
                 work);
}

/// At the start, or at the mean velocity, which is looked at where it could be.
bool TreeMotion::turns_fast(const TreeStep& step,
                            const std::vector<double>& dv,
                            int t,
                            DynamicsWorkspace& work) {
  if (work.asleep[t] || is_loose_body(work.views[t])) return false;
  if (turn_[t] > kBalancedTurn) return true;
  const Tree& tree = step.scene.trees()[t];
  double change = 0.0;
  for (int k = tree.v_offset; k < tree.v_offset + tree.nv; ++k) change += std::abs(dv[k]);
  if (!may_turn_fast(turn_[t], change, step.dt)) return false;
  move_placed(work.views[t],
              tree_parameters(tree, t, step.parameters),
              mean_.data() + tree.v_offset,
              work.trees[t]);
  return fastest_turn(work.views[t], work.trees[t], step.dt) > kBalancedTurn;
}

void TreeMotion::balance(const TreeStep& step,
                         const std::vector<double>& dv,
                         DynamicsWorkspace& work,
                         State& state) {
  mean_.resize(dv.size());
  last_.resize(dv.size());
  for (std::size_t k = 0; k < dv.size(); ++k) {
    last_[k] = step.before.v[k] + dv[k];
    mean_[k] = step.before.v[k] + 0.5 * dv[k];
  }
  for (std::size_t t = 0; t < work.trees.size(); ++t) {
    work.fast[t] = turns_fast(step, dv, static_cast<int>(t), work);
    if (work.fast[t] != 0) balance_tree(step, static_cast<int>(t), work, state);
  }
}

void TreeMotion::balance_tree(const TreeStep& step, int t, DynamicsWorkspace& work, State& state) {
  if (end_.trees.empty()) end_.resize(step.scene);
  const Tree& tree = step.scene.trees()[t];
  const TreeView& view = work.views[t];
  const TreeParameters<double> p = tree_parameters(tree, t, step.parameters);
  TreeData<double>&data = work.trees[t], &end = end_.trees[t];
  const double *v = step.before.v.data() + tree.v_offset, *mean = mean_.data() + tree.v_offset,
               *last = last_.data() + tree.v_offset;
  double* v_end = state.v.data() + tree.v_offset;
  move_placed(view, p, mean, data);
  double power = wrench_power(step, tree, data);
  for (int k = 0; k < tree.nv; ++k) power += mean[k] * data.bias[k];
  move_placed(view, p, last, data);
  const TreeEnergy moved(tree, step.parameters, p, last, data);
  place_and_move(view, p, state.q.data() + tree.q_offset, v_end, end);
  const TreeEnergy now(tree, step.parameters, p, v_end, end);
  Vec3d u{0, 0, 0}, u_now{0, 0, 0};  // of the centre of mass: right, and as it is
  const bool flies = tree.free_root && has_rows_[t] == 0;
  if (flies) {
    move_placed(view, p, v, data);
    const TreeEnergy before(tree, step.parameters, p, v, data);
    Vec3d momentum = data.X_WR.R * before.momentum + p.gravity * (step.dt * before.mass);
    each_wrench(step, tree, [&](int, const ExternalWrench& w) { momentum += w.force * step.dt; });
    u = transpose_times(end.X_WR.R, momentum) * (1.0 / now.mass);
    u_now = now.momentum * (1.0 / now.mass);
  }
  const double allowed = moved.kinetic + step.dt * power + moved.potential - now.potential -
                         0.5 * now.mass * dot(u, u);
  const double kinetic = now.kinetic - 0.5 * now.mass * dot(u_now, u_now);
  if (kinetic > 0.0 && std::isfinite(allowed)) {
    double share = std::sqrt(std::max(0.0, allowed) / kinetic);
    if (has_rows_[t] != 0) share = std::min(share, kMostWithRows);
    for (int k = 0; k < tree.nv; ++k) v_end[k] *= share;
    for (int k = 0; k < 3 && flies; ++k) v_end[k] += u[k] - share * u_now[k];
  }
  move_placed(view, p, work.bias_at[t] == BiasAt::kStart ? v : mean, data);
}

}  // namespace stiction
