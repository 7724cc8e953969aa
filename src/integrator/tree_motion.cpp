#include "integrator/tree_motion.hpp"

#include "dynamics/bias.hpp"
#include "dynamics/loose_body_derivatives.hpp"
#include "dynamics/tree_kernels.hpp"

#include <algorithm>
#include <cmath>

namespace stiction {
namespace {

/// The most by which a tree is sped up.
constexpr double kMostShare = 2.0;

/// Kinetic energy, rotors too, and momentum of a tree at the velocities of its data; v [dofs of the
/// tree].
struct TreeEnergy {
  double kinetic = 0.0, mass = 0.0;
  Vec3d momentum{0, 0, 0};  ///< axes of the root

  TreeEnergy(const Tree& tree,
             const Parameters& scene,
             const TreeParameters<double>& parameters,
             const double* v,
             const TreeData<double>& data) {
    for (int b = 0; b < tree.num_bodies; ++b) {
      const BodyAtCom<double> body(parameters, data, b);
      kinetic += 0.5 * body.twice_kinetic(data.V[b]);
      momentum += body.velocity * body.mass;
      mass += body.mass;
    }
    for (int k = 0; k < tree.nv; ++k)
      kinetic += 0.5 * scene.armature[tree.v_offset + k] * v[k] * v[k];
  }

  Vec3d velocity() const { return momentum * (1.0 / mass); }  ///< of the centre of mass
  /// About the centre of mass.
  double relative() const { return kinetic - 0.5 * dot(momentum, momentum) / mass; }
};

/// Force and power of wrenches on a tree at the velocities of its data, world.
struct WrenchPower {
  Vec3d force{0, 0, 0};
  double power = 0.0;

