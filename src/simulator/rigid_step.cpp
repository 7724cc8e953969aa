#include "simulator/rigid_step.hpp"

#include "stiction/math/constants.hpp"
#include "stiction/math/lanes.hpp"
#include "stiction/solver/central_path.hpp"

#include "collision/scene/touch.hpp"
#include "contact/bilateral_factor.hpp"
#include "contact/closure_curvature.hpp"
#include "contact/consistent_closures.hpp"
#include "contact/contact_curvature.hpp"
#include "contact/project_closures.hpp"
#include "dynamics/joint_forces.hpp"
#include "dynamics/mean_bias.hpp"
#include "integrator/semi_implicit_euler.hpp"
#include "integrator/stopped_joints.hpp"
#include "math/within_bounds.hpp"
#include "model/joint.hpp"
#include "solver/common/island.hpp"
#include "solver/common/safe_answer.hpp"
#include "solver/workspace.hpp"

#include <algorithm>
#include <cmath>

namespace stiction {

RigidStep::RigidStep(const Scene& scene, const SimulatorSettings& settings)
    : StepKind(scene, settings),
      dissipative_(settings.impact_law == "newton-dissipative"),
      for_lanes_(why_not_lanes(scene, settings).empty()) {
  record_.dynamics.resize(scene);
  tree_motion_.resize(scene);
  collision_.resize(scene);
}

void RigidStep::step(const StepInput& input, State& state) {
  without_record_ = step_on_lanes(input, state);
  if (!without_record_) step_whole(input, state);
}

bool RigidStep::step_on_lanes(const StepInput& input, State& state) {
  if (!for_lanes_) return false;
  if (!lane_) lane_ = std::make_unique<LaneOfOne>(input.scene, input.settings);
  if (!input.control.wrenches.empty()) return false;
  if (wait_ > 0) {
    --wait_;
    return false;
  }
  if (!lane_->step(input, state, report)) {
    pause_lanes();
    return false;
  }
  if (pause_ > 0) --pause_;
  judge(true);
  return true;
}

static TreeStep tree_step(const StepInput& input) {
  return {input.scene, input.parameters, input.control, input.settings.dt, input.before};
}

void RigidStep::pause_lanes() {
  constexpr int kShort = 8, kLong = 256;
  pause_ = std::clamp(2 * pause_, kShort, kLong);
  wait_ = pause_;
}

/// A step on lanes is taken again from its start, whatever may have asked since to end early.
void RigidStep::complete(const StepInput& input) {
  if (!without_record_) return;
  without_record_ = false;
  pause_lanes();
  const StepReport of_lanes = report;
  repeated_.state = input.before;
  if (input.settings.solver.interrupt.asked != nullptr) {
    SimulatorSettings& patient = repeated_.settings;
    patient = input.settings;
    patient.solver.interrupt = {};
    step_whole({input.scene, input.parameters, patient, input.control, input.before},
               repeated_.state);
  } else {
    step_whole(input, repeated_.state);
  }
  report = of_lanes;
}

void RigidStep::step_whole(const StepInput& input, State& state) {
  const WorkAccount& account = solver_.parts().account;
  const WorkAccount::Scope scope(solver_.parts().account, input.settings.solver);
  prepare(input, state);
  solve_problem(input, state);
  change_velocity(input);
  constexpr int kMostTurns = 8;  // of two million steps of tests two needed three, none four
  ContactSettings rules = input.settings.contact;
  for (int turn = 0;
       turn < kMostTurns && !account.exhausted() && ends_otherwise(input, state, rules);
       ++turn) {
    spent_.iterations += record_.solution.iterations;
    spent_.factorisations += record_.solution.factorisations;
    spent_.most_factorisations += most_of_last_solve(input.settings.solver);
    safe_islands_ = 0;
    build(input, rules, state);
    solve_problem(input, state);
    change_velocity(input);
  }
  finish(input, state);
}

void RigidStep::refactor(const StepInput& input, const State& state) {
  const double *q = state.q.data(), *v = state.v.data();
  refactor_dynamics(
      input.scene, input.parameters, q, v, input.control, input.settings.dt, record_.dynamics);
}

/// Whether the end of the step is not what its start let expect: a servo is on another side of its
/// effort limit, or a joint jumps a limit; the dynamics and `rules` are then those to solve with.
bool RigidStep::ends_otherwise(const StepInput& input, const State& state, ContactSettings& rules) {
  const auto& [scene, parameters, settings, control, before] = input;
  DynamicsWorkspace& dynamics = record_.dynamics;
  const bool servos =
      saturate_at_end(scene, parameters, state, record_.dv.data(), control, settings.dt, dynamics);
  const bool limits = rules.limit_margin < kInfinity && jumps_a_limit(input, state);
  if (servos || limits) return_to_start_bias(scene, parameters, before.v.data(), dynamics);
  if (servos) refactor(input, state);
  if (limits) rules.limit_margin = kInfinity;
  return servos || limits;
}

/// Whether a joint would end beyond a limit that was out of limit_reach() and so was no row: a
/// light joint under a strong servo.
bool RigidStep::jumps_a_limit(const StepInput& input, const State& state) const {
  const auto& [scene, parameters, settings, control, before] = input;
  const double dt = settings.dt;
  for (std::size_t t = 0; t < scene.trees().size(); ++t) {
    const Tree& tree = scene.trees()[t];
    if (record_.dynamics.asleep[t]) continue;
    for (int b = 0; b < tree.num_bodies; ++b) {
      if (!joint_facts(tree.joint[b]).limited) continue;
      const int dof = tree.v_offset + tree.v_index[b];
      const double q =
          joint_position(tree.joint[b], state.q.data() + tree.q_offset + tree.q_index[b]);
      const double v = state.v[dof] + record_.dv[dof];
      const double reach = limit_reach(settings.contact.limit_margin, state.v[dof], dt);
      const double below = limit_gap(1.0, q, parameters.lower[dof]),
                   above = limit_gap(-1.0, q, parameters.upper[dof]);
      if ((below > reach && gap_closes(below, v, dt)) ||
          (above > reach && gap_closes(above, -v, dt)))
        return true;
    }
  }
  return false;
}

RowContext RigidStep::row_context(const StepInput& input,
                                  const ContactSettings& contact,
                                  const State& state) {
  const auto& [scene, parameters, settings, control, before] = input;
  return {scene, parameters, state, contact, settings.dt, record_.dynamics, record_.rows, scratch_};
}

void RigidStep::prepare(const StepInput& input, State& state) {
  const auto& [scene, parameters, settings, control, before] = input;
  without_record_ = false;
  spent_ = {};
  recovery_work_.solved_again = false;
  impact_.most_factorisations = 0;
  if (for_lanes_) state.queries.clear();  // lanes keep none, and have the same bits
  find_awake_contacts(input, state);
  compute_dynamics(
      scene, parameters, state.q.data(), state.v.data(), control, settings.dt, record_.dynamics);
  build(input, settings.contact, state);
}

void RigidStep::build(const StepInput& input, const ContactSettings& contact, State& state) {
  const RowContext context = row_context(input, contact, state);
  build_problem(context, record_.contacts, record_.problem, record_.solution.impulse);
  const bool projects = input.settings.project_closures;
  if (loops.any && (reconciles_ || projects)) factor_bilateral(record_.problem, loops);
  if (reconciles_) make_references_consistent(record_.rows, record_.problem, loops);
  add_contact_curvature(context, record_.contacts, record_.problem);
  if (projects)
    add_closure_curvature(context, input.control, record_.dynamics, record_.problem, loops);
  record_.warm_start = record_.solution.impulse;
}

/// Kinematics and contacts. An island that is touched takes part in this step already. From a start
/// out of bounds, whose poses the narrow phase would refuse, the step is not finite.
void RigidStep::find_awake_contacts(const StepInput& input, State& state) {
  const auto& [scene, parameters, settings, control, before] = input;
  if (settings.sleeping.enabled)
    wake_changed(scene, control, state, record_.dynamics, sleep_);
  else
    state.rest.clear();
  const bool within =
      within_bounds(state.q.data(), scene.nq()) && within_bounds(state.v.data(), scene.nv());
  if (!within) state.v.setConstant(std::nan(""));
  forward_kinematics(scene, parameters, state.q.data(), state.v.data(), record_.dynamics);
  if (!within) return record_.contacts.clear();
  const auto find = [&] {
    collide(scene,
            parameters,
            record_.dynamics,
            settings.collision,
            settings.dt,
            state,
            collision_,
            record_.contacts);
  };
  find();
  while (wake_touched(scene, parameters, record_.contacts, state, record_.dynamics)) {
    state.queries = before.queries;
    find();
  }
  move_to_touch(scene, settings.dt, collision_, record_.contacts);
}

/// Where contacts lock each other a step does with a residual of 1e-6, if no more than
/// the usual tolerance is asked for: more takes hundreds of factorisations. Restitution must gain
/// no energy: what is let pass in a pile in motion would be an amount of it. Nor may gaps between
/// thin bodies, or in short steps, let pass as much as all that moves.
const SolverSettings& RigidStep::rules_of_step(const SolverSettings& settings) {
  constexpr double kAcceptable = 1e-6, kUsual = 1e-8;
  const auto& rows = record_.rows.rows;
  const auto bounces = [](const ConstraintRow& row) {
    return row.kind == ReferenceKind::kRestitution;
  };
  const bool any = std::any_of(rows.begin(), rows.end(), bounces);
  rules_ = settings;
  rules_.acceptable = any || settings.tolerance < kUsual ? 0.0 : kAcceptable;
  rules_.tolerance_large =
      any ? settings.tolerance : safe_tolerance_large(record_.problem, settings.tolerance_large);
  return rules_;
}

/// Share of the work that is kept for the solutions of keep_recovery_speeds().
static constexpr double kAgain = 0.4;

void RigidStep::solve_problem(const StepInput& input, State& state) {
  const auto& [scene, parameters, settings, control, before] = input;
  ContactSolution& solution = record_.solution;
  if (settings.smoothing > 0.0) {
    solve_on_path(record_.problem, settings.smoothing, settings.solver, solver_, solution);
    return;
  }
  solution.penalty = state.penalty;
  const SolverSettings& rules = rules_of_step(settings.solver);
  const RowContext context = row_context(input, settings.contact, state);
  WorkAccount& account = solver_.parts().account;
  allow_for(record_.problem, account);
  hold_locked_islands(context, rules, record_.problem, account, recovery_work_, solution);
  {
    const bool once = recovery_work_.islands.empty();
    const WorkAccount::Share share(account, once ? 0.0 : kAgain * account.left());
    solve(record_.problem, rules, solver_, solution);
  }
  keep_recovery_speeds(context, rules, record_.problem, solver_, recovery_work_, solution);
  if (dissipative_)
    apply_impact_law(rules, record_.rows, record_.problem, solver_, impact_, solution);
  safe_islands_ =
      take_safe_answer(record_.rows, record_.problem, rules, solver_, safe_rows_, solution);
  state.penalty = solution.penalty;
}

void RigidStep::advance(const StepInput& input, const std::vector<double>& impulse, State& state) {
  ContactSolution& solution = record_.solution;
  solution = {};
  solution.impulse = impulse;
  solution.velocity.resize(impulse.size());
  solution.residuals = residuals(record_.problem, impulse.data(), solution.velocity.data());
  solution.model_residuals = solution.residuals;
  const ContactProblem& problem = record_.problem;
  const SolverSettings& rules = rules_of_step(input.settings.solver);
  solution.tolerance = rules.tolerance;
  for (int k = 0; k < problem.num_islands(); ++k) {
    const Island island(problem, problem.island_start[k], problem.island_start[k + 1]);
    const double relative =
        residuals_at(problem, impulse.data(), solution.velocity.data(), island.first, island.last)
            .relative;
    if (relative <= solution.tolerance) continue;
    const double accepted = tolerance_of(island, rules);
    if (relative <= accepted)
      solution.tolerance = accepted;
    else
      solution.status = SolveStatus::kMaxIterations;
  }
  change_velocity(input);
  finish(input, state);
}

void RigidStep::change_velocity(const StepInput& input) {
  record_.dv.resize(input.scene.nv());
  const double* w = record_.dynamics.free_motion.data();
  velocity_change(input.scene,
                  record_.dynamics,
                  record_.rows,
                  w,
                  record_.solution.impulse,
                  scratch_,
                  record_.dv.data());
  centre_free_trees(input, kMostBiasPasses, record_.dv.data());
  const double* v = input.before.v.data();
  double* dv = record_.dv.data();
  each_stopped_joint(
      record_.rows,
      record_.solution.impulse.data(),
      record_.problem.velocity_scale,
      v,
      [&](int dof) { return v[dof] + dv[dof]; },
      [&](int dof) { dv[dof] = -v[dof]; });
}

void RigidStep::centre_free_trees(const StepInput& input, int passes, double* change) {
  tree_motion_.find_rows(record_.rows, record_.dynamics);
  if (!input.settings.mean_bias) return;
  tree_motion_.centre(tree_step(input), passes, change, record_.dynamics);
}

/// Whose v is that of a node: trees on which closures act that are projected.
const std::vector<std::uint8_t>* RigidStep::trees_at_nodes(
    const SimulatorSettings& settings) const {
  return settings.project_closures ? &loops.touched : nullptr;
}

void RigidStep::find_impacts(const StepInput& input) {
  const double dt = input.settings.dt;
  tree_motion_.find_impacts(
      record_, restitution_threshold(input.settings.contact, input.parameters.gravity, dt), dt);
}

void RigidStep::take_back_kicks(const StepInput& input, double* v) {
  find_impacts(input);
  tree_motion_.find_rows(record_.rows, record_.dynamics);
  tree_motion_.take_back_kicks(
      tree_step(input), trees_at_nodes(input.settings), record_.dynamics, v);
}

/// From the change of velocity to the end of the step.
void RigidStep::finish(const StepInput& input, State& state) {
  const auto& [scene, parameters, settings, control, before] = input;
  const std::vector<double>& impulse = record_.solution.impulse;
  const double dt = settings.dt;
  semi_implicit_euler(scene, parameters, dt, record_.dynamics, record_.dv, state);
  tree_motion_.balance(tree_step(input), record_.dv, record_.dynamics, state);
  find_impacts(input);
  tree_motion_.end_kicks(tree_step(input), trees_at_nodes(settings), record_.dynamics, state);
  store_impulses(scene, record_.contacts, record_.dynamics, record_.rows, impulse, dt, state);
  if (settings.project_closures) {
    end_flight(scene, parameters, dt, loops, state);
    project_closures(scene, parameters, settings.contact, dt, loops, state);
  }
  if (for_lanes_) state.queries.clear();
  if (settings.sleeping.enabled)
    fall_asleep(scene, settings.sleeping, dt, record_.rows, sleep_, state);
  fill_report(input);
}

/// What solve_problem() could have taken.
std::int64_t RigidStep::most_of_last_solve(const SolverSettings& settings) const {
  const int solves = recovery_work_.solved_again ? 1 + kRecoverySolves : 1;
  return solves * stiction::most_factorisations(record_.problem, settings) +
         impact_.most_factorisations + most_safe_factorisations(record_.problem);
}

double RigidStep::most_work() const { return solver_.parts().account.most(); }

std::int64_t RigidStep::most_factorisations(const SolverSettings& settings) const {
  return spent_.most_factorisations + most_of_last_solve(settings);
}

}  // namespace stiction
