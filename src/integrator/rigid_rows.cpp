#include "contact/constraint_row.hpp"
#include "contact/contact_axes.hpp"
#include "dynamics/mass_matrix.hpp"
#include "integrator/compliant_substep.hpp"
#include "integrator/step_coordinates.hpp"
#include "integrator/stopped_joints.hpp"
#include "solver/common/island.hpp"
#include "solver/common/safe_answer.hpp"
#include "solver/workspace.hpp"

#include <algorithm>

// What stays rigid beside compliant contacts: limits, dry friction, closures, gears, contacts of
// rigid pairs; and the end of a sub-step, which they have the last word in.

namespace stiction::compliance {
namespace {

/// w = D L x, the inverse of solve_scaled_lower.
void scale_up(const TreeView& tree, const TreeData<double>& data, const double* x, double* w) {
  for (int k = 0; k < tree.nv; ++k) {
    const double* row = data.L + tree.row[k];
    const int* chain = tree.chain + tree.row[k];
    double sum = x[k];
    for (int m = 0; m < tree.depth[k]; ++m) sum += row[m] * x[chain[m]];
    w[k] = sum / data.D_inverse[k];
  }
}

RowContext context_of(const CompliantInput& in,
                      const State& state,
                      const CompliantSystem& start,
                      RigidRows& rigid) {
  const DynamicsWorkspace& dynamics = start.dynamics;
  return {in.scene, in.parameters, state, in.contact, in.h, dynamics, rigid.rows, rigid.scratch};
}

/// Rows of everything rigid for the motion v -> velocity, which is their free motion.
void build_rigid(const CompliantInput& input,
                 const State& state,
                 const double* velocity,
                 CompliantSystem& start,
                 RigidRows& rigid) {
  const Scene& scene = input.scene;
  for (int k = 0; k < scene.nv(); ++k) rigid.change[k] = velocity[k] - state.v[k];
  for (std::size_t t = 0; t < scene.trees().size(); ++t) {
    const int v = scene.trees()[t].v_offset;
    scale_up(start.dynamics.views[t],
             start.dynamics.trees[t],
             rigid.change.data() + v,
             start.dynamics.free_motion.data() + v);
  }
  const RowContext context = context_of(input, state, start, rigid);
  build_problem(context, start.rigid, rigid.problem, rigid.solution.impulse);
}

/// g -= G lambda of the warm start, which the motion has in it already.
void take_held_from_free_velocity(RigidRows& rigid) {
  ContactProblem& problem = rigid.problem;
  rigid.warm_start = rigid.held = rigid.solution.impulse;
  rigid.change_of_g.resize(problem.g.size());
  problem.velocities(0, problem.num_sets(), rigid.held.data(), rigid.change_of_g.data());
  for (std::size_t k = 0; k < problem.g.size(); ++k)
    rigid.change_of_g[k] =
        rigid.change_of_g[k] - problem.g[k] - problem.compliance[k] * rigid.held[k];
  for (std::size_t k = 0; k < problem.g.size(); ++k) problem.g[k] -= rigid.change_of_g[k];
}

/// change <- M^-1 J^T (lambda - held).
void solve_rigid(const CompliantInput& input,
                 CompliantSystem& start,
                 RigidRows& rigid,
                 CompliantOutcome& outcome) {
  take_held_from_free_velocity(rigid);
  WorkAccount& account = rigid.solver.parts().account;
  const WorkAccount::Scope scope(account, input.solver);
  allow_for(rigid.problem, account);
  solve(rigid.problem, input.solver, rigid.solver, rigid.solution);
  outcome.safe_islands += take_safe_answer(
      rigid.rows, rigid.problem, input.solver, rigid.solver, rigid.safe, rigid.solution);
  const ContactSolution& s = rigid.solution;
  if (outcome.num_rows == 0 || s.status > outcome.solver_status) outcome.solver_status = s.status;
  if (outcome.num_rows == 0 || !(s.residuals.relative <= outcome.residuals.relative))
    outcome.residuals = s.residuals;
  outcome.num_rows = std::max(outcome.num_rows, rigid.problem.num_rows());
  outcome.num_islands = std::max(outcome.num_islands, rigid.problem.num_islands());
  outcome.factorisations += s.factorisations;
  outcome.most_factorisations +=
      most_factorisations(rigid.problem, input.solver) + most_safe_factorisations(rigid.problem);
  for (std::size_t k = 0; k < rigid.held.size(); ++k) rigid.held[k] = s.impulse[k] - rigid.held[k];
  velocity_change(input.scene,
                  start.dynamics,
                  rigid.rows,
                  nullptr,
                  rigid.held,
                  rigid.scratch,
                  rigid.change.data());
}

void report_rigid(const CompliantSystem& start, const RigidRows& rigid, CompliantOutcome& outcome) {
  int offset = 0;
  for (const ConstraintRow& row : rigid.rows.rows) {
    const double* l = rigid.solution.impulse.data() + offset;
    const double* c = rigid.solution.velocity.data() + offset;
    offset += row.set.dim;
    if (row.source != RowSource::kContact) continue;
    double velocity[kMaxConeDim];  // relative to c* and with R lambda in it: undo both
    for (int k = 0; k < row.set.dim; ++k)
      velocity[k] = c[k] + row.reference[k] - row.compliance[k] * l[k];
    const bool slides = on_cone(row.set.friction, l);
    const ContactMode mode = l[row.set.dim - 1] > 0.0
                                 ? (slides ? ContactMode::kSlide : ContactMode::kStick)
                                 : ContactMode::kOpen;
    CompliantContact& told = report_point(start.rigid[row.index],
                                          force_of(row.set, l),
                                          force_of(row.set, velocity),
                                          {0, 0, 0},
                                          mode,
                                          outcome);
    told.moment += couple_of(row.set, l);
    told.spin = couple_of(row.set, velocity);
  }
}

/// Half the dry friction: the displacement of a constant force over h is h^2 / 2 of its
/// acceleration, and xi / h stands for a velocity.
void halve_dry_friction(ContactProblem& problem) {
  for (ConstraintSet& set : problem.sets) {
    if (set.kind != SetKind::kBox) continue;
    set.lower *= 0.5;
    set.upper *= 0.5;
  }
}

/// hold_rigid_rows() has found no row, and the problem is one without rows from an earlier step.
bool nothing_rigid(const RigidRows& rigid) {
  return rigid.rows.rows.empty() && rigid.problem.num_islands() == 0;
}

void forget_rigid(RigidRows& rigid, State& state) {
  rigid.warm_start.clear();
  rigid.solution.impulse.clear();
  rigid.solution.velocity.clear();
  state.contacts.clear();
  std::fill(state.constraint_impulse.begin(), state.constraint_impulse.end(), 0.0);
}

void add_rigid_rows(const CompliantInput& input,
                    PositionRule rule,
                    CompliantWorkspace& work,
                    State& state) {
  RigidRows& rigid = work.rigid;
  const int nv = input.scene.nv();
  if (nothing_rigid(rigid)) return forget_rigid(rigid, state);
  if (rule == PositionRule::kSecondOrder) {
    for (int k = 0; k < nv; ++k) work.v[k] = work.xi[k] / input.h;
    build_rigid(input, state, work.v.data(), work.start, rigid);
    if (!rigid.rows.rows.empty()) {
      halve_dry_friction(rigid.problem);
      for (double& l : rigid.solution.impulse) l *= 0.5;
      solve_rigid(input, work.start, rigid, work.outcome);
      for (int k = 0; k < nv; ++k) work.xi[k] += input.h * rigid.change[k];
    }
  }
  build_rigid(input, state, work.nu.data(), work.start, rigid);
  if (rigid.rows.rows.empty()) return forget_rigid(rigid, state);
  solve_rigid(input, work.start, rigid, work.outcome);
  for (int k = 0; k < nv; ++k) work.nu[k] += rigid.change[k];
  each_stopped_joint(
      rigid.rows,
      rigid.solution.impulse.data(),
      rigid.problem.velocity_scale,
      state.v.data(),
      [&](int dof) { return work.nu[dof]; },
      [&](int dof) { work.nu[dof] = 0.0; });
  if (rule == PositionRule::kEndVelocity) {
    for (int k = 0; k < nv; ++k) work.xi[k] += input.h * rigid.change[k];
  }
  work.outcome.recovery_energy +=
      recovery_energy(rigid.rows, rigid.solution.impulse, rigid.solution.velocity);
  report_rigid(work.start, rigid, work.outcome);
  store_impulses(input.scene,
                 work.start.rigid,
                 work.start.dynamics,
                 rigid.rows,
                 rigid.solution.impulse,
                 input.h,
                 state);
}

}  // namespace

void conclude(const CompliantInput& input,
              PositionRule rule,
              CompliantWorkspace& work,
              State& state) {
  add_rigid_rows(input, rule, work, state);
  work.q = state.q;
  displace(input.scene, work.q.data(), work.xi.data(), state.q.data());
  turn_axes(input.scene, work.q.data(), state.q.data(), work.nu.data(), state.v.data());
  state.time += input.h;
  forward_kinematics(input.scene,
                     input.parameters,
                     state.q.data(),
                     state.v.data(),
                     work.end.known,
                     work.end.dynamics);
}

void hold_rigid_rows(const CompliantInput& input, const State& state, CompliantWorkspace& work) {
  CompliantSystem& start = work.start;
  RigidRows& rigid = work.rigid;
  rigid.rows.clear();
  const RowContext context = context_of(input, state, start, rigid);
  append_contact_rows(context, start.rigid);
  append_joint_rows(context);
  append_closure_rows(context);
  start.held.assign(input.scene.nv(), 0.0);
  if (!rigid.rows.rows.empty()) {
    number_sets(input.scene, rigid.rows, rigid.scratch, rigid.problem);
    load_impulses(context, start.rigid, rigid.problem, rigid.solution.impulse);
    for (double& l : rigid.solution.impulse) l /= input.h;
    add_row_forces(input.scene, start.dynamics, rigid.rows, rigid.solution.impulse, start.held);
  }
}

void turn_held(const Scene& scene, const CompliantSystem& start, CompliantSystem& stage) {
  stage.held.resize(start.held.size());
  turn_axes(scene, start.here.q.data(), stage.here.q.data(), start.held.data(), stage.held.data());
}

}  // namespace stiction::compliance