  WrenchPower(const TreeStep& step, const Tree& tree, const TreeData<double>& data) {
    each_wrench(
        step.control.wrenches, tree.body_offset, tree.num_bodies, [&](int b, const auto& w) {
          const Vec3d v = data.V[b].linear + cross(data.V[b].angular, data.X_RB[b].p);
          power += dot(w.force, data.X_WR.R * v) + dot(w.moment, data.X_WR.R * data.V[b].angular);
          force += w.force;
        });
  }
};

Vec3d angular(const double* v) { return {v[3], v[4], v[5]}; }

/// Angular velocity w of a loose body, that of its centre of mass staying.
void turn_about_com(const TreeParameters<double>& p, const Vec3d& w, double* v) {
  const Vec3d about_c = cross(angular(v) - w, p.com[0]);
  for (int k = 0; k < 3; ++k) {
    v[k] += about_c[k];
    v[3 + k] = w[k];
  }
}

}  // namespace

void TreeMotion::resize(const Scene& scene) {
  has_rows_.assign(scene.trees().size(), 0);
  flies_.assign(scene.trees().size(), 0);
  hit_.assign(scene.trees().size(), 0);
  mean_.assign(scene.nv(), 0.0);
  last_.assign(scene.nv(), 0.0);
  end_.resize(scene);
}

void TreeMotion::find_rows(const ConstraintRows& rows, const DynamicsWorkspace& work) {
  has_rows_.assign(work.trees.size(), 0);
  for (std::size_t t = 0; t < work.trees.size(); ++t) flies_[t] = work.views[t].free_root;
  for (const ConstraintRow& row : rows.rows) {
    if (row.kind == ReferenceKind::kImmovable) continue;
    const bool outside = row.source == RowSource::kContact || row.source == RowSource::kClosure;
    for (int s = 0; s < row.num_sides; ++s) {
      has_rows_[row.sides[s].tree] = 1;
      if (outside) flies_[row.sides[s].tree] = 0;
    }
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

/// At the start, or at the mean velocity, which is looked at where it could be. Leaves both
/// velocities of the tree where it is fast.
bool TreeMotion::turns_fast(const TreeStep& step,
                            const std::vector<double>& dv,
                            int t,
                            DynamicsWorkspace& work) {
  if (work.asleep[t] || is_loose_body(work.views[t])) return false;
  const Tree& tree = step.scene.trees()[t];
  const int first = tree.v_offset, end = first + tree.nv;
  double change = 0.0;
  for (int k = first; k < end; ++k) change += std::abs(dv[k]);
  if (!may_turn_fast(work.turn[t], change, step.dt)) return false;
  for (int k = first; k < end; ++k) {
    last_[k] = step.before.v[k] + dv[k];
    mean_[k] = step.before.v[k] + 0.5 * dv[k];
  }
  if (work.turn[t] > kBalancedTurn) return true;
  move_placed(work.views[t],
              tree_parameters(tree, t, step.parameters),
              mean_.data() + tree.v_offset,
              work.trees[t]);
  const bool fast = fastest_turn(work.views[t], work.trees[t], step.dt) > kBalancedTurn;
  return_to_bias(step, t, work);
  return fast;
}

/// V and A are those of the bias again.
void TreeMotion::return_to_bias(const TreeStep& step, int t, DynamicsWorkspace& work) const {
  const Tree& tree = step.scene.trees()[t];
  const bool start = work.bias_at[t] == BiasAt::kStart;
  move_placed(work.views[t],
              tree_parameters(tree, t, step.parameters),
              (start ? step.before.v.data() : mean_.data()) + tree.v_offset,
              work.trees[t]);
}

/// The momentum of a floating tree that touches nothing, after the step, world: by gravity,
/// wrenches and what acts on the dofs of its root, at the end of the step as M^ has it.
Vec3d TreeMotion::momentum_after(const TreeStep& step,
                                 int t,
                                 const Vec3d& before,
                                 double mass,
                                 const DynamicsWorkspace& work) const {
  const Tree& tree = step.scene.trees()[t];
  const int k = tree.v_offset;
  Vec3d force{0, 0, 0};
  for (int r = 0; r < 3; ++r)
    force[r] = step.dt * work.force[k + r] -
               work.implicit_diagonal[k + r] * (last_[k + r] - step.before.v[k + r]);
  const Mat3d& R = work.trees[t].X_WR.R;
  const Vec3d outside = WrenchPower(step, tree, work.trees[t]).force;
  return R * (before + force) + (step.parameters.gravity * mass + outside) * step.dt;
}

void TreeMotion::balance(const TreeStep& step,
                         const std::vector<double>& dv,
                         DynamicsWorkspace& work,
                         State& state) {
  for (std::size_t t = 0; t < work.trees.size(); ++t) {
    work.fast[t] = turns_fast(step, dv, static_cast<int>(t), work);
    if (work.fast[t] != 0) balance_tree(step, static_cast<int>(t), work, state);
  }
}

void TreeMotion::find_impacts(const StepRecord& record, double least, double dt) {
  hit_.assign(hit_.size(), 0);
  const ContactProblem& problem = record.problem;
  const auto meets = [&](int i) {
    const ConstraintRow& row = record.rows.rows[i];
    if (row.source != RowSource::kContact) return false;
    if (row.kind == ReferenceKind::kRestitution || row.gap_kind != ReferenceKind::kNone)
      return true;
    const int n = row.set.dim - 1;
    const double free = problem.g[problem.sets[i].offset + n] + row.reference[n] - row.curvature.z;
    const double v = std::min(row.velocity[n], free);
    return record.contacts[row.index].gap + dt * v < 0.0 && -v > least && !row.curves;
  };
  for (int k = 0; k < problem.num_islands(); ++k) {
    const int first = problem.island_start[k], last = problem.island_start[k + 1];
    bool any = false;
    for (int i = first; i < last && !any; ++i) any = meets(i);
    for (int i = first; i < last && any; ++i) {
      const ConstraintRow& row = record.rows.rows[i];
      for (int s = 0; s < row.num_sides; ++s) hit_[row.sides[s].tree] = 1;
    }
  }
}

bool TreeMotion::may_be_kicked(const std::vector<std::uint8_t>* at_nodes,
                               int t,
                               const DynamicsWorkspace& work) const {
  return !work.asleep[t] && has_rows_[t] != 0 && hit_[t] == 0 && is_loose_body(work.views[t]) &&
         (at_nodes == nullptr || (*at_nodes)[t] == 0);
}

void TreeMotion::end_kicks(const TreeStep& step,
                           const std::vector<std::uint8_t>* at_nodes,
                           DynamicsWorkspace& work,
                           State& state) const {
  for (int t = 0; t < static_cast<int>(work.trees.size()); ++t) {
    if (!may_be_kicked(at_nodes, t, work)) continue;
    const Tree& tree = step.scene.trees()[t];
    const TreeParameters<double> p = tree_parameters(tree, t, step.parameters);
    double* v = state.v.data() + tree.v_offset;
    const Vec3d moved = angular(v), m = free_momentum(p, work.trees[t], step.dt);
    if (!turns_between_nodes(work.trees[t].V[0].angular, moved, step.dt)) continue;
    work.kicked[t] = 1;
    turn_about_com(p, velocity_after_kick(p.inertia[0], m, moved, step.dt), v);
  }
}

void TreeMotion::take_back_kicks(const TreeStep& step,
                                 const std::vector<std::uint8_t>* at_nodes,
                                 DynamicsWorkspace& work,
                                 double* v) const {
  constexpr int kSteps = 6;  // of Newton
  for (int t = 0; t < static_cast<int>(work.trees.size()); ++t) {
    if (!may_be_kicked(at_nodes, t, work)) continue;
    const Tree& tree = step.scene.trees()[t];
    const TreeParameters<double> p = tree_parameters(tree, t, step.parameters);
    double* own = v + tree.v_offset;
    const Vec3d after = angular(own);
    if (!turns_between_nodes(work.trees[t].V[0].angular, after, step.dt)) continue;
    work.kicked[t] = 1;
    Vec3d moved = after;
    for (int k = 0; k < kSteps; ++k) {
      const KickTurn<double> kick(p, work.trees[t], moved, step.dt);
      moved = moved - solve(kick.by_moved, kick.after - after);
    }
    turn_about_com(p, moved, own);
  }
}

void TreeMotion::balance_tree(const TreeStep& step, int t, DynamicsWorkspace& work, State& state) {
  const Tree& tree = step.scene.trees()[t];
  const TreeView& view = work.views[t];
  const TreeParameters<double> p = tree_parameters(tree, t, step.parameters);
  TreeData<double>&data = work.trees[t], &end = end_.trees[t];
  const double *v = step.before.v.data() + tree.v_offset, *mean = mean_.data() + tree.v_offset,
               *last = last_.data() + tree.v_offset;
  double* v_end = state.v.data() + tree.v_offset;
  const auto energy = [&](const double* at) {
    move_placed(view, p, at, data);
    return TreeEnergy(tree, step.parameters, p, at, data);
  };
  const bool flies = flies_[t] != 0;
  const TreeEnergy start = energy(v), moved = energy(last), middle = energy(mean);
  const Vec3d g = transpose_times(data.X_WR.R, p.gravity), u = middle.velocity();
  const WrenchPower wrenches(step, tree, data);
  // The power of Coriolis forces, v . (b + gravity + wrenches), less that on the centre of mass.
  double power = wrenches.power;
  for (int k = 0; k < tree.nv; ++k) power += mean[k] * data.bias[k];
  if (flies) {
    const Vec3d bias{data.bias[0], data.bias[1], data.bias[2]};
    power -= dot(u, bias + transpose_times(data.X_WR.R, wrenches.force));
  } else {
    power += dot(g, middle.momentum);
  }
  place_and_move(view, p, state.q.data() + tree.q_offset, v_end, end);
  const TreeEnergy now(tree, step.parameters, p, v_end, end);
  const double kinetic = flies ? now.relative() : now.kinetic,
               right = (flies ? moved.relative() : moved.kinetic) + step.dt * power;
  if (kinetic > 0.0 && std::isfinite(right)) {
    const double share = std::min(std::sqrt(std::max(0.0, right) / kinetic), kMostShare);
    for (int k = 0; k < tree.nv; ++k) v_end[k] *= share;
    if (flies) {
      const Vec3d momentum = momentum_after(step, t, start.momentum, start.mass, work);
      const Vec3d add =
          transpose_times(end.X_WR.R, momentum) * (1.0 / now.mass) - now.velocity() * share;
      for (int k = 0; k < 3; ++k) v_end[k] += add[k];
    }
  }
  return_to_bias(step, t, work);
}

}  // namespace stiction
