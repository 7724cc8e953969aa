#include "contact/project_closures.hpp"

#include "contact/bilateral_factor.hpp"
#include "contact/closure_recovery.hpp"
#include "dynamics/bias.hpp"
#include "dynamics/integrate.hpp"
#include "dynamics/kinematics.hpp"
#include "dynamics/loose_body.hpp"
#include "dynamics/mass_matrix.hpp"

#include <algorithm>
#include <cmath>

namespace stiction {
namespace {

/// Factor of M + armature at the kinematics of work.dynamics.
void factor_mass(const Scene& scene, const Parameters& parameters, ClosedLoopWorkspace& work) {
  each_touched(scene, work, [&](const Tree& tree, int t) {
    const TreeView& view = work.dynamics.views[t];
    TreeData<double>& data = work.dynamics.trees[t];
    body_inertias(view, tree_parameters(tree, t, parameters), data);
    mass_matrix(view, data);
    for (int k = 0; k < tree.nv; ++k)
      data.L[tree.row[k] + tree.depth[k]] += parameters.armature[tree.v_offset + k];
    factorise(view, data);
  });
}

/// Closures and gears at the kinematics of work.dynamics, c* = -Phi / dt: J, G and its factor,
/// work.velocity = J v and work.error = Phi.
void build_rows(const RowContext& context, ClosedLoopWorkspace& work) {
  ContactProblem& p = work.problem;
  work.rows.clear();
  append_gear_rows(context);
  append_closure_rows(context);
  assemble_rows(context.scene, work.dynamics, work.rows, work.row_scratch, p);
  factor_bilateral(p, work);
  work.velocity.resize(p.num_rows());
  work.error.resize(p.num_rows());
  for (int i = 0; i < p.num_sets(); ++i) {
    const ConstraintRow& row = work.rows.rows[i];
    for (int k = 0; k < row.set.dim; ++k) {
      work.velocity[p.sets[i].offset + k] = row.velocity[k];
      work.error[p.sets[i].offset + k] = -context.dt * row.reference[k];
    }
  }
}

/// work.left_open <- Phi of the rows that are open by more than drift, 0 of the others. These rows
/// keep the velocity J v at which they close.
void leave_open(const RowContext& context, ClosedLoopWorkspace& work) {
  each_touched(context.scene, work, [&](const Tree& tree, int t) {
    forward_velocities(work.dynamics.views[t],
                       tree_parameters(tree, t, context.parameters),
                       context.state.v.data() + tree.v_offset,
                       work.dynamics.trees[t]);
  });
  const double negligible = negligible_speed(context.settings);
  work.left_open.assign(work.error.size(), 0.0);
  for (int i = 0; i < work.problem.num_sets(); ++i) {
    const ConstraintRow& row = work.rows.rows[i];
    const bool drift = row.source == RowSource::kClosure ? is_drift(context, negligible, row)
                                                         : std::abs(row.reference[0]) <= negligible;
    if (drift) continue;
    const int offset = work.problem.sets[i].offset;
    std::copy_n(work.error.begin() + offset, row.set.dim, work.left_open.begin() + offset);
  }
}

/// work.error -= work.left_open; the largest that is left [m or rad].
double take_left_open(ClosedLoopWorkspace& work) {
  double largest = 0.0;
  for (std::size_t k = 0; k < work.error.size(); ++k) {
    work.error[k] -= work.left_open[k];
    largest = std::max(largest, std::abs(work.error[k]));
  }
  return largest;
}

/// q moved by work.change, v of free roots turned into their new axes.
void displace_touched(const Scene& scene,
                      const Parameters& parameters,
                      ClosedLoopWorkspace& work,
                      State& state) {
  each_touched(scene, work, [&](const Tree& tree, int t) {
    const TreeView& view = work.dynamics.views[t];
    double* q = state.q.data() + tree.q_offset;
    const Vec3d c = root_point(view, tree_parameters(tree, t, parameters));
    const Mat3d before = root_rotation(view, q);
    integrate_configuration(view, c, 1.0, q, work.change.data() + tree.v_offset);
    turn_root_velocity(view, before, root_rotation(view, q), c, state.v.data() + tree.v_offset);
  });
}

/// work.change <- M^-1 J^T work.impulse.
void find_change(const Scene& scene, ClosedLoopWorkspace& work) {
  const std::vector<double>& impulse = work.impulse;
  double* change = work.change.data();
  velocity_change(scene, work.dynamics, work.rows, nullptr, impulse, work.row_scratch, change);
}

}  // namespace

/// I w+ = exp(-dt/2 [w']) I w', axes of the node.
void end_flight(const Scene& scene,
                const Parameters& parameters,
                double dt,
                const ClosedLoopWorkspace& work,
                State& state) {
  if (!work.any_loose) return;
  each_touched(scene, work, [&](const Tree& tree, int t) {
    if (!is_loose_body(work.dynamics.views[t])) return;
    const TreeParameters<double> p = tree_parameters(tree, t, parameters);
    double* v = state.v.data() + tree.v_offset;
    const Vec3d w{v[3], v[4], v[5]};
    const Sym3d& I = p.inertia[0];
    const Mat3d inertia{{I.xx, I.xy, I.xz}, {I.xy, I.yy, I.yz}, {I.xz, I.yz, I.zz}};
    const Vec3d end = solve(inertia, turned(w * (-0.5 * dt), I * w));
    const Vec3d about_c = cross(end - w, p.com[0]);  // p_c keeps its velocity
    for (int k = 0; k < 3; ++k) {
      v[k] -= about_c[k];
      v[3 + k] = end[k];
    }
  });
}

void project_closures(const Scene& scene,
                      const Parameters& parameters,
                      const ContactSettings& settings,
                      double dt,
                      ClosedLoopWorkspace& work,
                      State& state) {
  constexpr int kRounds = 4;
  constexpr double kClosed = 1e-12;  // [m or rad]
  if (!work.any) return;
  ContactSettings whole = settings;
  whole.closure_gain = 1.0;
  const RowContext context{
      scene, parameters, state, whole, dt, work.dynamics, work.rows, work.row_scratch};
  double before = kInfinity;
  for (int round = 0;; ++round) {
    update_placements(scene, parameters, state.q.data(), work);
    factor_mass(scene, parameters, work);
    build_rows(context, work);
    if (round == 0) leave_open(context, work);
    const double error = take_left_open(work);
    if (error <= kClosed || round == kRounds || !(error <= 0.5 * before)) break;
    before = error;
    solve_bilateral(work.problem, work.error.data(), work, work.impulse);
    find_change(scene, work);
    displace_touched(scene, parameters, work, state);
  }
  for (std::size_t k = 0; k < work.velocity.size(); ++k) {
    if (work.left_open[k] != 0.0) work.velocity[k] = 0.0;
  }
  solve_bilateral(work.problem, work.velocity.data(), work, work.impulse);
  find_change(scene, work);
  for (int k = 0; k < scene.nv(); ++k) state.v[k] += work.change[k];
}

}  // namespace stiction
