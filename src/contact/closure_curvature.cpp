#include "contact/closure_curvature.hpp"

#include "contact/bilateral_factor.hpp"
#include "contact/closure_recovery.hpp"
#include "dynamics/bias.hpp"
#include "dynamics/integrate.hpp"
#include "dynamics/kinematics.hpp"
#include "dynamics/loose_body.hpp"
#include "dynamics/mass_matrix.hpp"
#include "dynamics/tree_kernels.hpp"

#include <algorithm>

namespace stiction {
namespace {

/// The motion v' - v of the closures alone, J v' = work.curvature, in work.change.
void closures_alone(const Scene& scene,
                    const DynamicsWorkspace& dynamics,
                    const ConstraintRows& rows,
                    const ContactProblem& problem,
                    ClosedLoopWorkspace& work) {
  work.velocity.assign(problem.g.begin(), problem.g.end());
  for (const int set : work.sets) {
    const int offset = problem.sets[set].offset;
    for (int k = 0; k < problem.sets[set].dim; ++k)
      work.velocity[offset + k] += rows.rows[set].reference[k] - work.curvature[offset + k];
  }
  solve_bilateral(problem, work.velocity.data(), work, work.impulse);
  const double* w = dynamics.free_motion.data();
  velocity_change(scene, dynamics, rows, w, work.impulse, work.row_scratch, work.change.data());
}

/// w += L^-T dt (bias - new_bias) of a tree.
void change_bias(const Tree& tree,
                 int t,
                 double dt,
                 const double* new_bias,
                 DynamicsWorkspace& dynamics,
                 ClosedLoopWorkspace& work) {
  double* w = work.w.data() + tree.v_offset;
  double* bias = dynamics.trees[t].bias;
  for (int k = 0; k < tree.nv; ++k) {
    w[k] = dt * (bias[k] - new_bias[k]);
    bias[k] = new_bias[k];
  }
  solve_transposed(dynamics.views[t], dynamics.trees[t], w);
  for (int k = 0; k < tree.nv; ++k) dynamics.free_motion[tree.v_offset + k] += w[k];
}

/// The bias of an articulated tree at v + work.change / 2.
void centre_bias(const Scene& scene,
                 const Parameters& parameters,
                 const Control& control,
                 const State& state,
                 double dt,
                 int t,
                 DynamicsWorkspace& dynamics,
                 ClosedLoopWorkspace& work) {
  const Tree& tree = scene.trees()[t];
  const TreeView& view = dynamics.views[t];
  TreeData<double>& data = work.dynamics.trees[t];
  double *v = work.v.data() + tree.v_offset, *change = work.change.data() + tree.v_offset;
  for (int k = 0; k < tree.nv; ++k) v[k] = state.v[tree.v_offset + k] + 0.5 * change[k];
  const TreeParameters<double> p = tree_parameters(tree, t, parameters);
  data.X_WR = dynamics.trees[t].X_WR;
  std::copy_n(dynamics.trees[t].X_RB, tree.num_bodies, data.X_RB);
  std::copy_n(dynamics.trees[t].S, tree.nv, data.S);
  forward_velocities(view, p, v, data);
  body_forces(view, p, data);
  add_tree_wrenches(control.wrenches, tree.body_offset, view, data);
  bias_forces(view, data);
  change_bias(tree, t, dt, data.bias, dynamics, work);
}

/// The flight of loose bodies with the kicks of work.impulse at its start.
void kick_at_nodes(const Scene& scene,
                   const Parameters& parameters,
                   double dt,
                   DynamicsWorkspace& dynamics,
                   const ConstraintRows& rows,
                   ClosedLoopWorkspace& work) {
  double* change = work.change.data();  // M^-1 J^T lambda
  velocity_change(scene, dynamics, rows, nullptr, work.impulse, work.row_scratch, change);
  each_touched(scene, work, [&](const Tree& tree, int t) {
    if (!is_loose_body(dynamics.views[t])) return;
    TreeData<double>& data = dynamics.trees[t];
    const double* turn = work.change.data() + tree.v_offset + 3;
    const TreeParameters<double> p = tree_parameters(tree, t, parameters);
    double old[6];
    std::copy_n(data.bias, 6, old);
    loose_body_bias_at_node(p, dt, p.inertia[0] * Vec3d{turn[0], turn[1], turn[2]}, data);
    std::swap_ranges(old, old + 6, data.bias);
    change_bias(tree, t, dt, old, dynamics, work);
  });
}

/// work.curvature += what Phi(q + dt (v + work.change)) lacks of Phi(q) as J v' = 0 would keep it.
void predict_curvature(const Scene& scene,
                       const Parameters& parameters,
                       const State& state,
                       double dt,
                       const DynamicsWorkspace& dynamics,
                       const ConstraintRows& rows,
                       const ContactProblem& problem,
                       ClosedLoopWorkspace& work) {
  each_touched(scene, work, [&](const Tree& tree, int t) {
    double *q = work.q.data() + tree.q_offset, *v = work.v.data() + tree.v_offset;
    const double* change = work.change.data() + tree.v_offset;
    std::copy_n(state.q.data() + tree.q_offset, tree.nq, q);
    for (int k = 0; k < tree.nv; ++k) v[k] = state.v[tree.v_offset + k] + change[k];
    const Vec3d c = root_point(dynamics.views[t], tree_parameters(tree, t, parameters));
    integrate_configuration(dynamics.views[t], c, dt, q, v);
  });
  update_placements(scene, parameters, work.q.data(), work);
  for (const int set : work.sets) {
    const ConstraintRow& row = rows.rows[set];
    if (row.source != RowSource::kClosure) continue;  // gears are linear in q
    double now[6], then[6];
    closure_error_at(scene, parameters, dynamics, row.index, now);
    closure_error_at(scene, parameters, work.dynamics, row.index, then);
    for (int k = 0; k < row.set.dim; ++k)
      work.curvature[problem.sets[set].offset + k] += (now[k] - then[k]) / dt;
  }
  keep_in_range(problem, work, work.curvature.data());  // they bend alike only to O(dt^2)
}

}  // namespace

void add_closure_curvature(const RowContext& context,
                           const Control& control,
                           DynamicsWorkspace& dynamics,
                           ContactProblem& problem,
                           ClosedLoopWorkspace& work) {
  if (!work.any) return;
  const Scene& scene = context.scene;
  const Parameters& parameters = context.parameters;
  const State& state = context.state;
  ConstraintRows& rows = context.out;
  const double dt = context.dt;
  const double negligible = negligible_speed(context.settings);
  work.curvature.assign(problem.g.size(), 0.0);
  // The kicks of loose bodies and the curvature depend on each other.
  const int rounds = work.any_loose ? 3 : 1;
  for (int round = 0; round < rounds; ++round) {
    closures_alone(scene, dynamics, rows, problem, work);
    std::fill(work.w.begin(), work.w.end(), 0.0);
    if (round == 0) {
      each_touched(scene, work, [&](const Tree&, int t) {
        if (!is_loose_body(dynamics.views[t]))
          centre_bias(scene, parameters, control, state, dt, t, dynamics, work);
      });
    }
    if (work.any_loose) kick_at_nodes(scene, parameters, dt, dynamics, rows, work);
    add_row_velocity(scene, dynamics, rows, work.w.data(), work.row_scratch, problem.g);
    closures_alone(scene, dynamics, rows, problem, work);
    predict_curvature(scene, parameters, state, dt, dynamics, rows, problem, work);
  }
  for (const int set : work.sets) {
    ConstraintRow& row = rows.rows[set];
    if (row.source != RowSource::kClosure) continue;
    if (recovers(row) && row.kind != ReferenceKind::kCapped && is_drift(context, negligible, row))
      row.kind = ReferenceKind::kCurvature;
    const int offset = problem.sets[set].offset;
    for (int k = 0; k < row.set.dim; ++k) {
      row.reference[k] += work.curvature[offset + k];
      problem.g[offset + k] -= work.curvature[offset + k];
    }
  }
}

}  // namespace stiction
